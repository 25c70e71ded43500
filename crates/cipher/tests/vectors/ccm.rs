//! CCM: one message at a time, and all messages of a file in lanes.

use tress_cipher::modes::ccm;
use tress_cipher::{Aad, Backend, CcmCipher, Error, Tag, TagMut, lanes};

use crate::vectors::file::VectorTest;
use crate::vectors::under_test::VectorCipher;

/// The error for parameters that CCM does not have, which is returned before any data is processed.
fn refusal(test: &VectorTest) -> Option<Error> {
    if test.has_flag("InvalidNonceSize") {
        Some(Error::NonceLength)
    } else if test.has_flag("InvalidTagSize") || test.has_flag("InsecureTagSize") {
        Some(Error::TagLength)
    } else {
        None
    }
}

pub(crate) fn one<C: VectorCipher + CcmCipher>(backend: Backend, test: &VectorTest, label: &str) {
    let cipher = C::prepare(backend, &test.key);
    let aad = test.associated_data();
    if let Some(refusal) = refusal(test) {
        return refused(&cipher, test, Aad(&aad), refusal, label);
    }
    if let Some(msg) = &test.msg {
        let mut data = msg.clone();
        let mut tag = vec![0; test.tag.len()];
        ccm::seal(&cipher, &test.iv[..], Aad(&aad), &mut data, &mut tag[..]).expect(label);
        assert_eq!(data == test.ct && tag == test.tag, test.is_valid(), "{label}: encrypt");
        if test.has_flag("ModifiedTag") {
            assert_eq!(data, test.ct, "{label}: encrypt, only the tag is wrong");
        }
    }
    let mut data = test.ct.clone();
    let opened = ccm::open(&cipher, &test.iv[..], Aad(&aad), &mut data, tag(test));
    check_opened(test, opened, &data, label);
}

fn refused<C: CcmCipher>(cipher: &C, test: &VectorTest, aad: Aad<'_>, refusal: Error, label: &str) {
    assert!(!test.is_valid(), "{label}: refused and valid");
    let mut data = test.ct.clone();
    let (iv, mut written) = (&test.iv[..], test.tag.clone());
    assert_eq!(ccm::seal(cipher, iv, aad, &mut data, &mut written[..]), Err(refusal), "{label}: seal");
    assert_eq!(ccm::open(cipher, iv, aad, &mut data, tag(test)), Err(refusal), "{label}: open");
    let job = lanes::ccm::Seal::new(cipher, iv, aad, &mut data, &mut written[..]);
    assert_eq!(job.err(), Some(refusal), "{label}: job to seal");
    let job = lanes::ccm::Open::new(cipher, iv, aad, &mut data, tag(test));
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
pub(crate) fn lanes<C: VectorCipher + CcmCipher>(backend: Backend, tests: &[&VectorTest], name: &str) {
    let tests: Vec<&VectorTest> = tests.iter().copied().filter(|test| refusal(test).is_none()).collect();
    let ciphers: Vec<C> = tests.iter().map(|test| C::prepare(backend, &test.key)).collect();
    let aads: Vec<Vec<u8>> = tests.iter().map(|test| test.associated_data()).collect();

    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.msg.clone().unwrap_or_default()).collect();
    let mut tags: Vec<Vec<u8>> = tests.iter().map(|test| vec![0; test.tag.len()]).collect();
    let jobs = parts(&tests, &ciphers, &aads, &mut data).zip(&mut tags).map(|((test, cipher, aad, data), tag)| {
        lanes::ccm::Seal::new(cipher, &test.iv[..], aad, data, TagMut::from(&mut tag[..])).expect("a vector's job")
    });
    // Every job has its own cipher object, and the objects are in the order of the jobs.
    lanes::ccm::seal(&mut jobs.collect::<Vec<_>>()).expect("no nonce twice under one key");
    for ((test, data), tag) in tests.iter().zip(&data).zip(&tags).filter(|((test, _), _)| test.msg.is_some()) {
        let same = *data == test.ct && *tag == test.tag;
        assert_eq!(same, test.is_valid(), "{name} test {} encrypted in lanes on {}", test.id, backend.name());
    }

    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.ct.clone()).collect();
    let jobs = parts(&tests, &ciphers, &aads, &mut data).map(|(test, cipher, aad, data)| {
        lanes::ccm::Open::new(cipher, &test.iv[..], aad, data, tag(test)).expect("a vector's job")
    });
    let mut jobs: Vec<_> = jobs.collect();
    let opened = lanes::ccm::open(&mut jobs);
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

fn parts<'a, C: CcmCipher>(
    tests: &'a [&VectorTest],
    ciphers: &'a [C],
    aads: &'a [Vec<u8>],
    data: &'a mut [Vec<u8>],
) -> impl Iterator<Item = (&'a VectorTest, &'a C, Aad<'a>, &'a mut [u8])> {
    let parts = tests.iter().zip(ciphers).zip(aads).zip(data);
    parts.map(|(((test, cipher), aad), data)| (*test, cipher, Aad(aad), &mut data[..]))
}
