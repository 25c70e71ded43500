//! Signatures of digests under one key, in batches and one at a time, by Tress, by OpenSSL and by the crate `rsa`.

use std::path::Path;
use std::time::Duration;

#[cfg(feature = "aws-lc-rs")]
use tress_peers::aws_lc_rs;
#[cfg(feature = "ring")]
use tress_peers::ring;
use tress_peers::{Error as PeerError, PeerKey, openssl_signatures, rsa};
use tress_sign::discrete::{self, GroupSize};
use tress_sign::signature::Keypair as _;
use tress_sign::{Hash, PrivateKey, Scheme, SigningKey, VerifyJob, VerifyingKey, verify_batch};

use super::Error;
use super::work::{Contender, TimedWork};
use super::worker::{Worker, digests, message};

/// Digests in a run of a peer that signs them one by one: its sample can be shorter than our batch.
const THEIR_DIGESTS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureOperation {
    Sign,
    Verify,
}

/// The same digests, repeated.
pub(crate) struct Signatures {
    operation: SignatureOperation,
    key: SigningKey,
    verifying: VerifyingKey,
    keys: Vec<(Contender, Box<dyn PeerKey>)>,
    /// The process that runs OpenSSL without IFMA.
    worker: Option<Worker>,
    digests: Vec<[u8; 32]>,
    /// The signatures to verify.
    signatures: Vec<Vec<u8>>,
    output: Vec<u8>,
}

impl Signatures {
    /// RSA with PKCS #1 v1.5, whose signatures are the same for every library.
    pub(crate) fn rsa(
        bits: usize,
        operation: SignatureOperation,
        count: usize,
        peers: &[Contender],
    ) -> Result<Signatures, Error> {
        let key = tress_sign::rsa::PrivateKey::generate(bits).map_err(Error::Sign)?;
        Self::new(PrivateKey::Rsa(key), Scheme::RsaPkcs1(Hash::Sha256), operation, count, peers)
    }

    /// DSA of 2048 and 256 bits.
    pub(crate) fn dsa(operation: SignatureOperation, count: usize, peers: &[Contender]) -> Result<Signatures, Error> {
        let key = discrete::PrivateKey::generate(GroupSize::Bits2048).map_err(Error::Sign)?;
        Self::new(PrivateKey::Dsa(key), Scheme::Dsa(Hash::Sha256), operation, count, peers)
    }

    fn new(
        key: PrivateKey,
        scheme: Scheme,
        operation: SignatureOperation,
        count: usize,
        peers: &[Contender],
    ) -> Result<Signatures, Error> {
        let key = SigningKey::new(key, scheme).map_err(Error::Sign)?;
        let digests = digests(count);
        let signatures = key.sign_digests(&digests).into_iter().map(|output| Ok(output?.as_bytes().to_vec()));
        let signatures = signatures.collect::<Result<_, _>>().map_err(Error::Sign)?;
        let (verifying, der) = (key.verifying_key(), key.key().to_der());
        // That contender runs in a separate process.
        let here = peers.iter().filter(|contender| **contender != Contender::OpenSslWithoutIfma);
        let keys = here.map(|&contender| Ok((contender, peer_key(contender, &der).map_err(contender.failed())?)));
        let keys = keys.collect::<Result<_, Error>>()?;
        Ok(Signatures { operation, key, verifying, keys, worker: None, digests, signatures, output: Vec::new() })
    }

    /// Number of digests in a run.
    fn count(&self, contender: Contender) -> usize {
        if contender == Contender::Tress { self.digests.len() } else { self.digests.len().min(THEIR_DIGESTS) }
    }

    fn run_tress(&mut self) -> Result<(), Error> {
        if self.operation == SignatureOperation::Sign {
            for signature in self.key.sign_digests(&self.digests) {
                self.output.extend(signature.map_err(Error::Sign)?.as_bytes());
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

impl TimedWork for Signatures {
    /// Keys take long to make.
    fn cache_setup(&self) -> bool {
        true
    }

    fn bytes(&self, contender: Contender) -> u64 {
        self.count(contender) as u64
    }

    fn counts_operations(&self) -> bool {
        true
    }

    fn backend(&self) -> Option<&'static str> {
        tress_modular::lanes::backend()
    }

    fn attach_worker(&mut self, program: &Path) -> Result<(), Error> {
        self.worker =
            Some(Worker::start(program, &self.key.key().to_der(), self.count(Contender::OpenSslWithoutIfma))?);
        Ok(())
    }

    fn external_time(&mut self, contender: Contender, runs: u32) -> Option<Result<Duration, Error>> {
        let worker = self.worker.as_mut().filter(|_| contender == Contender::OpenSslWithoutIfma)?;
        Some(worker.sign(runs).map(|(time, _)| time))
    }

    fn run(&mut self, contender: Contender) -> Result<(), Error> {
        self.output.clear();
        if contender == Contender::Tress {
            return self.run_tress();
        }
        if let (Contender::OpenSslWithoutIfma, Some(worker)) = (contender, &mut self.worker) {
            self.output = worker.sign(1)?.1;
            return Ok(());
        }
        let (count, mut output) = (self.count(contender), Vec::new());
        let Some((_, key)) = self.keys.iter_mut().find(|(owner, _)| *owner == contender) else {
            return Ok(());
        };
        for (number, (digest, signature)) in self.digests.iter().zip(&self.signatures).enumerate().take(count) {
            let message = message(number);
            let done = match self.operation {
                SignatureOperation::Sign => key.sign(&message, digest, &mut output),
                SignatureOperation::Verify => key.verify(&message, digest, signature),
            };
            done.map_err(contender.failed())?;
            self.output.extend_from_slice(&output);
        }
        Ok(())
    }

    fn output(&self, _: Contender) -> &[u8] {
        // OpenSSL's DSA draws random nonces, so its signatures differ.
        if matches!(self.key.key(), PrivateKey::Rsa(_)) { &self.output } else { &[] }
    }
}

fn peer_key(contender: Contender, der: &[u8]) -> Result<Box<dyn PeerKey>, PeerError> {
    Ok(match contender {
        Contender::OpenSsl => Box::new(openssl_signatures::SignatureKey::new(der)?),
        Contender::Rsa => Box::new(rsa::SignatureKey::new(der)?),
        #[cfg(feature = "aws-lc-rs")]
        Contender::AwsLcRs => Box::new(aws_lc_rs::SignatureKey::new(der)?),
        #[cfg(feature = "ring")]
        Contender::Ring => Box::new(ring::SignatureKey::new(der)?),
        _ => return Err(PeerError::Refused("this key")),
    })
}
