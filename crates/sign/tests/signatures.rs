//! Signatures: with OpenSSL in both directions, in batches of mixed keys, through the queue, and in all wrong forms.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::common::openssl::{self, Openssl};
use crate::common::vectors::hexadecimal;
use tress_sign::rsa::SaltLength;
use tress_sign::signature::{Keypair, Signer, Verifier};
use tress_sign::{
    Error, Hash, KeyFile, PrivateKey, PublicKey, Queue, QueueOptions, Scheme, SignJob, Signature, SigningKey,
    UnsupportedKey, VerifyJob, VerifyingKey, discrete, rsa, sign_batch, verify_batch,
};

/// RSA of 2048 bits, for PSS and for PKCS #1; DSA; Schnorr.
fn keys() -> &'static [SigningKey; 4] {
    static KEYS: OnceLock<[SigningKey; 4]> = OnceLock::new();
    KEYS.get_or_init(|| {
        let rsa = PrivateKey::Rsa(rsa::PrivateKey::generate(2048).unwrap());
        let size = discrete::GroupSize::Bits2048;
        let keys = [
            rsa.clone(),
            rsa,
            PrivateKey::Dsa(discrete::PrivateKey::generate(size).unwrap()),
            PrivateKey::Schnorr(discrete::PrivateKey::generate(size).unwrap()),
        ];
        let mut schemes = Scheme::ALL.iter().copied();
        keys.map(|key| SigningKey::new(key, schemes.next().unwrap()).unwrap())
    })
}

fn verify(key: &SigningKey, message: &[u8], signature: &[u8]) -> Result<(), Error> {
    key.verifying_key().verify_digest(&key.scheme().hash().digest(message), signature)
}

#[test]
fn openssl_verifies_our_signatures_and_we_verify_its() {
    openssl::with(|openssl| {
        for key in &keys()[..3] {
            both_ways(openssl, key);
        }
        // Other hash functions, other salts, longer keys.
        let PrivateKey::Rsa(rsa) = keys()[0].key() else { panic!() };
        for hash in [Hash::Sha256, Hash::Sha384, Hash::Sha512] {
            for scheme in [
                Scheme::RsaPkcs1(hash),
                Scheme::RsaPss { hash, salt: SaltLength::Digest },
                Scheme::RsaPss { hash, salt: SaltLength::Bytes(0) },
                Scheme::RsaPss { hash, salt: SaltLength::Bytes(20) },
            ] {
                both_ways(openssl, &SigningKey::new(PrivateKey::Rsa(rsa.clone()), scheme).unwrap());
            }
            let PrivateKey::Dsa(dsa) = keys()[2].key() else { panic!() };
            both_ways(openssl, &SigningKey::new(PrivateKey::Dsa(dsa.clone()), Scheme::Dsa(hash)).unwrap());
        }
        let long = PrivateKey::Rsa(rsa::PrivateKey::generate(3072).unwrap());
        both_ways(openssl, &SigningKey::new(long, Scheme::ALL[0]).unwrap());
        let dsa = PrivateKey::Dsa(discrete::PrivateKey::generate(discrete::GroupSize::Bits3072).unwrap());
        both_ways(openssl, &SigningKey::new(dsa, Scheme::ALL[2]).unwrap());
    });
}

/// Keys that OpenSSL makes, in groups that OpenSSL makes.
#[test]
fn keys_of_openssl() {
    openssl::with(|openssl| {
        let out = openssl.path("key.pem");
        for (generate, scheme) in [
            ("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048", Scheme::ALL[0]),
            ("genrsa -traditional 2048", Scheme::ALL[1]),
            ("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2056 -pkeyopt rsa_keygen_pubexp:3", Scheme::ALL[0]),
        ] {
            let (command, options) = generate.split_once(' ').unwrap();
            let arguments: Vec<&str> = [command, "-out", &out].into_iter().chain(options.split(' ')).collect();
            openssl.run(&arguments);
            let key = KeyFile::read(&openssl.read("key.pem")).unwrap().into_private(None).unwrap();
            both_ways(openssl, &SigningKey::new(key, scheme).unwrap());
        }
        let parameters = openssl.path("parameters.pem");
        for bits in [224, 256] {
            let q = format!("dsa_paramgen_q_bits:{bits}");
            let generate = ["genpkey", "-genparam", "-algorithm", "DSA", "-pkeyopt", "dsa_paramgen_bits:2048"];
            openssl.run(&[&generate[..], &["-pkeyopt", &q, "-out", &parameters]].concat());
            openssl.run(&["genpkey", "-paramfile", &parameters, "-out", &out]);
            let key = KeyFile::read(&openssl.read("key.pem")).unwrap().into_private(None).unwrap();
            both_ways(openssl, &SigningKey::new(key, Scheme::ALL[2]).unwrap());
        }
    });
}

#[track_caller]
fn both_ways(openssl: &Openssl, key: &SigningKey) {
    let message = b"eight lanes make a street";
    let private = openssl.file("private.der", &key.key().to_der());
    let public = openssl.file("public.pem", key.key().public_key().to_pem().as_bytes());
    let file = openssl.file("message", message);
    let hash = format!("-sha{}", 8 * key.scheme().hash().digest_bytes());
    let mut options = vec!["-sigopt".to_string()];
    match key.scheme() {
        Scheme::RsaPss { salt, hash } => {
            let salt = match salt {
                SaltLength::Bytes(bytes) => bytes,
                _ => hash.digest_bytes(),
            };
            options.extend(["rsa_padding_mode:pss".into(), "-sigopt".into(), format!("rsa_pss_saltlen:{salt}")]);
        }
        _ => options.clear(),
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();

    let ours = key.sign(message);
    let signature = openssl.file("ours.sig", ours.as_ref());
    let said =
        openssl.run(&[&["dgst", &hash, "-verify", &public, "-signature", &signature][..], &options, &[&file]].concat());
    assert!(said.contains("Verified OK"), "{said}");

    let theirs = openssl.path("theirs.sig");
    let sign = ["dgst", &hash, "-sign", &private, "-keyform", "DER", "-out", &theirs];
    openssl.run(&[&sign[..], &options, &[&file]].concat());
    let theirs = openssl.read("theirs.sig");
    assert_eq!(verify(key, message, &theirs), Ok(()));
    assert_eq!(verify(key, b"another message", &theirs), Err(Error::Mismatch));
    // Deterministic signatures are equal, byte for byte.
    if let Scheme::RsaPkcs1(_) = key.scheme() {
        assert_eq!(ours.as_bytes(), theirs);
    }
}

#[test]
fn long_salts_of_openssl_verify() {
    openssl::with(|openssl| {
        let key = &keys()[0];
        let private = openssl.file("private.der", &key.key().to_der());
        let file = openssl.file("message", b"x");
        let out = openssl.path("out.sig");
        let pss = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:max"];
        let sign = ["dgst", "-sha256", "-sign", &private, "-keyform", "DER", "-out", &out];
        openssl.run(&[&sign[..], &pss, &[&file]].concat());
        let signature = openssl.read("out.sig");
        assert_eq!(verify(key, b"x", &signature), Ok(()));
        let strict = Scheme::RsaPss { hash: Hash::Sha256, salt: SaltLength::Digest };
        let strict = VerifyingKey::new(key.key().public_key(), strict).unwrap();
        assert_eq!(strict.verify_digest(&Hash::Sha256.digest(b"x"), &signature), Err(Error::Mismatch));
    });
}

/// Signs one message several times, in one batch and in the next: no salt and no nonce repeats.
#[test]
fn salts_and_nonces_never_repeat() {
    for key in [&keys()[0], &keys()[2], &keys()[3]] {
        let digest = Hash::Sha256.digest(b"one for all");
        let mut signatures: Vec<Vec<u8>> = Vec::new();
        for _ in 0..2 {
            let batch = sign_batch(&[SignJob { key, digest: &digest }; 9], 1);
            signatures.extend(batch.iter().map(|signature| signature.as_ref().unwrap().as_bytes().to_vec()));
        }
        signatures.sort();
        signatures.dedup();
        assert_eq!(signatures.len(), 18, "{key:?}");
    }
}

/// The longest salt with SHA-256 and 2048 bits has 222 bytes: 256 − 32 − 2 (RFC 8017, 9.1.1). Longer ones are rejected when the key is
/// made, before anything is hashed.
#[test]
fn salts_of_every_length() {
    let (key, public) = (keys()[0].key(), keys()[0].key().public_key());
    for (name, most) in [("rsa-pss-sha256", 222), ("rsa-pss-sha384", 206), ("rsa-pss-sha512", 190)] {
        for bytes in [0, 1, 32, most] {
            let scheme: Scheme = format!("{name}:{bytes}").parse().unwrap();
            assert_eq!(scheme.to_string(), format!("{name}:{bytes}"));
            let strict = SigningKey::new(key.clone(), scheme).unwrap();
            let signature = strict.sign(b"x");
            assert_eq!(verify(&strict, b"x", signature.as_ref()), Ok(()), "{scheme}");
            let digest = scheme.hash().digest(b"x");
            let any = VerifyingKey::new(public.clone(), name.parse().unwrap()).unwrap();
            assert_eq!(any.verify_digest(&digest, signature.as_ref()), Ok(()), "{scheme}");
            let other = VerifyingKey::new(public.clone(), format!("{name}:20").parse().unwrap()).unwrap();
            assert_eq!(other.verify_digest(&digest, signature.as_ref()), Err(Error::Mismatch), "{scheme}");
        }
        for bytes in [most + 1, 257, usize::MAX] {
            let scheme: Scheme = format!("{name}:{bytes}").parse().unwrap();
            assert_eq!(SigningKey::new(key.clone(), scheme).map(drop), Err(Error::SaltTooLong), "{scheme}");
            assert_eq!(VerifyingKey::new(public.clone(), scheme).map(drop), Err(Error::SaltTooLong), "{scheme}");
        }
    }
}

#[test]
fn names_of_schemes() {
    for scheme in Scheme::ALL.iter().copied() {
        assert_eq!(scheme.to_string().parse(), Ok(scheme));
    }
    assert_eq!(Scheme::RsaPss { hash: Hash::Sha384, salt: SaltLength::Digest }.to_string(), "rsa-pss-sha384:48");
    for name in [
        "",
        "rsa",
        "rsa-pss-sha1",
        "RSA-PSS-SHA256",
        "rsa-pss-sha256:",
        "rsa-pss-sha256:x",
        "rsa-pss-sha256:+32",
        "rsa-pss-sha256:-1",
        "rsa-pss-sha256:32:32",
        "rsa-pss-sha256: 32",
        "rsa-pss-sha256:99999999999999999999999",
        "rsa-pkcs1-sha256:32",
        "dsa-sha256:32",
        "schnorr-sha256:32",
        "schnorr-sha512",
        ":32",
    ] {
        assert_eq!(name.parse::<Scheme>(), Err(Error::UnknownScheme), "{name}");
    }
}

/// Keys with the identifier id-RSASSA-PSS: for all hash functions, or for one function and a minimum length of the salt.
#[test]
fn pss_keys_of_openssl() {
    openssl::with(|openssl| {
        let out = openssl.path("key.pem");
        let generate = ["genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048", "-out", &out];
        let read = |options: &[&str]| {
            openssl.run(&[&generate[..], options].concat());
            KeyFile::read(&openssl.read("key.pem")).and_then(|file| file.into_private(None))
        };
        let scheme = |name: &str| name.parse::<Scheme>().unwrap();
        let refused = |key: &PrivateKey, name: &str, error: Error| {
            assert_eq!(SigningKey::new(key.clone(), scheme(name)).map(drop), Err(error), "{name}");
            assert_eq!(VerifyingKey::new(key.public_key(), scheme(name)).map(drop), Err(error), "{name}");
        };
        let key = read(&[]).unwrap();
        assert_eq!(Scheme::of(&key.public_key()), Scheme::ALL[0]);
        for name in ["rsa-pss-sha256", "rsa-pss-sha384", "rsa-pss-sha512:0"] {
            both_ways(openssl, &SigningKey::new(key.clone(), scheme(name)).unwrap());
        }
        refused(&key, "rsa-pkcs1-sha256", Error::WrongScheme);
        // The written key is also for PSS only.
        let again = KeyFile::read(&key.to_der()).unwrap().into_private(None).unwrap();
        refused(&again, "rsa-pkcs1-sha256", Error::WrongScheme);

        let of = |hash: &str, mask: &str, salt: &str| {
            let options = [("md", hash), ("mgf1_md", mask), ("saltlen", salt)];
            let mut options = options.map(|(name, value)| format!("rsa_pss_keygen_{name}:{value}")).to_vec();
            options.extend((salt == "300").then(|| "rsa_keygen_bits:3072".into()));
            read(&options.iter().flat_map(|option| ["-pkeyopt", option.as_str()]).collect::<Vec<_>>())
        };
        for (hash, name, salt) in
            [("sha384", "rsa-pss-sha384", 60), ("sha256", "rsa-pss-sha256", 20), ("sha512", "rsa-pss-sha512", 300)]
        {
            let key = of(hash, hash, &salt.to_string()).unwrap();
            assert_eq!(Scheme::of(&key.public_key()).name(), name);
            let public = key.public_key();
            for bytes in [key.to_der().to_vec(), public.to_der()] {
                let said = match KeyFile::read(&bytes).unwrap() {
                    KeyFile::Private(read) => (read.public_key() == public, "pkey"),
                    KeyFile::Public(read) => (read == public, "public"),
                    other => panic!("{other:?}"),
                };
                assert!(said.0, "{}", said.1);
            }
            // When signing, the salt has at least the key's minimum length; shorter salts do not verify.
            let signing = SigningKey::new(key.clone(), Scheme::of(&public)).unwrap();
            let signature = signing.sign(b"x");
            assert_eq!(verify(&signing, b"x", signature.as_ref()), Ok(()));
            both_ways(openssl, &SigningKey::new(key.clone(), scheme(&format!("{name}:{}", salt + 1))).unwrap());
            refused(&key, &format!("{name}:{}", salt - 1), Error::WrongScheme);
            refused(&key, &format!("{name}:351"), Error::SaltTooLong);
            refused(&key, if hash == "sha512" { "rsa-pss-sha256" } else { "rsa-pss-sha512" }, Error::WrongScheme);
            refused(&key, "rsa-pkcs1-sha256", Error::WrongScheme);
            // The same numbers without the identifier make signatures with salts that are too short for the key.
            let free = as_plain_rsa(&key);
            let short = SigningKey::new(free, scheme(&format!("{name}:{}", salt - 1))).unwrap().sign(b"x");
            assert_eq!(verify(&signing, b"x", short.as_ref()), Err(Error::Mismatch));
        }
        // Another function for MGF1, and SHA-1.
        assert_eq!(of("sha256", "sha512", "32").map(drop), Err(Error::UnknownAlgorithm));
        let mgf1_sha1 = Error::Unsupported(UnsupportedKey::Mgf1Sha1);
        assert_eq!(of("sha1", "sha1", "20").map(drop), Err(mgf1_sha1));
        assert_eq!(of("sha256", "sha1", "32").map(drop), Err(mgf1_sha1));
    });
}

/// The same numbers as PKCS #1, which has no identifier: the content of the last field of PKCS #8, a long OCTET STRING.
fn as_plain_rsa(key: &PrivateKey) -> PrivateKey {
    let der = key.to_der();
    let at = der.windows(2).position(|window| window == [4, 0x82]).unwrap();
    KeyFile::read(&der[at + 4..]).unwrap().into_private(None).unwrap()
}

#[test]
fn batches_of_mixed_keys() {
    let long = PrivateKey::Rsa(rsa::PrivateKey::generate(3072).unwrap());
    let long = SigningKey::new(long, Scheme::ALL[1]).unwrap();
    let keys: Vec<&SigningKey> = keys().iter().chain([&long]).collect();
    for (count, threads) in
        [(0, 0), (1, 3), (7, 1), (8, 100), (0, usize::MAX), (9, usize::MAX), (9, 2), (33, 0), (33, 3)]
    {
        let digests: Vec<Vec<u8>> = (0..count).map(|number| Hash::Sha256.digest(&[number])).collect();
        // Every seventh digest has a wrong length.
        let is_wrong = |index: usize| index % 7 == 6;
        let jobs: Vec<SignJob<'_>> = digests
            .iter()
            .enumerate()
            .map(|(index, digest)| SignJob {
                key: keys[index % keys.len()],
                digest: if is_wrong(index) { &digest[1..] } else { digest },
            })
            .collect();
        let outcomes = sign_batch(&jobs, threads);
        assert_eq!(outcomes.len(), jobs.len());
        for (index, (outcome, digest)) in outcomes.iter().zip(&digests).enumerate() {
            let key = keys[index % keys.len()].verifying_key();
            match outcome {
                Ok(signature) => assert_eq!(key.verify_digest(digest, signature.as_bytes()), Ok(())),
                Err(error) => assert!(is_wrong(index) && *error == Error::DigestLength, "{index}: {error}"),
            }
        }
        // Signing one at a time gives the same signature if nothing is random.
        for (job, outcome) in jobs.iter().zip(&outcomes) {
            if matches!(job.key.scheme(), Scheme::RsaPkcs1(_)) {
                assert_eq!(job.key.sign_digests(&[job.digest])[0], *outcome);
            }
        }
        // One wrong signature among correct ones is found.
        let verifying: Vec<VerifyingKey> = keys.iter().map(|key| key.verifying_key()).collect();
        let mut signatures: Vec<Vec<u8>> = outcomes
            .iter()
            .map(|outcome| outcome.as_ref().map_or(vec![], |signature| signature.as_ref().to_vec()))
            .collect();
        if count > 8 {
            *signatures[8].last_mut().unwrap() ^= 1;
        }
        let jobs: Vec<VerifyJob<'_>> = digests
            .iter()
            .zip(&signatures)
            .enumerate()
            .map(|(index, (digest, signature))| VerifyJob { key: &verifying[index % keys.len()], digest, signature })
            .collect();
        for (index, outcome) in verify_batch(&jobs, threads).into_iter().enumerate() {
            let expected = match index {
                8 => Err(Error::Mismatch),
                index if is_wrong(index) => Err(Error::MalformedSignature),
                _ => Ok(()),
            };
            assert_eq!(outcome, expected, "{index} of {count}");
        }
    }
}

#[test]
fn signatures_in_wrong_forms() {
    let message = b"message";
    for key in keys() {
        let right = key.sign(message).as_ref().to_vec();
        assert_eq!(verify(key, message, &right), Ok(()));
        let refused = |signature: &[u8], what: &str| {
            let outcome = verify(key, message, signature);
            assert!(
                matches!(outcome, Err(Error::MalformedSignature | Error::Mismatch)),
                "{key:?}, {what}: {outcome:?}"
            );
        };
        for length in 0..right.len() {
            assert_eq!(verify(key, message, &right[..length]), Err(Error::MalformedSignature));
        }
        assert_eq!(verify(key, message, &[&right[..], &[0]].concat()), Err(Error::MalformedSignature));
        assert_eq!(verify(key, message, &[&[0], &right[..]].concat()), Err(Error::MalformedSignature));
        refused(&vec![0; right.len()], "zeros");
        refused(&vec![0xff; right.len()], "ones");
        for bit in (0..8 * right.len()).step_by(5) {
            let mut flipped = right.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            refused(&flipped, "a flipped bit");
        }
    }
}

/// The sum of two big-endian numbers of the same length; `None` if it is longer.
fn sum_of_bytes(a: &[u8], b: &[u8]) -> Option<Vec<u8>> {
    let mut carry = 0;
    let mut sum = vec![0; a.len()];
    for ((digit, a), b) in sum.iter_mut().zip(a).zip(b).rev() {
        let whole = u16::from(*a) + u16::from(*b) + carry;
        (*digit, carry) = (whole as u8, whole >> 8);
    }
    (carry == 0).then_some(sum)
}

/// s + q is an equivalent exponent; if it were accepted, it would be a second signature that nobody made.
#[test]
fn schnorr_signatures_out_of_range() {
    let key = &keys()[3];
    let groups = include_str!("../../../vectors/sign/groups.json");
    let groups: serde_json::Value = serde_json::from_str(groups).unwrap();
    let q = hexadecimal(groups["testGroups"][0]["tests"][0]["q"].as_str().unwrap());
    let (number, sum) = (0..=u8::MAX)
        .find_map(|number| {
            let signature = key.sign(&[number]).as_ref().to_vec();
            let (challenge, s) = signature.split_at(32);
            Some((number, [challenge, &sum_of_bytes(s, &q)?].concat()))
        })
        .expect("an s below 2^256 - q");
    assert_eq!(verify(key, &[number], &sum), Err(Error::MalformedSignature));
}

#[test]
fn rsa_signatures_out_of_range() {
    let key = &keys()[1];
    let PublicKey::Rsa(public) = key.key().public_key() else { panic!() };
    let modulus = public.modulus();
    // s + n is congruent to s, and has the same length if s is small enough; n itself is congruent to 0.
    assert_eq!(verify(key, b"x", &modulus), Err(Error::MalformedSignature));
    let mut before = modulus.clone();
    *before.last_mut().unwrap() -= 1;
    assert_eq!(verify(key, b"x", &before), Err(Error::Mismatch));
    let (message, sum) = (0..100_000_u32)
        .map(u32::to_be_bytes)
        .find_map(|message| Some((message, sum_of_bytes(key.sign(&message).as_ref(), &modulus)?)))
        .expect("a signature below 2^2048 - n");
    assert_eq!(verify(key, &message, &sum), Err(Error::MalformedSignature));
}

fn queue_options(max_wait: Duration, max_batch: usize) -> QueueOptions {
    let mut options = QueueOptions::default();
    (options.max_wait, options.max_batch) = (max_wait, max_batch);
    options
}

/// Queues with all kinds of options are replaced while threads use them, and dropped with requests in them. Every request is answered.
#[test]
fn a_queue_signs_for_many_threads() {
    let start = |number: usize| {
        let mut options = queue_options(Duration::from_millis(number as u64 % 3 * 10), [0, 2, 16, 64][number % 4]);
        options.capacity = [1, 1024, 16, 0][number / 2 % 4];
        Arc::new(Queue::start(options).unwrap())
    };
    let current = Mutex::new(start(0));
    std::thread::scope(|scope| {
        for thread in 0..24_u8 {
            let current = &current;
            scope.spawn(move || {
                let key = &keys()[usize::from(thread) % 4];
                let digests = [0, 1, 2].map(|number| Hash::Sha256.digest(&[thread, number]));
                let queue = Arc::clone(&current.lock().unwrap());
                let pending = digests.each_ref().map(|digest| queue.submit(key, digest).unwrap());
                let wrong = queue.submit(key, &digests[0][1..]).unwrap();
                drop(queue);
                *current.lock().unwrap() = start(thread.into());
                for (digest, pending) in digests.iter().zip(pending) {
                    let signature = pending.wait().unwrap();
                    assert_eq!(key.verifying_key().verify_digest(digest, signature.as_bytes()), Ok(()));
                }
                assert_eq!(wrong.wait(), Err(Error::DigestLength));
            });
        }
    });
}

#[test]
fn a_queue_waits_for_a_bounded_time() {
    let key = &keys()[1];
    let digest = Hash::Sha256.digest(b"alone");
    let options = queue_options(Duration::from_millis(200), 4);
    let queue = Queue::start(options).unwrap();
    let start = Instant::now();
    queue.sign(key, &digest).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(200), "nobody else came");
    for max_wait in [Duration::from_secs(3600), Duration::MAX] {
        // A full batch does not wait.
        let queue = Queue::start(queue_options(max_wait, 4)).unwrap();
        let pending: Vec<_> = (0..4).map(|_| queue.submit(key, &digest).unwrap()).collect();
        for pending in pending {
            pending.wait().unwrap();
        }
    }
    // A dropped queue first signs all requests, immediately, whatever its options.
    for max_wait in [Duration::ZERO, Duration::MAX] {
        for (max_batch, capacity) in [(0, 0), (0, usize::MAX), (1, 1), (usize::MAX, 0), (usize::MAX, usize::MAX)] {
            let mut options = queue_options(max_wait, max_batch);
            options.capacity = capacity;
            let queue = Queue::start(options).unwrap();
            let pending = queue.submit(key, &digest).unwrap();
            drop(queue);
            let signature: Signature = pending.wait().unwrap();
            assert_eq!(key.verifying_key().verify(b"alone", &signature).map_err(drop), Ok(()));
        }
    }
}

#[test]
fn try_submit_and_try_wait_do_not_block() {
    let key = &keys()[1];
    let digest = Hash::Sha256.digest(b"asked");
    let queue = Queue::start(queue_options(Duration::MAX, 2)).unwrap();
    let mut first = queue.try_submit(key, &digest).unwrap();
    assert_eq!((first.try_wait(), first.wait_timeout(Duration::from_millis(10))), (None, None));
    let second = queue.try_submit(key, &digest).unwrap();
    assert!(matches!(first.wait_timeout(Duration::MAX), Some(Ok(_))));
    assert_eq!(first.try_wait(), Some(Err(Error::QueueClosed)));
    second.wait().unwrap();
    // Submitting takes a fraction of the time of signing, so the queue is full soon.
    let mut options = queue_options(Duration::ZERO, 1);
    options.capacity = 1;
    let queue = Queue::start(options).unwrap();
    let refused = (0..1_000_000).find_map(|_| queue.try_submit(key, &digest).err());
    assert_eq!(refused, Some(Error::QueueFull));
}

/// In a forked process a request of the parent ends, and the queue has a new worker; the parent's queue is not affected.
#[test]
#[cfg(unix)]
fn a_forked_process_has_its_own_worker() {
    use std::os::unix::process::CommandExt;

    let key = &keys()[2];
    let digest = Hash::Sha256.digest(b"forked");
    let queue = Arc::new(Queue::start(queue_options(Duration::MAX, 2)).unwrap());
    // The worker waits for a second request.
    let pending = Arc::new(Mutex::new(queue.submit(key, &digest).unwrap()));
    let (in_child, of_parent, of_child) = (Arc::clone(&queue), Arc::clone(&pending), digest.clone());
    let work = move || {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(600));
            std::process::abort();
        });
        let ended = of_parent.lock().unwrap().wait_timeout(Duration::MAX);
        let [first, second] = [(); 2].map(|()| in_child.submit(key, &of_child).unwrap());
        let good = ended == Some(Err(Error::QueueClosed)) && first.wait().is_ok() && second.wait().is_ok();
        if good { Ok(()) } else { Err(std::io::Error::other("in the child")) }
    };
    let mut command = std::process::Command::new("true");
    // SAFETY: the child allocates and starts threads, which the C libraries of our systems allow after a fork.
    unsafe { command.pre_exec(work) };
    assert!(command.status().unwrap().success());
    queue.submit(key, &digest).unwrap().wait().unwrap();
    assert!(matches!(pending.lock().unwrap().wait_timeout(Duration::MAX), Some(Ok(_))));
}
