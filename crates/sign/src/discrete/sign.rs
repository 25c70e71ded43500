//! Signs and verifies batches of digests, with DSA and Schnorr mixed: in each step, all powers share lanes.
//!
//! DSA, FIPS 186-4, section 4.6, with a random factor b, which hides x and k from side-channel measurements and cancels out:
//!
//! ```text
//! r = (g^k mod p) mod q        s = (k · b)⁻¹ · (b · z + b · x · r) mod q
//! ```
//!
//! Schnorr: `e = SHA-256(label ‖ p ‖ q ‖ g ‖ y ‖ R ‖ digest)` with `R = g^k mod p`, `s = k + e · x mod q`; the signature consists of e
//! and s. The verifier computes `R = g^s · y^(q − e)`.

use tress_modular::lanes::{self, CombPower, Power};
use tress_modular::reveal;
use zeroize::Zeroizing;

use super::nonce::{self, NOISE_BYTES, leading_bits};
use super::{Dsa, Group, PrivateKey, PublicKey, Schnorr};
use crate::integer::{self, Number};
use crate::{Error, Hash, asn1, random};

/// First part of the input of Schnorr's challenge, and of its nonces.
const SCHNORR_LABEL: &[u8] = b"tress schnorr-sha256";

/// Length of the challenge in bytes.
const CHALLENGE_BYTES: usize = 32;

/// A private key of either scheme.
#[derive(Clone, Copy)]
pub(crate) enum AnyPrivate<'a> {
    Dsa(&'a PrivateKey<Dsa>),
    Schnorr(&'a PrivateKey<Schnorr>),
}

/// A public key of either scheme.
#[derive(Clone, Copy)]
pub(crate) enum AnyPublic<'a> {
    Dsa(&'a PublicKey<Dsa>),
    Schnorr(&'a PublicKey<Schnorr>),
}

impl<'a> AnyPrivate<'a> {
    fn group(self) -> &'a Group {
        match self {
            Self::Dsa(key) => key.public_key().group(),
            Self::Schnorr(key) => key.public_key().group(),
        }
    }

    /// The nonce for a digest. To sign, `noise` is random; vectors use the deterministic nonce, where it is empty.
    pub(crate) fn nonce(self, hash: Hash, digest: &[u8], noise: &[u8]) -> Number {
        let q = self.group().q();
        match self {
            Self::Dsa(key) => nonce::derive(q, key.x(), hash, digest, b"", noise),
            Self::Schnorr(key) => nonce::derive(q, key.x(), hash, digest, SCHNORR_LABEL, noise),
        }
    }
}

impl<'a> AnyPublic<'a> {
    fn group(self) -> &'a Group {
        match self {
            Self::Dsa(key) => key.group(),
            Self::Schnorr(key) => key.group(),
        }
    }

    fn y(self) -> &'a [u64] {
        match self {
            Self::Dsa(key) => key.y(),
            Self::Schnorr(key) => key.y(),
        }
    }
}

/// One digest to sign.
#[derive(Clone, Copy)]
pub(crate) struct DiscreteSignJob<'a> {
    pub(crate) key: AnyPrivate<'a>,
    pub(crate) hash: Hash,
    pub(crate) digest: &'a [u8],
}

/// One signature to verify.
#[derive(Clone, Copy)]
pub(crate) struct DiscreteVerifyJob<'a> {
    pub(crate) key: AnyPublic<'a>,
    pub(crate) hash: Hash,
    pub(crate) digest: &'a [u8],
    pub(crate) signature: &'a [u8],
}

pub(crate) fn sign_batch(jobs: &[DiscreteSignJob<'_>]) -> Vec<Result<Vec<u8>, Error>> {
    sign_batch_with(jobs, |_, _| {})
}

/// Signs like [`sign_batch`]. `tamper` is called with every g^k, and may change it.
pub(crate) fn sign_batch_with(
    jobs: &[DiscreteSignJob<'_>],
    tamper: impl FnMut(usize, &mut [u64]),
) -> Vec<Result<Vec<u8>, Error>> {
    let jobs: Vec<Result<DiscreteSignJob<'_>, Error>> =
        jobs.iter().map(|job| checked(job.hash, job.digest, *job)).collect();
    let ready: Vec<DiscreteSignJob<'_>> = jobs.iter().filter_map(|job| job.as_ref().ok().copied()).collect();
    let mut noise = Zeroizing::new(vec![0; NOISE_BYTES * ready.len()]);
    if let Err(error) = random::fill(&mut noise) {
        return jobs.into_iter().map(|job| job.and(Err(error))).collect();
    }
    let noises = noise.chunks_exact(NOISE_BYTES);
    let nonces: Vec<Number> =
        ready.iter().zip(noises).map(|(job, noise)| job.key.nonce(job.hash, job.digest, noise)).collect();
    let mut signatures = sign_with(&ready, &nonces, tamper).into_iter();
    jobs.into_iter().map(|job| job.and_then(|_| signatures.next().unwrap_or(Err(Error::Fault)))).collect()
}

/// Signs with given nonces.
pub(crate) fn sign_with(
    jobs: &[DiscreteSignJob<'_>],
    nonces: &[Number],
    mut tamper: impl FnMut(usize, &mut [u64]),
) -> Vec<Result<Vec<u8>, Error>> {
    let exponents: Vec<(&Group, &[u64])> =
        jobs.iter().zip(nonces).map(|(job, nonce)| (job.key.group(), nonce.as_slice())).collect();
    let mut powers = powers_of_g(&exponents);
    powers.iter_mut().enumerate().for_each(|(job, power)| tamper(job, power));
    finish(jobs, nonces, &powers)
}

/// Computes the signatures from the powers g^k.
fn finish(jobs: &[DiscreteSignJob<'_>], nonces: &[Number], powers: &[Number]) -> Vec<Result<Vec<u8>, Error>> {
    // Below 2^(bits − 1), so below q. The probability that a number is 0 is negligible; if so, there is no inverse, which is an error.
    let blinds = match random::numbers(jobs.iter().map(|job| job.key.group().q().bits() - 1)) {
        Ok(blinds) => blinds,
        Err(error) => return jobs.iter().map(|_| Err(error)).collect(),
    };
    // Only DSA needs the inverse of k · b.
    let mut products = Vec::new();
    for ((job, nonce), blind) in jobs.iter().zip(nonces).zip(&blinds) {
        if let AnyPrivate::Dsa(_) = job.key {
            products.push((job.key.group(), Zeroizing::new(job.key.group().q().multiply(nonce, blind))));
        }
    }
    let inverses = inverses(&products);
    let mut inverses = inverses.into_iter();
    jobs.iter()
        .zip(nonces)
        .zip(powers.iter().zip(&blinds))
        .map(|((job, nonce), (power, blind))| match job.key {
            AnyPrivate::Dsa(key) => {
                let inverse = inverses.next().flatten().ok_or(Error::Fault)?;
                dsa(key, job.digest, power, blind, &inverse)
            }
            AnyPrivate::Schnorr(key) => Ok(schnorr(key, job.digest, power, nonce)),
        })
        .collect()
}

/// g to these exponents, below 2^(bits of q). Uses the group's table if it exists or if many powers are needed.
fn powers_of_g(jobs: &[(&Group, &[u64])]) -> Vec<Number> {
    let mut results = integer::zeros(jobs.iter().map(|(group, _)| group.p().limbs()));
    let (mut by_comb, mut others) = (Vec::new(), Vec::new());
    for ((group, exponent), result) in jobs.iter().zip(&mut results) {
        match group.comb(|| jobs.iter().filter(|(other, _)| other.is_same_instance(group)).count()) {
            Some(comb) => by_comb.push(CombPower { comb, exponent, result }),
            None => others.push(Power { modulus: group.p(), base: group.g(), exponent, result }),
        }
    }
    lanes::power_by_comb(&mut by_comb);
    lanes::power(&mut others);
    results
}

/// Inverts numbers modulo the q of their groups, in constant time. For each group, one inversion of the product of all its numbers is
/// enough (P. L. Montgomery, Speeding the Pollard and elliptic curve methods of factorization, Mathematics of Computation 48, 1987). The
/// inverse is multiplied by the product again; if the result is not 1, all inverses of the group are `None`.
fn inverses(numbers: &[(&Group, Number)]) -> Vec<Option<Number>> {
    let mut inverses: Vec<Option<Number>> = numbers.iter().map(|_| None).collect();
    for (first, (group, _)) in numbers.iter().enumerate() {
        if inverses[first].is_some() || numbers[..first].iter().any(|(earlier, _)| earlier.is_same_instance(group)) {
            continue;
        }
        let q = group.q();
        let same: Vec<usize> = (first..numbers.len()).filter(|at| numbers[*at].0.is_same_instance(group)).collect();
        // The products of the first number, of the first two, and so on.
        let mut products: Vec<Number> = Vec::with_capacity(same.len());
        for &at in &same {
            let product = match products.last() {
                Some(product) => q.multiply(product, &numbers[at].1),
                None => q.reduce(&numbers[at].1),
            };
            products.push(Zeroizing::new(product));
        }
        let Some(whole) = products.last() else { continue };
        let Some(inverse) = q.inverse(whole) else { continue };
        let mut inverse = Zeroizing::new(inverse);
        if !integer::is_equal(&Zeroizing::new(q.multiply(&inverse, whole)), &[1]) {
            continue;
        }
        for (i, &at) in same.iter().enumerate().rev() {
            if i > 0 {
                inverses[at] = Some(Zeroizing::new(q.multiply(&inverse, &products[i - 1])));
                inverse = Zeroizing::new(q.multiply(&inverse, &numbers[at].1));
            } else {
                inverses[at] = Some(inverse.clone());
            }
        }
    }
    inverses
}

fn dsa(key: &PrivateKey<Dsa>, digest: &[u8], power: &[u64], blind: &[u64], inverse: &[u64]) -> Result<Vec<u8>, Error> {
    let group = key.public_key().group();
    let q = group.q();
    let r = q.reduce(power);
    let blinded_x = Zeroizing::new(q.multiply(blind, key.x()));
    let secret = Zeroizing::new(q.multiply(&blinded_x, &r));
    let public = Zeroizing::new(q.multiply(blind, &leading_bits(digest, q.bits())));
    let s = q.multiply(inverse, &Zeroizing::new(q.add(&secret, &public)));
    // By chance this has a probability of at most 2^−224, so it is treated as a fault.
    if integer::is_zero(&r) || integer::is_zero(&s) {
        return Err(Error::Fault);
    }
    // Public from here on.
    let [r, s] = [r, s].map(|number| number.into_iter().map(reveal).collect::<Vec<u64>>());
    let bytes = group.scalar_bytes();
    Ok(asn1::encode_numbers(&[&integer::to_bytes(&r, bytes), &integer::to_bytes(&s, bytes)]).to_vec())
}

fn schnorr(key: &PrivateKey<Schnorr>, digest: &[u8], power: &[u64], nonce: &[u64]) -> Vec<u8> {
    let group = key.public_key().group();
    let q = group.q();
    let mut signature = challenge(key.public_key(), power, digest);
    let secret = Zeroizing::new(q.multiply(&integer::from_bytes(&signature), key.x()));
    let s = q.add(nonce, &secret);
    signature.extend_from_slice(&integer::to_bytes(&s, group.scalar_bytes()));
    signature
}

fn challenge(key: &PublicKey<Schnorr>, power: &[u64], digest: &[u8]) -> Vec<u8> {
    let group = key.group();
    let element = |number| integer::to_bytes(number, group.element_bytes());
    let parts = [element(group.p().as_limbs()), element(group.g()), element(key.y()), element(power)];
    let q = integer::to_bytes(group.q().as_limbs(), group.scalar_bytes());
    Hash::Sha256.digest_parts(&[SCHNORR_LABEL, &parts[0], &q, &parts[1], &parts[2], &parts[3], digest])
}

/// The values of a signature, with u₁ and u₂, the exponents of g and y.
struct SignatureClaim {
    exponents: [Vec<u64>; 2],
    /// DSA's r, or Schnorr's challenge.
    expected: Vec<u8>,
}

pub(crate) fn verify_batch(jobs: &[DiscreteVerifyJob<'_>]) -> Vec<Result<(), Error>> {
    let claims: Vec<Result<SignatureClaim, Error>> = jobs.iter().map(claim).collect();
    let ready: Vec<(&DiscreteVerifyJob<'_>, &SignatureClaim)> =
        jobs.iter().zip(&claims).filter_map(|(job, claim)| Some((job, claim.as_ref().ok()?))).collect();
    let exponents: Vec<(&Group, &[u64])> =
        ready.iter().map(|(job, claim)| (job.key.group(), claim.exponents[0].as_slice())).collect();
    let powers_of_g = powers_of_g(&exponents);
    let mut powers_of_y = integer::zeros(ready.iter().map(|(job, _)| job.key.group().p().limbs()));
    let mut lanes: Vec<Power<'_>> = ready
        .iter()
        .zip(&mut powers_of_y)
        .map(|((job, claim), result)| Power {
            modulus: job.key.group().p(),
            base: job.key.y(),
            exponent: &claim.exponents[1],
            result,
        })
        .collect();
    lanes::power_vartime(&mut lanes);

    let mut products = ready.iter().zip(powers_of_g.iter().zip(&powers_of_y)).map(|((job, claim), powers)| {
        let group = job.key.group();
        let product = group.p().multiply(powers.0, powers.1);
        let found = match job.key {
            AnyPublic::Dsa(_) => integer::to_bytes(&group.q().reduce(&product), group.scalar_bytes()).to_vec(),
            AnyPublic::Schnorr(key) => challenge(key, &product, job.digest),
        };
        if found == claim.expected { Ok(()) } else { Err(Error::Mismatch) }
    });
    claims
        .iter()
        .map(|claim| match claim {
            Ok(_) => products.next().unwrap_or(Err(Error::Fault)),
            Err(error) => Err(*error),
        })
        .collect()
}

fn claim(job: &DiscreteVerifyJob<'_>) -> Result<SignatureClaim, Error> {
    let DiscreteVerifyJob { hash, digest, signature, .. } = *job;
    checked(hash, digest, ())?;
    let group = job.key.group();
    let q = group.q();
    match job.key {
        AnyPublic::Dsa(_) => {
            let [r, s] = asn1::numbers::<2>(signature).map_err(|_| Error::MalformedSignature)?;
            let [r, s] = [scalar(group, r)?, scalar(group, s)?];
            let inverse = q.inverse(&s).ok_or(Error::MalformedSignature)?;
            let exponents = [q.multiply(&leading_bits(digest, q.bits()), &inverse), q.multiply(&r, &inverse)];
            Ok(SignatureClaim { exponents, expected: integer::to_bytes(&r, group.scalar_bytes()).to_vec() })
        }
        AnyPublic::Schnorr(_) => {
            if signature.len() != CHALLENGE_BYTES + group.scalar_bytes() {
                return Err(Error::MalformedSignature);
            }
            let (challenge, s) = signature.split_at(CHALLENGE_BYTES);
            let s = integer::from_bytes(s);
            if !integer::is_less(&s, q.as_limbs()) {
                return Err(Error::MalformedSignature);
            }
            let negative = q.subtract(&[0], &integer::from_bytes(challenge));
            Ok(SignatureClaim { exponents: [s.to_vec(), negative], expected: challenge.to_vec() })
        }
    }
}

/// A number from 1 to q − 1.
fn scalar(group: &Group, bytes: &[u8]) -> Result<Number, Error> {
    if bytes.len() > group.scalar_bytes() {
        return Err(Error::MalformedSignature);
    }
    let number = integer::from_bytes(bytes);
    if integer::is_zero(&number) || !integer::is_less(&number, group.q().as_limbs()) {
        return Err(Error::MalformedSignature);
    }
    Ok(number)
}

fn checked<T>(hash: Hash, digest: &[u8], value: T) -> Result<T, Error> {
    if digest.len() == hash.digest_bytes() { Ok(value) } else { Err(Error::DigestLength) }
}
