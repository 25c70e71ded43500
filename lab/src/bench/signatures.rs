//! Signatures of digests under one key: batches and one at a time, by us, by OpenSSL and by the crate `rsa`.

use std::{path::Path, time::Duration};

use tress_peers::{openssl_signatures, rsa};
use tress_sign::{
    Hash, PrivateKey, Scheme, SigningKey, VerifyJob, VerifyingKey,
    discrete::{self, GroupSize},
    signature::Keypair as _,
    verify_batch,
};

use super::{
    Error,
    aead::peer,
    case::{Who, Work},
    worker::Worker,
};

/// Digests of a run of those who do one after the other: a sample of theirs need not take as long as our batch.
const THEIR_DIGESTS: usize = 4;

/// What is done with the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Sign,
    Verify,
}

/// The same digests over and over.
pub(crate) struct Signatures {
    verb: Verb,
    key: SigningKey,
    verifying: VerifyingKey,
    openssl: Option<openssl_signatures::Key>,
    /// OpenSSL without IFMA.
    worker: Option<Worker>,
    rsa: Option<rsa::Key>,
    #[cfg(feature = "aws-lc-rs")]
    aws_lc_rs: Option<tress_peers::aws_lc_rs::Key>,
    #[cfg(feature = "ring")]
    ring: Option<tress_peers::ring::Key>,
    digests: Vec<[u8; 32]>,
    /// What is verified.
    signatures: Vec<Vec<u8>>,
    made: Vec<u8>,
}

impl Signatures {
    /// RSA with PKCS #1 v1.5, whose signatures are the same for everybody.
    pub(crate) fn rsa(bits: usize, verb: Verb, count: usize) -> Result<Signatures, Error> {
        let key = tress_sign::rsa::PrivateKey::generate(bits).map_err(Error::Sign)?;
        let mut made = Self::new(PrivateKey::Rsa(key), Scheme::RsaPkcs1(Hash::Sha256), verb, count)?;
        let der = made.key.key().to_der();
        made.rsa = Some(rsa::Key::new(&der).map_err(peer(Who::Rsa))?);
        #[cfg(feature = "aws-lc-rs")]
        {
            made.aws_lc_rs = Some(tress_peers::aws_lc_rs::Key::new(&der).map_err(peer(Who::AwsLcRs))?);
        }
        #[cfg(feature = "ring")]
        {
            made.ring = Some(tress_peers::ring::Key::new(&der).map_err(peer(Who::Ring))?);
        }
        Ok(made)
    }

    /// DSA of 2048 and 256 bits.
    pub(crate) fn dsa(verb: Verb, count: usize) -> Result<Signatures, Error> {
        let key = discrete::PrivateKey::generate(GroupSize::Bits2048).map_err(Error::Sign)?;
        Self::new(PrivateKey::Dsa(key), Scheme::Dsa(Hash::Sha256), verb, count)
    }

    fn new(key: PrivateKey, scheme: Scheme, verb: Verb, count: usize) -> Result<Signatures, Error> {
        let key = SigningKey::new(key, scheme).map_err(Error::Sign)?;
        let digests = digests(count);
        let signatures = key.sign_digests(&digests).into_iter().map(|made| Ok(made?.as_bytes().to_vec()));
        let signatures = signatures.collect::<Result<_, _>>().map_err(Error::Sign)?;
        let verifying = key.verifying_key();
        let openssl = openssl_signatures::Key::new(&key.key().to_der()).ok();
        Ok(Signatures {
            verb,
            verifying,
            openssl,
            worker: None,
            rsa: None,
            #[cfg(feature = "aws-lc-rs")]
            aws_lc_rs: None,
            #[cfg(feature = "ring")]
            ring: None,
            key,
            digests,
            signatures,
            made: Vec::new(),
        })
    }

    /// Digests of a run.
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
        verify_batch(&jobs).into_iter().collect::<Result<(), _>>().map_err(Error::Sign)
    }
}

/// What is hashed before that, for those who do it themselves.
fn message(number: usize) -> [u8; 8] {
    (number as u64).to_le_bytes()
}

/// What is signed.
pub(crate) fn digests(count: usize) -> Vec<[u8; 32]> {
    let digest = |number: usize| Hash::Sha256.digest(&message(number));
    (0..count).map(|number| digest(number).try_into().expect("32 bytes")).collect()
}

impl Work for Signatures {
    /// Keys.
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

    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        Ok(())
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
        let mut made = Vec::new();
        for number in 0..self.count(who) {
            let (digest, signature) = (&self.digests[number], &self.signatures[number]);
            #[cfg(feature = "aws-lc-rs")]
            if let (Who::AwsLcRs, Some(key)) = (who, &self.aws_lc_rs) {
                match self.verb {
                    Verb::Sign => made = key.sign(digest).map_err(peer(who))?,
                    Verb::Verify => key.verify(digest, signature).map_err(peer(who))?,
                }
            }
            #[cfg(feature = "ring")]
            if let (Who::Ring, Some(key)) = (who, &self.ring) {
                match self.verb {
                    Verb::Sign => made = key.sign(&message(number)).map_err(peer(who))?,
                    Verb::Verify => key.verify(&message(number), signature).map_err(peer(who))?,
                }
            }
            match (who, self.verb, &mut self.openssl, &self.rsa) {
                (Who::OpenSsl, Verb::Sign, Some(key), _) => key.sign(digest, &mut made).map_err(peer(who))?,
                (Who::OpenSsl, Verb::Verify, Some(key), _) => key.verify(digest, signature).map_err(peer(who))?,
                (Who::Rsa, Verb::Sign, _, Some(key)) => made = key.sign(digest).map_err(peer(who))?,
                (Who::Rsa, Verb::Verify, _, Some(key)) => key.verify(digest, signature).map_err(peer(who))?,
                _ => {}
            }
            self.made.extend_from_slice(&made);
        }
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        // OpenSSL's DSA draws its nonces.
        if matches!(self.key.key(), PrivateKey::Rsa(_)) { &self.made } else { &[] }
    }
}
