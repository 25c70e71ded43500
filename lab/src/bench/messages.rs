//! The work of a cipher's row: a mode over messages, by Tress, by the peers that have it, and by our own baselines.

use tress_cipher::catalogue::{self, FromKey, Mode, WithCipher};
use tress_cipher::cpu::set_ccm_registers;
use tress_cipher::{Aad, Backend, CcmCipher, Tag, lanes, modes};
use tress_peers::Direction;

use super::Error;
use super::call::{Call, Shape};
use super::record::BASELINES;
use super::theirs::{Implementation, peer_implementation};
use super::work::{Contender, TimedWork};

/// Bytes of messages in a run. A shorter run would end before a clock has been read.
const RUN_BYTES: usize = 256 << 10;
/// Bytes of a run that needs a separate ciphertext for each call, so that the run stays in the second-level cache.
const PREPARED_BYTES: usize = 64 << 10;

/// Our rate at equal lengths.
pub(crate) const EQUAL_LENGTHS: Contender = Contender::Baseline(BASELINES[0]);
pub(crate) const OWN_ENCRYPTION: Contender = Contender::Baseline(BASELINES[1]);
pub(crate) const OWN_AES: Contender = Contender::Baseline(BASELINES[2]);
pub(crate) const ONE_AT_A_TIME: Contender = Contender::Baseline(BASELINES[3]);

/// The call that a baseline does in place of the row's.
fn baseline_call(call: Call, baseline: Contender) -> Call {
    match baseline {
        EQUAL_LENGTHS => Call { shape: Shape::Usual, ..call },
        OWN_ENCRYPTION => Call { direction: Direction::Encrypt, ..call },
        OWN_AES => Call { cipher: catalogue::find("aes-256").unwrap_or(call.cipher), ..call },
        _ => Call { shape: Shape::OneAtATime, ..call },
    }
}

/// The calls of a run, for every contender.
pub(crate) struct Messages {
    call: Call,
    implementations: Vec<(Contender, Implementation)>,
    /// Makes ciphertexts with correct tags, where the run needs them.
    seal: Option<Implementation>,
    /// The messages of one call, or of all calls where each needs its own ciphertext.
    buffer: Vec<u8>,
    calls: usize,
    /// Baselines, each with a separate buffer.
    baselines: Vec<(Contender, Messages)>,
}

impl Messages {
    pub(crate) fn new(call: Call, backend: Backend, peers: &[Contender]) -> Result<Messages, Error> {
        let (mut implementations, mut baselines) =
            (vec![(Contender::Tress, our_implementation(call, backend)?)], Vec::new());
        for &contender in peers {
            match contender {
                Contender::Baseline(_) => {
                    baselines.push((contender, Messages::new(baseline_call(call, contender), backend, &[])?))
                }
                _ => {
                    implementations.push((contender, peer_implementation(call, contender).map_err(contender.failed())?))
                }
            }
        }
        let needs_tags = call.mode == Mode::Ccm && call.direction == Direction::Decrypt;
        let seal = needs_tags
            .then(|| our_implementation(Call { direction: Direction::Encrypt, ..call }, backend))
            .transpose()?;
        let calls = (if needs_tags { PREPARED_BYTES } else { RUN_BYTES } / call.bytes()).max(1);
        let buffers = if needs_tags { calls } else { 1 };
        Ok(Messages { call, implementations, seal, buffer: vec![0; buffers * call.buffer_bytes()], calls, baselines })
    }

    /// The work of a baseline, or `self`; and the contender that runs it.
    fn resolve(&mut self, contender: Contender) -> (&mut Messages, Contender) {
        match self.baselines.iter().position(|(baseline, _)| *baseline == contender) {
            Some(place) => (&mut self.baselines[place].1, Contender::Tress),
            None => (self, contender),
        }
    }
}

impl TimedWork for Messages {
    fn bytes(&self, contender: Contender) -> u64 {
        let baseline = self.baselines.iter().find(|(baseline, _)| *baseline == contender);
        let Messages { calls, call, .. } = baseline.map_or(self, |(_, work)| work);
        (calls * call.bytes()) as u64
    }

    fn needs_preparation(&self) -> bool {
        self.seal.is_some()
    }

    fn prepare(&mut self, contender: Contender) -> Result<(), Error> {
        let (Messages { seal, buffer, call, .. }, _) = self.resolve(contender);
        match seal {
            // Written over the last run's output, so that only this buffer is in the caches.
            Some(seal) => buffer.chunks_exact_mut(call.buffer_bytes()).try_for_each(seal),
            None => {
                buffer.fill(0x33);
                Ok(())
            }
        }
    }

    fn run(&mut self, contender: Contender) -> Result<(), Error> {
        let (Messages { call, implementations, seal, buffer, calls, .. }, contender) = self.resolve(contender);
        let Some((_, implementation)) = implementations.iter_mut().find(|(owner, _)| *owner == contender) else {
            return Ok(());
        };
        if seal.is_some() {
            return buffer.chunks_exact_mut(call.buffer_bytes()).try_for_each(implementation);
        }
        for _ in 0..*calls {
            implementation(buffer)?;
        }
        Ok(())
    }

    fn output(&self, contender: Contender) -> &[u8] {
        match contender {
            // GCM gives other output than CCM.
            _ if contender.is_gcm() => &[],
            ONE_AT_A_TIME => self.baselines.first().map_or(&[], |(_, work)| &work.buffer),
            Contender::Baseline(_) => &[],
            _ => &self.buffer,
        }
    }
}

fn our_implementation(call: Call, backend: Backend) -> Result<Implementation, Error> {
    struct TressCall(Call, Backend);

    impl TressCall {
        fn keys<C: FromKey>(&self) -> Result<Vec<C>, tress_cipher::Error> {
            self.0.keys().iter().map(|key| C::with_backend(key, self.1)).collect()
        }
    }

    impl WithCipher for TressCall {
        type Output = Result<Implementation, tress_cipher::Error>;

        fn block<C: FromKey>(self) -> Self::Output {
            Ok(plain::<C>(self.keys()?, self.0))
        }

        fn ccm<C: FromKey + CcmCipher>(self) -> Self::Output {
            if self.0.mode == Mode::Ccm { Ok(with_ccm::<C>(self.keys()?, self.0)) } else { self.block::<C>() }
        }
    }

    Ok(call.cipher.with(TressCall(call, backend))?)
}

/// ECB, CBC and CTR.
fn plain<C: FromKey>(ciphers: Vec<C>, call: Call) -> Implementation {
    let (iv, of_all) = (call.iv(), ciphers.len() - 1);
    if call.in_lanes() {
        return Box::new(move |buffer| {
            let mut jobs = Vec::with_capacity(call.lanes);
            for (number, data, _) in call.messages(buffer) {
                jobs.push(lanes::cbc::Job::new(&ciphers[number.min(of_all)], &iv, data)?);
            }
            lanes::cbc::encrypt(&mut jobs);
            Ok(())
        });
    }
    for_each_message(call, move |number, data, _| {
        let cipher = &ciphers[number.min(of_all)];
        match (call.mode, call.direction) {
            (Mode::Ecb, Direction::Encrypt) => modes::ecb::encrypt(cipher, data),
            (Mode::Ecb, Direction::Decrypt) => modes::ecb::decrypt(cipher, data),
            (Mode::Cbc, Direction::Encrypt) => modes::cbc::encrypt(cipher, &iv, data),
            (Mode::Cbc, Direction::Decrypt) => modes::cbc::decrypt(cipher, &iv, data),
            (Mode::Ctr | Mode::Ccm, _) => modes::ctr::apply(cipher, &iv, data),
        }
    })
}

fn with_ccm<C: FromKey + CcmCipher>(ciphers: Vec<C>, call: Call) -> Implementation {
    let (nonces, of_all) = (call.nonces(), ciphers.len() - 1);
    if !call.in_lanes() {
        return for_each_message(call, move |number, data, tag| {
            let (cipher, nonce) = (&ciphers[number.min(of_all)], &nonces[number]);
            match call.direction {
                Direction::Encrypt => modes::ccm::seal(cipher, nonce, Aad(b""), data, tag),
                Direction::Decrypt => modes::ccm::open(cipher, nonce, Aad(b""), data, Tag::new(tag, tag.len())?),
            }
        });
    }
    Box::new(move |buffer| {
        set_ccm_registers(call.registers);
        let messages = call.messages(buffer);
        let key_and_nonce = |number: usize| (&ciphers[number.min(of_all)], &nonces[number]);
        match call.direction {
            Direction::Encrypt => {
                let mut jobs = Vec::with_capacity(call.lanes);
                for (number, data, tag) in messages {
                    let (cipher, nonce) = key_and_nonce(number);
                    jobs.push(lanes::ccm::Seal::new(cipher, nonce, Aad(b""), data, tag)?);
                }
                Ok(lanes::ccm::seal(&mut jobs)?)
            }
            Direction::Decrypt => {
                let mut jobs = Vec::with_capacity(call.lanes);
                for (number, data, tag) in messages {
                    let ((cipher, nonce), tag) = (key_and_nonce(number), Tag::new(tag, tag.len())?);
                    jobs.push(lanes::ccm::Open::new(cipher, nonce, Aad(b""), data, tag)?);
                }
                Ok(lanes::ccm::open(&mut jobs).map_err(tress_cipher::Error::from)?)
            }
        }
    })
}

fn for_each_message(
    call: Call,
    mut process: impl FnMut(usize, &mut [u8], &mut [u8]) -> Result<(), tress_cipher::Error> + 'static,
) -> Implementation {
    Box::new(move |buffer| call.for_each_message(buffer, &mut process).map_err(Into::into))
}
