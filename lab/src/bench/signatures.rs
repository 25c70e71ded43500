//! Signatures of digests under one key, in batches and one at a time, by Tress, by OpenSSL and by the crate `rsa`.

use std::{path::Path, time::Duration};

#[cfg(feature = "aws-lc-rs")]
use tress_peers::aws_lc_rs;
#[cfg(feature = "ring")]
use tress_peers::ring;
use tress_peers::{Error as PeerError, openssl_signatures, rsa};
use tress_sign::{
    Hash, PrivateKey, Scheme, SigningKey, VerifyJob, VerifyingKey,
    discrete::{self, GroupSize},
    signature::Keypair as _,
    verify_batch,
};

use super::{
    Error,
    work::{Who, Work},
    worker::{Worker, digests},
};

/// Digests in a run of a peer that signs them one by one: its sample can be shorter than our batch.
const THEIR_DIGESTS: usize = 4;

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Sign,
    Verify,
}

/// A digest, the number of the message that it is of, and the signature to verify.
#[derive(Clone, Copy)]
struct Signed<'a> {
    #[cfg_attr(not(feature = "ring"), expect(dead_code, reason = "of the message, which only ring hashes itself"))]
    number: usize,
    digest: &'a [u8; 32],
    signature: &'a [u8],
}

/// One library's operation. Signing writes its signature to the vector.
type Party = Box<dyn FnMut(Signed<'_>, &mut Vec<u8>) -> Result<(), PeerError>>;

/// The same digests, repeated.
pub(crate) struct Signatures {
    verb: Verb,
    key: SigningKey,
    verifying: VerifyingKey,
    by: Vec<(Who, Party)>,
    /// The process that runs OpenSSL without IFMA.
    worker: Option<Worker>,
    digests: Vec<[u8; 32]>,
    /// The signatures to verify.
    signatures: Vec<Vec<u8>>,
    made: Vec<u8>,
}

impl Signatures {
    /// RSA with PKCS #1 v1.5, whose signatures are the same for every library.
    pub(crate) fn rsa(bits: usize, verb: Verb, count: usize, peers: &[Who]) -> Result<Signatures, Error> {
        let key = tress_sign::rsa::PrivateKey::generate(bits).map_err(Error::Sign)?;
        Self::new(PrivateKey::Rsa(key), Scheme::RsaPkcs1(Hash::Sha256), verb, count, peers)
    }

    /// DSA of 2048 and 256 bits.
    pub(crate) fn dsa(verb: Verb, count: usize, peers: &[Who]) -> Result<Signatures, Error> {
        let key = discrete::PrivateKey::generate(GroupSize::Bits2048).map_err(Error::Sign)?;
        Self::new(PrivateKey::Dsa(key), Scheme::Dsa(Hash::Sha256), verb, count, peers)
    }

    fn new(key: PrivateKey, scheme: Scheme, verb: Verb, count: usize, peers: &[Who]) -> Result<Signatures, Error> {
        let key = SigningKey::new(key, scheme).map_err(Error::Sign)?;
        let digests = digests(count);
        let signatures = key.sign_digests(&digests).into_iter().map(|made| Ok(made?.as_bytes().to_vec()));
        let signatures = signatures.collect::<Result<_, _>>().map_err(Error::Sign)?;
        let (verifying, der) = (key.verifying_key(), key.key().to_der());
        // That contender runs in a separate process.
        let here = peers.iter().filter(|who| **who != Who::OpenSslWithoutIfma);
        let by = here.map(|&who| Ok((who, theirs(who, &der, verb).map_err(who.failed())?)));
        let by = by.collect::<Result<_, Error>>()?;
        Ok(Signatures { verb, key, verifying, by, worker: None, digests, signatures, made: Vec::new() })
    }

    /// Number of digests in a run.
    fn count(&self, who: Who) -> usize {
        if who == Who::Ours { self.digests.len() } else { self.digests.len().min(THEIR_DIGESTS) }
    }

    fn ours(&mut self) -> Result<(), Error> {
        if self.verb == Verb::Sign {
            for signature in self.key.sign_digests(&self.digests) {
                self.made.extend(signature.map_err(Error::Sign)?.as_bytes());
            }
            return Ok(());
        }
        let jobs: Vec<VerifyJob<'_>> = self
            .digests
            .iter()
            .zip(&self.signatures)
            .map(|(digest, signature)| VerifyJob { key: &self.verifying, digest, signature })
            .collect();
        verify_batch(&jobs, 1).into_iter().collect::<Result<(), _>>().map_err(Error::Sign)
    }
}

impl Work for Signatures {
    /// Keys take long to make.
    fn is_costly(&self) -> bool {
        true
    }

    fn bytes(&self, who: Who) -> u64 {
        self.count(who) as u64
    }

    fn counts_operations(&self) -> bool {
        true
    }

    fn backend(&self) -> Option<&'static str> {
        tress_modular::lanes::backend()
    }

    fn employ(&mut self, program: &Path) -> Result<(), Error> {
        self.worker = Some(Worker::start(program, &self.key.key().to_der(), self.count(Who::OpenSslWithoutIfma))?);
        Ok(())
    }

    fn timed_elsewhere(&mut self, who: Who, runs: u32) -> Option<Result<Duration, Error>> {
        let worker = self.worker.as_mut().filter(|_| who == Who::OpenSslWithoutIfma)?;
        Some(worker.sign(runs).map(|(time, _)| time))
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        self.made.clear();
        if who == Who::Ours {
            return self.ours();
        }
        if let (Who::OpenSslWithoutIfma, Some(worker)) = (who, &mut self.worker) {
            self.made = worker.sign(1)?.1;
            return Ok(());
        }
        let (count, mut made) = (self.count(who), Vec::new());
        let Some((_, party)) = self.by.iter_mut().find(|(by, _)| *by == who) else { return Ok(()) };
        for (number, (digest, signature)) in self.digests.iter().zip(&self.signatures).enumerate().take(count) {
            party(Signed { number, digest, signature }, &mut made).map_err(who.failed())?;
            self.made.extend_from_slice(&made);
        }
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        // OpenSSL's DSA draws random nonces, so its signatures differ.
        if matches!(self.key.key(), PrivateKey::Rsa(_)) { &self.made } else { &[] }
    }
}

/// The operation of a peer with a key in DER.
fn theirs(who: Who, der: &[u8], verb: Verb) -> Result<Party, PeerError> {
    /// Signing functions that return a signature of the digest or of the message.
    macro_rules! party {
        ($key:expr, $signed:ident => $what:expr) => {{
            let key = $key;
            Box::new(move |$signed: Signed<'_>, made: &mut Vec<u8>| match verb {
                Verb::Sign => key.sign($what).map(|signature| *made = signature),
                Verb::Verify => key.verify($what, $signed.signature),
            })
        }};
    }
    Ok(match who {
        Who::OpenSsl => {
            let mut key = openssl_signatures::Key::new(der)?;
            Box::new(move |signed, made| match verb {
                Verb::Sign => key.sign(signed.digest, made),
                Verb::Verify => key.verify(signed.digest, signed.signature),
            })
        }
        Who::Rsa => party!(rsa::Key::new(der)?, signed => signed.digest),
        #[cfg(feature = "aws-lc-rs")]
        Who::AwsLcRs => party!(aws_lc_rs::Key::new(der)?, signed => signed.digest),
        #[cfg(feature = "ring")]
        Who::Ring => party!(ring::Key::new(der)?, signed => &super::worker::message(signed.number)),
        _ => return Err(PeerError::Refused("this key")),
    })
}
