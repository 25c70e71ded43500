//! Tests that need private items: signatures with given salts and nonces, the nonces themselves, faults, and the groups.

use tress_modular::prime;

use crate::discrete::{AnyPrivate, DiscreteSignJob, Dsa, Group, GroupSize, Schnorr, sign_batch_with, sign_with};
use crate::integer;
use crate::rsa::operation::{self, FaultPoint, PrivateJob};
use crate::rsa::{pkcs1v15, pss};
use crate::{Error, Hash, KeyFile, PrivateKey, discrete, rsa};

#[path = "../tests/common/vectors.rs"]
#[allow(dead_code, unreachable_pub, reason = "tests outside use the rest")]
mod vectors;

use vectors::{File, hexadecimal};

fn private(der: &[u8]) -> PrivateKey {
    KeyFile::read(der).unwrap().into_private(None).unwrap()
}

fn rsa_key() -> rsa::PrivateKey {
    let file = File::read("cavp-rsa-pkcs1-sigver");
    let key = file.groups.iter().find_map(|group| group.private_key.as_ref()).unwrap();
    match private(key) {
        PrivateKey::Rsa(key) => key,
        other => panic!("{other:?}"),
    }
}

#[test]
fn pss_with_given_salts() {
    let file = File::read("cavp-rsa-pss-sigver");
    let mut count = 0;
    for group in &file.groups {
        let Some(PrivateKey::Rsa(key)) = group.private_key.as_deref().map(private) else { continue };
        for test in &group.tests {
            let digest = group.hash().digest(&test.message);
            let bits = key.public_key().bits() - 1;
            let message = pss::encode(group.hash(), &digest, test.salt.as_ref().unwrap(), bits).unwrap();
            let signature =
                operation::private(&[PrivateJob { key: &key, message: integer::from_bytes(&message) }]).remove(0);
            assert_eq!(integer::to_bytes(&signature.unwrap(), test.signature.len())[..], test.signature[..]);
            count += 1;
        }
    }
    assert_eq!(count, 27);
}

fn any(key: &PrivateKey) -> AnyPrivate<'_> {
    match key {
        PrivateKey::Dsa(key) => AnyPrivate::Dsa(key),
        PrivateKey::Schnorr(key) => AnyPrivate::Schnorr(key),
        other => panic!("{other:?}"),
    }
}

/// NIST's file has random nonces; those of the others are deterministic.
#[test]
fn discrete_signatures_with_given_nonces() {
    let mut count = 0;
    for name in ["cavp-dsa-siggen", "rfc6979-dsa", "schnorr"] {
        let file = File::read(name);
        // All keys stay alive: NIST's 135 keys are in 9 groups, whose primes are tested once.
        let keys: Vec<PrivateKey> =
            file.groups.iter().map(|group| private(group.private_key.as_ref().unwrap())).collect();
        for (group, key) in file.groups.iter().zip(&keys) {
            for test in &group.tests {
                let digest = group.hash().digest(&test.message);
                let job = DiscreteSignJob { key: any(key), hash: group.hash(), digest: &digest };
                let derived = job.key.nonce(group.hash(), &digest, b"");
                let nonce = test.nonce.as_ref().map_or(derived.clone(), |nonce| integer::from_bytes(nonce));
                let signature = sign_with(&[job], std::slice::from_ref(&nonce), |_, _| {}).remove(0).unwrap();
                assert_eq!(signature, test.signature, "{name} {test:?}");
                assert_eq!(integer::is_equal(&derived, &nonce), name != "cavp-dsa-siggen", "{name} {test:?}");
                assert!(!integer::is_equal(&derived, &job.key.nonce(group.hash(), &digest, &[0; 32])), "{name}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 135 + 6 + 6);
}

/// Equal groups are shared while a key in them is alive; different groups are not.
#[test]
fn keys_share_their_group() {
    let key = |name| match private(File::read(name).groups[0].private_key.as_ref().unwrap()) {
        PrivateKey::Dsa(key) => key,
        other => panic!("{other:?}"),
    };
    let first = key("rfc6979-dsa");
    let group = first.public_key().group();
    assert!(!Group::published(GroupSize::Bits2048).is_same_instance(group));
    assert!(group.is_same_instance(key("rfc6979-dsa").public_key().group()));
    assert!(!group.is_same_instance(key("cavp-dsa-siggen").public_key().group()));
}

/// r and s, or e and s, of a signature.
fn two_numbers(key: &AnyPrivate<'_>, signature: &[u8]) -> [integer::Number; 2] {
    match key {
        AnyPrivate::Dsa(_) => crate::asn1::numbers::<2>(signature).unwrap().map(integer::from_bytes),
        AnyPrivate::Schnorr(_) => [&signature[..32], &signature[32..]].map(integer::from_bytes),
    }
}

/// Computes the key from two signatures of one digest with the same nonce: x = (s − s') / (e − e') for Schnorr, and for DSA
/// x = z (s − s') / (s' r − s r'), from s k = z + r x and s' k = z + r' x.
fn key_from(key: &AnyPrivate<'_>, digest: &[u8], signatures: [&[u8]; 2]) -> Option<Vec<u64>> {
    let q = match key {
        AnyPrivate::Dsa(key) => key.public_key().group().q(),
        AnyPrivate::Schnorr(key) => key.public_key().group().q(),
    };
    let [[a, s], [b, t]] = signatures.map(|signature| two_numbers(key, signature));
    let difference = q.subtract(&s, &t);
    let (above, below) = match key {
        AnyPrivate::Dsa(_) => {
            let z = integer::from_bytes(&digest[..q.bits() / 8]);
            (q.multiply(&z, &difference), q.subtract(&q.multiply(&t, &a), &q.multiply(&s, &b)))
        }
        AnyPrivate::Schnorr(_) => (difference, q.subtract(&a, &b)),
    };
    Some(q.multiply(&above, &q.inverse(&below)?))
}

/// A faulty g^k and a correct signature of the same digest together do not reveal the key. The test also checks that the formulas find
/// the key if both signatures share a nonce.
#[test]
fn a_faulty_power_never_gives_the_key_away() {
    let size = GroupSize::Bits2048;
    let keys = [
        PrivateKey::Dsa(discrete::PrivateKey::generate(size).unwrap()),
        PrivateKey::Schnorr(discrete::PrivateKey::generate(size).unwrap()),
    ];
    let digest = Hash::Sha256.digest(b"once more");
    for key in &keys {
        let key = any(key);
        let x = match &key {
            AnyPrivate::Dsa(key) => key.x(),
            AnyPrivate::Schnorr(key) => key.x(),
        };
        let jobs = [DiscreteSignJob { key, hash: Hash::Sha256, digest: &digest }; 3];
        for bit in [0, 1000] {
            let fault = |job: usize, power: &mut [u64]| power[bit / 64] ^= u64::from(job == 1) << (bit % 64);
            let nonce = key.nonce(Hash::Sha256, &digest, b"");
            let of_one_nonce = sign_with(&jobs, &[(); 3].map(|()| nonce.clone()), fault);
            let of_one_nonce: Vec<Vec<u8>> = of_one_nonce.into_iter().map(Result::unwrap).collect();
            assert_eq!(key_from(&key, &digest, [&of_one_nonce[0], &of_one_nonce[1]]).unwrap(), x, "{bit}");

            let mut signatures = sign_batch_with(&jobs, fault);
            signatures.extend(sign_batch_with(&jobs, |_, _| {}));
            let signatures: Vec<Vec<u8>> = signatures.into_iter().map(Result::unwrap).collect();
            for (at, signature) in signatures.iter().enumerate().filter(|(at, _)| *at != 1) {
                let found = key_from(&key, &digest, [signature, &signatures[1]]);
                assert_ne!(found.as_deref(), Some(x), "bit {bit}, signature {at}");
            }
        }
    }
}

/// One secret under both schemes: every nonce differs, by scheme, digest, hash function and noise.
#[test]
fn dsa_and_schnorr_never_share_a_nonce() {
    let group = Group::published(GroupSize::Bits2048);
    let mut nonces = Vec::new();
    for seed in 1..=50_u8 {
        let x = [seed; 32];
        let dsa = discrete::PrivateKey::<Dsa>::new(group.clone(), &x).unwrap();
        let schnorr = discrete::PrivateKey::<Schnorr>::new(group.clone(), &x).unwrap();
        let digest = Hash::Sha256.digest(&[seed]);
        for digest in [&digest, &Hash::Sha256.digest(b"one for all")] {
            for noise in [&[][..], &[0; 32]] {
                nonces.push(AnyPrivate::Dsa(&dsa).nonce(Hash::Sha256, digest, noise));
                nonces.push(AnyPrivate::Schnorr(&schnorr).nonce(Hash::Sha256, digest, noise));
                nonces.push(AnyPrivate::Dsa(&dsa).nonce(Hash::Sha512, &[&digest[..], &[0; 32]].concat(), noise));
            }
        }
    }
    let mut nonces: Vec<Vec<u64>> = nonces.iter().map(|nonce| nonce.to_vec()).collect();
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 600);
}

/// A fault at any point of the operation gives an error instead of a signature, and does not affect the rest of the batch.
#[test]
fn faults_never_leave() {
    let key = rsa_key();
    let length = key.public_key().signature_bytes();
    let message = |number: u8| {
        let digest = Hash::Sha256.digest(&[number]);
        integer::from_bytes(&pkcs1v15::encode(Hash::Sha256, &digest, length).unwrap())
    };
    let jobs: Vec<PrivateJob<'_>> = (0..9).map(|number| PrivateJob { key: &key, message: message(number) }).collect();
    let right: Vec<_> = operation::private(&jobs).into_iter().map(Result::unwrap).collect();
    for place in [FaultPoint::Blinded, FaultPoint::HalfP, FaultPoint::HalfQ, FaultPoint::Joined] {
        for bit in [0, 1, 63, 64, 700, 1023] {
            let outcomes = operation::private_with(&jobs, |job, at, number| {
                if job == 4 && at == place {
                    number[bit / 64] ^= 1 << (bit % 64);
                }
            });
            for (job, (outcome, right)) in outcomes.into_iter().zip(&right).enumerate() {
                match outcome {
                    Ok(signature) => assert!(job != 4 && signature == *right, "{place:?}, bit {bit}, job {job}"),
                    Err(error) => assert!(job == 4 && error == Error::Fault, "{place:?}, bit {bit}, job {job}"),
                }
            }
        }
    }
}

/// A key whose p is the smaller prime makes the same signatures.
#[test]
fn primes_in_either_order() {
    let key = rsa_key();
    let public = key.public_key();
    let [d, p, q, at_p, at_q, _] = key.private_values();
    let modulus = tress_modular::Modulus::new(&integer::from_bytes(&q)).unwrap();
    let coefficient = modulus.inverse(&integer::from_bytes(&p)).unwrap();
    let swapped = rsa::PrivateKey::new(&rsa::PrivateParts {
        modulus: &public.modulus(),
        public_exponent: &public.exponent().to_be_bytes(),
        private_exponent: &d,
        prime1: &q,
        prime2: &p,
        exponent1: &at_q,
        exponent2: &at_p,
        coefficient: &integer::to_bytes(&coefficient, q.len()),
    })
    .unwrap();
    let sign = |key: &rsa::PrivateKey| {
        let jobs: Vec<PrivateJob<'_>> =
            (1..50).map(|number| PrivateJob { key, message: integer::from_bytes(&[number; 250]) }).collect();
        operation::private(&jobs)
    };
    let signatures = sign(&swapped);
    assert!(signatures.iter().all(Result::is_ok));
    assert_eq!(signatures, sign(&key));
}

/// The numbers that enter the arithmetic modulo p and q differ each time, even for the same message.
#[test]
fn blinded_numbers_are_never_the_same() {
    let key = rsa_key();
    let message = integer::from_bytes(&[5; 200]);
    let jobs = [(); 9].map(|()| PrivateJob { key: &key, message: message.clone() });
    let mut seen = vec![integer::padded(&message, key.public_key().bits() / 64).to_vec()];
    for _ in 0..2 {
        let outcomes = operation::private_with(&jobs, |_, at, number| {
            if at == FaultPoint::Blinded {
                seen.push(number.to_vec());
            }
        });
        assert!(outcomes.iter().all(Result::is_ok));
    }
    assert_eq!(seen.len(), 1 + 2 * 9);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 1 + 2 * 9);
}

/// The same fault in both halves is also detected.
#[test]
fn a_fault_in_both_halves_never_leaves() {
    let key = rsa_key();
    let jobs = [PrivateJob { key: &key, message: integer::from_bytes(&[5; 200]) }];
    let outcome = operation::private_with(&jobs, |_, at, number| {
        if matches!(at, FaultPoint::HalfP | FaultPoint::HalfQ) {
            number.fill(0);
        }
    });
    assert_eq!(outcome[0], Err(Error::Fault));
}

/// FIPS 186-4, A.1.1.3 and A.2.4: p, q and g follow from the seed, and equal the result of the Python script.
#[test]
fn the_groups_are_those_of_their_seeds() {
    let file: serde_json::Value = serde_json::from_str(include_str!("testdata/groups.json")).unwrap();
    let tests = file["testGroups"][0]["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 2);
    for (test, size) in tests.iter().zip([GroupSize::Bits2048, GroupSize::Bits3072]) {
        let group = Group::published(size);
        let number = |name: &str| integer::from_bytes(&hexadecimal(test[name].as_str().unwrap()));
        assert_eq!(
            (group.p().as_limbs(), group.q().as_limbs(), group.g()),
            (&number("p")[..], &number("q")[..], &number("g")[..])
        );

        let seed = hexadecimal(test["seed"].as_str().unwrap());
        assert_eq!(seed, Hash::Sha256.digest(test["comment"].as_str().unwrap().as_bytes()));
        let mut fill = |bytes: &mut [u8]| crate::random::fill(bytes);
        assert!(prime::is_probable_prime(group.q().as_limbs(), 32, &mut fill).unwrap());
        assert!(prime::is_probable_prime(group.p().as_limbs(), 32, &mut fill).unwrap());
        // q is the seed's hash with its highest and lowest bit set.
        let mut q = Hash::Sha256.digest(&seed);
        q[0] |= 0x80;
        q[31] |= 1;
        assert_eq!(group.q().as_limbs(), &integer::from_bytes(&q)[..]);
        // p follows from the hashes of seed + offset + j, with the counter of the file.
        let bits = group.bits();
        let blocks = bits / 256;
        let offset = 1 + test["counter"].as_u64().unwrap() * blocks as u64;
        let mut x = Vec::new();
        for block in (0..blocks as u64).rev() {
            let mut input = integer::from_bytes(&seed);
            integer::add_assign(&mut input, &[offset + block]);
            x.extend(Hash::Sha256.digest(&integer::to_bytes(&input, seed.len())));
        }
        x[0] |= 0x80;
        let mut p = integer::from_bytes(&x);
        let double = integer::multiply(group.q().as_limbs(), &[2]);
        let rest = integer::remainder(&p, &double);
        tress_modular::add::subtract_assign(&mut p, &integer::padded(&rest[..4], bits / 64));
        integer::add_assign(&mut p, &[1]);
        assert_eq!(group.p().as_limbs(), &p[..]);
    }
}
