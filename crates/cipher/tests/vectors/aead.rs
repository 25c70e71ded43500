//! AEADs: one message at a time, and all messages of a file in lanes.

use tress_cipher::lanes::{Aead, AeadJob};
use tress_cipher::{Aad, Backend, Error, Tag};

use crate::vectors::file::VectorTest;

/// The error for parameters that the AEAD does not have, which is returned before any data is processed.
fn refusal(test: &VectorTest) -> Option<Error> {
    if test.has_flag("InvalidNonceSize") {
        Some(Error::NonceLength)
    } else if test.has_flag("InvalidTagSize") || test.has_flag("InsecureTagSize") {
        Some(Error::TagLength)
    } else {
        None
    }
}

pub(crate) fn one<A: Aead>(aead: &A, test: &VectorTest, label: &str) {
    let aad = test.associated_data();
    if let Some(refusal) = refusal(test) {
        return refused(aead, test, Aad(&aad), refusal, label);
    }
    if let Some(msg) = &test.msg {
        let mut data = msg.clone();
        let mut tag = vec![0; test.tag.len()];
        aead.seal_one(test.iv[..].into(), Aad(&aad), &mut data, (&mut tag[..]).into()).expect(label);
        assert_eq!(data == test.ct && tag == test.tag, test.is_valid(), "{label}: encrypt");
        if test.has_flag("ModifiedTag") {
            assert_eq!(data, test.ct, "{label}: encrypt, only the tag is wrong");
        }
    }
    let mut data = test.ct.clone();
    let opened = aead.open_one(test.iv[..].into(), Aad(&aad), &mut data, tag(test));
    check_opened(test, opened, &data, label);
}

fn refused<A: Aead>(aead: &A, test: &VectorTest, aad: Aad<'_>, refusal: Error, label: &str) {
    assert!(!test.is_valid(), "{label}: refused and valid");
    let (mut data, mut written) = (test.ct.clone(), test.tag.clone());
    let nonce = test.iv[..].into();
    assert_eq!(A::check_lengths(nonce, data.len(), written.len()), Err(refusal), "{label}: lengths");
    assert_eq!(aead.seal_one(nonce, aad, &mut data, (&mut written[..]).into()), Err(refusal), "{label}: seal");
    assert_eq!(aead.open_one(nonce, aad, &mut data, tag(test)), Err(refusal), "{label}: open");
    let job = aead.to_seal(nonce, aad, &mut data, (&mut written[..]).into());
    assert_eq!(job.err(), Some(refusal), "{label}: job to seal");
    let job = aead.to_open(nonce, aad, &mut data, tag(test));
    assert_eq!(job.err(), Some(refusal), "{label}: job to open");
    assert_eq!((data, written), (test.ct.clone(), test.tag.clone()), "{label}: something was written");
}

/// The tag with the length in the vector.
fn tag(test: &VectorTest) -> Tag<'_> {
    Tag::new(&test.tag, test.tag.len()).expect("its own length")
}

fn check_opened(test: &VectorTest, opened: Result<(), Error>, data: &[u8], label: &str) {
    if test.is_valid() {
        assert_eq!(opened, Ok(()), "{label}: decrypt");
        assert_eq!(data, test.message(), "{label}: decrypt");
    } else {
        assert_eq!(opened, Err(Error::Authentication), "{label}: decrypt");
        assert!(data.iter().all(|byte| *byte == 0), "{label}: the data was not wiped");
    }
}

/// Runs all vectors of a file as one list of jobs, each with its own key. Only the invalid ones fail.
pub(crate) fn lanes<A: Aead>(key: impl Fn(&VectorTest) -> A, backend: Backend, tests: &[&VectorTest], name: &str) {
    let tests: Vec<&VectorTest> = tests.iter().copied().filter(|test| refusal(test).is_none()).collect();
    let keys: Vec<A> = tests.iter().map(|test| key(test)).collect();
    let aads: Vec<Vec<u8>> = tests.iter().map(|test| test.associated_data()).collect();

    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.msg.clone().unwrap_or_default()).collect();
    let mut tags: Vec<Vec<u8>> = tests.iter().map(|test| vec![0; test.tag.len()]).collect();
    let jobs = parts(&tests, &keys, &aads, &mut data).zip(&mut tags).map(|((test, key, aad, data), tag)| {
        key.to_seal(test.iv[..].into(), aad, data, (&mut tag[..]).into()).expect("a vector's job")
    });
    // Every job has its own key object, and the objects are in the order of the jobs.
    A::seal(&mut jobs.collect::<Vec<_>>()).expect("no nonce twice under one key");
    for ((test, data), tag) in tests.iter().zip(&data).zip(&tags).filter(|((test, _), _)| test.msg.is_some()) {
        let same = *data == test.ct && *tag == test.tag;
        assert_eq!(same, test.is_valid(), "{name} test {} encrypted in lanes on {}", test.id, backend.name());
    }

    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.ct.clone()).collect();
    let jobs = parts(&tests, &keys, &aads, &mut data)
        .map(|(test, key, aad, data)| key.to_open(test.iv[..].into(), aad, data, tag(test)).expect("a vector's job"));
    let mut jobs: Vec<_> = jobs.collect();
    let opened = A::open(&mut jobs);
    let results: Vec<Result<(), Error>> = jobs.iter().map(|job| job.result()).collect();
    drop(jobs);
    let forged: Vec<usize> = (0..tests.len()).filter(|&place| !tests[place].is_valid()).collect();
    let found = opened.err().map(|forged| (forged.count, forged.first));
    let expected = forged.first().map(|first| (forged.len(), *first));
    assert_eq!(found, expected, "{name}: forged in lanes on {}", backend.name());
    for ((test, data), result) in tests.iter().zip(&data).zip(results) {
        let label = format!("{name} test {} in lanes on {}", test.id, backend.name());
        check_opened(test, result, data, &label);
    }
}

fn parts<'a, A>(
    tests: &'a [&VectorTest],
    keys: &'a [A],
    aads: &'a [Vec<u8>],
    data: &'a mut [Vec<u8>],
) -> impl Iterator<Item = (&'a VectorTest, &'a A, Aad<'a>, &'a mut [u8])> {
    let parts = tests.iter().zip(keys).zip(aads).zip(data);
    parts.map(|(((test, key), aad), data)| (*test, key, Aad(aad), &mut data[..]))
}
