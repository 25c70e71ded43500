//! CCM: one message at a time, and all messages of a file in lanes.

use tress_cipher::modes::ccm;
use tress_cipher::{Backend, CcmCipher, Error, lanes};

use crate::vectors::file::Test;
use crate::vectors::under_test::UnderTest;

/// What the API says to parameters that CCM does not have, before it looks at any data.
fn refusal(test: &Test) -> Option<Error> {
    if test.has_flag("InvalidNonceSize") {
        Some(Error::NonceLength)
    } else if test.has_flag("InvalidTagSize") || test.has_flag("InsecureTagSize") {
        Some(Error::TagLength)
    } else {
        None
    }
}

pub(crate) fn one<C: UnderTest + CcmCipher>(backend: Backend, test: &Test, what: &str) {
    let cipher = C::prepare(backend, &test.key);
    let aad = test.associated_data();
    if let Some(refusal) = refusal(test) {
        return refused(&cipher, test, &aad, refusal, what);
    }
    if let Some(msg) = &test.msg {
        let mut data = msg.clone();
        let mut tag = vec![0; test.tag.len()];
        ccm::encrypt(&cipher, &test.iv, &aad, &mut data, &mut tag).expect(what);
        assert_eq!(data == test.ct && tag == test.tag, test.is_valid(), "{what}: encrypt");
        if test.has_flag("ModifiedTag") {
            assert_eq!(data, test.ct, "{what}: encrypt, only the tag is wrong");
        }
    }
    let mut data = test.ct.clone();
    let opened = ccm::decrypt(&cipher, &test.iv, &aad, &mut data, &test.tag);
    check_opened(test, opened, &data, what);
}

fn refused<C: CcmCipher>(cipher: &C, test: &Test, aad: &[u8], refusal: Error, what: &str) {
    assert!(!test.is_valid(), "{what}: refused and valid");
    let mut data = test.ct.clone();
    let mut tag = test.tag.clone();
    assert_eq!(ccm::encrypt(cipher, &test.iv, aad, &mut data, &mut tag), Err(refusal), "{what}: encrypt");
    assert_eq!(ccm::decrypt(cipher, &test.iv, aad, &mut data, &tag), Err(refusal), "{what}: decrypt");
    let job = lanes::ccm::Job::new(cipher, &test.iv, aad, &mut data, &mut tag);
    assert_eq!(job.err(), Some(refusal), "{what}: job");
    assert_eq!((data, tag), (test.ct.clone(), test.tag.clone()), "{what}: something was written");
}

fn check_opened(test: &Test, opened: Result<(), Error>, data: &[u8], what: &str) {
    if test.is_valid() {
        assert_eq!(opened, Ok(()), "{what}: decrypt");
        assert_eq!(data, test.message(), "{what}: decrypt");
    } else {
        assert_eq!(opened, Err(Error::Authentication), "{what}: decrypt");
        assert!(data.iter().all(|byte| *byte == 0), "{what}: the data was not wiped");
    }
}

/// All vectors of a file as one list of jobs, each with its own key; invalid ones fail alone.
pub(crate) fn lanes<C: UnderTest + CcmCipher>(backend: Backend, tests: &[&Test], name: &str) {
    let tests: Vec<&Test> = tests.iter().copied().filter(|test| refusal(test).is_none()).collect();
    let ciphers: Vec<C> = tests.iter().map(|test| C::prepare(backend, &test.key)).collect();
    let aads: Vec<Vec<u8>> = tests.iter().map(|test| test.associated_data()).collect();

    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.msg.clone().unwrap_or_default()).collect();
    let mut tags: Vec<Vec<u8>> = tests.iter().map(|test| vec![0; test.tag.len()]).collect();
    let mut jobs = jobs(&tests, &ciphers, &aads, &mut data, &mut tags);
    lanes::ccm::encrypt(&mut jobs);
    drop(jobs);
    for ((test, data), tag) in tests.iter().zip(&data).zip(&tags).filter(|((test, _), _)| test.msg.is_some()) {
        let same = *data == test.ct && *tag == test.tag;
        assert_eq!(same, test.is_valid(), "{name} test {} encrypted in lanes on {}", test.id, backend.name());
    }

    let mut data: Vec<Vec<u8>> = tests.iter().map(|test| test.ct.clone()).collect();
    let mut tags: Vec<Vec<u8>> = tests.iter().map(|test| test.tag.clone()).collect();
    let mut jobs = self::jobs(&tests, &ciphers, &aads, &mut data, &mut tags);
    let failed = lanes::ccm::decrypt(&mut jobs);
    let results: Vec<Result<(), Error>> = jobs.iter().map(|job| job.result()).collect();
    drop(jobs);
    let expected = tests.iter().filter(|test| !test.is_valid()).count();
    assert_eq!(failed, expected, "{name}: jobs that failed in lanes on {}", backend.name());
    for ((test, data), result) in tests.iter().zip(&data).zip(results) {
        let what = format!("{name} test {} in lanes on {}", test.id, backend.name());
        check_opened(test, result, data, &what);
    }
}

fn jobs<'a, C: CcmCipher>(
    tests: &[&Test],
    ciphers: &'a [C],
    aads: &'a [Vec<u8>],
    data: &'a mut [Vec<u8>],
    tags: &'a mut [Vec<u8>],
) -> Vec<lanes::ccm::Job<'a, C>> {
    tests
        .iter()
        .zip(ciphers)
        .zip(aads)
        .zip(data)
        .zip(tags)
        .map(|((((test, cipher), aad), data), tag)| {
            lanes::ccm::Job::new(cipher, &test.iv, aad, data, tag).expect("a vector's job")
        })
        .collect()
}
