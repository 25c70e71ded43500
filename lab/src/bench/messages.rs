//! The work of a cipher's row: a mode over messages, by Tress, by the peers that have it, and by our own baselines.

use tress_cipher::{
    Aad, Backend, CcmCipher, Tag,
    catalogue::{self, FromKey, Mode, WithCipher},
    lanes, modes,
};
use tress_peers::Direction;

use super::{
    Error,
    call::{Call, Shape},
    theirs::{Party, theirs},
    work::{Who, Work},
};

/// Bytes of messages in a run. A shorter run would end before a clock has been read.
const RUN_BYTES: usize = 256 << 10;
/// Bytes of a run that needs a separate ciphertext for each call, so that the run stays in the second-level cache.
const PREPARED_BYTES: usize = 64 << 10;

/// Our rate at equal lengths.
pub(crate) const EQUAL_LENGTHS: Who = Who::Own("equal-lengths");
pub(crate) const OWN_ENCRYPTION: Who = Who::Own("own-encryption");
pub(crate) const OWN_AES: Who = Who::Own("own-aes-256");
pub(crate) const ONE_AT_A_TIME: Who = Who::Own("one-at-a-time");

/// The call that a baseline does in place of the row's.
fn instead(call: Call, yardstick: Who) -> Call {
    match yardstick {
        EQUAL_LENGTHS => Call { shape: Shape::Usual, ..call },
        OWN_ENCRYPTION => Call { direction: Direction::Encrypt, ..call },
        OWN_AES => Call { cipher: catalogue::find("aes-256").unwrap_or(call.cipher), ..call },
        _ => Call { shape: Shape::OneAtATime, ..call },
    }
}

/// The calls of a run, for every contender.
pub(crate) struct Messages {
    call: Call,
    by: Vec<(Who, Party)>,
    /// Makes ciphertexts with correct tags, where the run needs them.
    seal: Option<Party>,
    /// The messages of one call, or of all calls where each needs its own ciphertext.
    buffer: Vec<u8>,
    calls: usize,
    /// Baselines, each with a separate buffer.
    yardsticks: Vec<(Who, Messages)>,
}

impl Messages {
    pub(crate) fn new(call: Call, backend: Backend, peers: &[Who]) -> Result<Messages, Error> {
        let (mut by, mut yardsticks) = (vec![(Who::Ours, ours(call, backend)?)], Vec::new());
        for &who in peers {
            match who {
                Who::Own(_) => yardsticks.push((who, Messages::new(instead(call, who), backend, &[])?)),
                _ => by.push((who, theirs(call, who).map_err(who.failed())?)),
            }
        }
        let needs_tags = call.mode == Mode::Ccm && call.direction == Direction::Decrypt;
        let seal = needs_tags.then(|| ours(Call { direction: Direction::Encrypt, ..call }, backend)).transpose()?;
        let calls = (if needs_tags { PREPARED_BYTES } else { RUN_BYTES } / call.bytes()).max(1);
        let buffers = if needs_tags { calls } else { 1 };
        Ok(Messages { call, by, seal, buffer: vec![0; buffers * call.buffer_bytes()], calls, yardsticks })
    }

    /// The work of a baseline, or `self`; and the contender that runs it.
    fn of(&mut self, who: Who) -> (&mut Messages, Who) {
        match self.yardsticks.iter().position(|(yardstick, _)| *yardstick == who) {
            Some(place) => (&mut self.yardsticks[place].1, Who::Ours),
            None => (self, who),
        }
    }
}

impl Work for Messages {
    fn bytes(&self, who: Who) -> u64 {
        let yardstick = self.yardsticks.iter().find(|(yardstick, _)| *yardstick == who);
        let Messages { calls, call, .. } = yardstick.map_or(self, |(_, work)| work);
        (calls * call.bytes()) as u64
    }

    fn needs_preparation(&self) -> bool {
        self.seal.is_some()
    }

    fn prepare(&mut self, who: Who) -> Result<(), Error> {
        let (Messages { seal, buffer, call, .. }, _) = self.of(who);
        match seal {
            // Written over the last run's output, so that only this buffer is in the caches.
            Some(seal) => buffer.chunks_exact_mut(call.buffer_bytes()).try_for_each(seal),
            None => {
                buffer.fill(0x33);
                Ok(())
            }
        }
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        let (Messages { call, by, seal, buffer, calls, .. }, who) = self.of(who);
        let Some((_, party)) = by.iter_mut().find(|(by, _)| *by == who) else { return Ok(()) };
        if seal.is_some() {
            return buffer.chunks_exact_mut(call.buffer_bytes()).try_for_each(party);
        }
        for _ in 0..*calls {
            party(buffer)?;
        }
        Ok(())
    }

    fn output(&self, who: Who) -> &[u8] {
        match who {
            // GCM gives other output than CCM.
            Who::AwsLcRsGcm | Who::RingGcm => &[],
            ONE_AT_A_TIME => self.yardsticks.first().map_or(&[], |(_, work)| &work.buffer),
            Who::Own(_) => &[],
            _ => &self.buffer,
        }
    }
}

fn ours(call: Call, backend: Backend) -> Result<Party, Error> {
    struct Ours(Call, Backend);

    impl Ours {
        fn keys<C: FromKey>(&self) -> Result<Vec<C>, tress_cipher::Error> {
            self.0.keys().iter().map(|key| C::with_backend(key, self.1)).collect()
        }
    }

    impl WithCipher for Ours {
        type Output = Result<Party, tress_cipher::Error>;

        fn block<C: FromKey>(self) -> Self::Output {
            Ok(plain::<C>(self.keys()?, self.0))
        }

        fn ccm<C: FromKey + CcmCipher>(self) -> Self::Output {
            if self.0.mode == Mode::Ccm { Ok(with_ccm::<C>(self.keys()?, self.0)) } else { self.block::<C>() }
        }
    }

    Ok(call.cipher.with(Ours(call, backend))?)
}

/// ECB, CBC and CTR.
fn plain<C: FromKey>(ciphers: Vec<C>, call: Call) -> Party {
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
    each(call, move |number, data, _| {
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

fn with_ccm<C: FromKey + CcmCipher>(ciphers: Vec<C>, call: Call) -> Party {
    let (nonces, of_all) = (call.nonces(), ciphers.len() - 1);
    if !call.in_lanes() {
        return each(call, move |number, data, tag| {
            let (cipher, nonce) = (&ciphers[number.min(of_all)], &nonces[number]);
            match call.direction {
                Direction::Encrypt => modes::ccm::seal(cipher, nonce, Aad(b""), data, tag),
                Direction::Decrypt => modes::ccm::open(cipher, nonce, Aad(b""), data, Tag::new(tag, tag.len())?),
            }
        });
    }
    Box::new(move |buffer| {
        let messages = call.messages(buffer);
        let of = |number: usize| (&ciphers[number.min(of_all)], &nonces[number]);
        match call.direction {
            Direction::Encrypt => {
                let mut jobs = Vec::with_capacity(call.lanes);
                for (number, data, tag) in messages {
                    let (cipher, nonce) = of(number);
                    jobs.push(lanes::ccm::Seal::new(cipher, nonce, Aad(b""), data, tag)?);
                }
                Ok(lanes::ccm::seal(&mut jobs)?)
            }
            Direction::Decrypt => {
                let mut jobs = Vec::with_capacity(call.lanes);
                for (number, data, tag) in messages {
                    let ((cipher, nonce), tag) = (of(number), Tag::new(tag, tag.len())?);
                    jobs.push(lanes::ccm::Open::new(cipher, nonce, Aad(b""), data, tag)?);
                }
                Ok(lanes::ccm::open(&mut jobs).map_err(tress_cipher::Error::from)?)
            }
        }
    })
}

/// One message after the other.
fn each(
    call: Call,
    mut one: impl FnMut(usize, &mut [u8], &mut [u8]) -> Result<(), tress_cipher::Error> + 'static,
) -> Party {
    Box::new(move |buffer| call.each(buffer, &mut one).map_err(Into::into))
}
