//! Messages of one length under one key, by any cipher in any mode: the work of the matrix's rows, by us and by those who have
//! the cipher.

use tress_cipher::{
    Backend, CcmCipher,
    catalogue::{Cipher, FromKey, Mode, WithCipher},
    lanes, modes,
};
#[cfg(feature = "aws-lc-rs")]
use tress_peers::aws_lc_rs;
use tress_peers::{Direction, cryptopp, gcrypt, ipsec_mb, openssl, pipo, rustcrypto};

use super::{
    Error,
    aead::peer,
    case::{Who, Work},
};

const KEY: [u8; 32] = *b"thirty-two bytes of a key, or 16";
const IV: [u8; 32] = [0x5a; 32];
/// The first counter block of PIPO: its last two bytes count, from 0.
const PIPO_COUNTER: [u8; 8] = [0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0, 0];
const NONCE_BYTES: usize = 12;
/// As in the container. Other modes have as much room between messages, which spreads them over the sets of the first cache.
const TAG_BYTES: usize = 16;
/// Bytes of messages in a run: less is over before a clock has been read.
const RUN_BYTES: usize = 256 << 10;
/// The same of what needs a ciphertext of its own for each call, so that it stays in the second cache.
const PREPARED_BYTES: usize = 64 << 10;

/// What one call works on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) cipher: &'static Cipher,
    pub(crate) mode: Mode,
    pub(crate) direction: Direction,
    pub(crate) lanes: usize,
    pub(crate) message_bytes: usize,
}

impl Call {
    /// A message and the room behind it.
    fn distance(&self) -> usize {
        self.message_bytes + TAG_BYTES
    }

    pub(crate) fn buffer_bytes(&self) -> usize {
        self.lanes * self.distance()
    }

    /// Every message of a buffer with its number and its tag.
    fn messages<'a>(&self, buffer: &'a mut [u8]) -> impl Iterator<Item = (usize, &'a mut [u8], &'a mut [u8])> {
        let (distance, bytes) = (self.distance(), self.message_bytes);
        let split = move |message: &'a mut [u8]| message.split_at_mut(bytes);
        buffer.chunks_exact_mut(distance).map(split).enumerate().map(|(number, (data, tag))| (number, data, tag))
    }

    fn key(&self) -> &'static [u8] {
        &KEY[..self.cipher.key_bytes]
    }

    fn iv(&self) -> &'static [u8] {
        match (self.cipher.family(), self.mode) {
            (_, Mode::Ecb) => &[],
            ("pipo", Mode::Ctr) => &PIPO_COUNTER,
            _ => &IV[..self.cipher.block_bytes],
        }
    }
}

fn nonce(number: usize) -> [u8; NONCE_BYTES] {
    let mut nonce = [0x5a; NONCE_BYTES];
    nonce[4..].copy_from_slice(&(number as u64).to_be_bytes());
    nonce
}

/// Somebody's way to do all messages of a call.
type Party = Box<dyn FnMut(&mut [u8]) -> Result<(), Error>>;

/// The calls of a run, by everybody.
pub(crate) struct Messages {
    call: Call,
    by: Vec<(Who, Party)>,
    /// Makes ciphertexts with true tags, where these are needed.
    seal: Option<Party>,
    /// The messages of one call, or of as many as there are ciphertexts.
    buffer: Vec<u8>,
    calls: usize,
}

impl Messages {
    pub(crate) fn new(call: Call, backend: Backend, peers: &[Who]) -> Result<Messages, Error> {
        let mut by = vec![(Who::Ours, ours(call, backend)?)];
        for &who in peers {
            by.push((who, theirs(call, who).map_err(peer(who))?));
        }
        let needs_tags = call.mode == Mode::Ccm && call.direction == Direction::Decrypt;
        let seal = needs_tags.then(|| ours(Call { direction: Direction::Encrypt, ..call }, backend)).transpose()?;
        let run_bytes = if needs_tags { PREPARED_BYTES } else { RUN_BYTES };
        let calls = (run_bytes / (call.lanes * call.message_bytes)).max(1);
        let buffers = if needs_tags { calls } else { 1 };
        Ok(Messages { call, by, seal, buffer: vec![0; buffers * call.buffer_bytes()], calls })
    }
}

impl Work for Messages {
    fn bytes(&self, _: Who) -> u64 {
        (self.calls * self.call.lanes * self.call.message_bytes) as u64
    }

    fn needs_preparation(&self) -> bool {
        self.seal.is_some()
    }

    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        match &mut self.seal {
            // In place of what the last run decrypted, so that nothing but the buffer is in the caches.
            Some(seal) => self.buffer.chunks_exact_mut(self.call.buffer_bytes()).try_for_each(seal),
            None => {
                self.buffer.fill(0x33);
                Ok(())
            }
        }
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        let Some((_, party)) = self.by.iter_mut().find(|(by, _)| *by == who) else { return Ok(()) };
        if self.seal.is_some() {
            return self.buffer.chunks_exact_mut(self.call.buffer_bytes()).try_for_each(party);
        }
        for _ in 0..self.calls {
            party(&mut self.buffer)?;
        }
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        &self.buffer
    }
}

fn ours(call: Call, backend: Backend) -> Result<Party, Error> {
    struct Ours(Call, Backend);

    impl WithCipher for Ours {
        type Output = Result<Party, tress_cipher::Error>;

        fn block<C: FromKey>(self) -> Self::Output {
            Ok(plain(C::with_backend(self.0.key(), self.1)?, self.0))
        }

        fn ccm<C: FromKey + CcmCipher>(self) -> Self::Output {
            Ok(with_ccm(C::with_backend(self.0.key(), self.1)?, self.0))
        }
    }

    Ok(call.cipher.with(Ours(call, backend))?)
}

/// ECB, CBC and CTR.
fn plain<C: FromKey>(cipher: C, call: Call) -> Party {
    let iv = call.iv();
    if call.lanes > 1 && (call.mode, call.direction) == (Mode::Cbc, Direction::Encrypt) {
        return Box::new(move |buffer| {
            let jobs = call.messages(buffer).map(|(_, data, _)| lanes::cbc::Job::new(&cipher, iv, data));
            lanes::cbc::encrypt(&mut jobs.collect::<Result<Vec<_>, _>>()?);
            Ok(())
        });
    }
    each(call, move |_, data, _| match (call.mode, call.direction) {
        (Mode::Ecb, Direction::Encrypt) => modes::ecb::encrypt(&cipher, data),
        (Mode::Ecb, Direction::Decrypt) => modes::ecb::decrypt(&cipher, data),
        (Mode::Cbc, Direction::Encrypt) => modes::cbc::encrypt(&cipher, iv, data),
        (Mode::Cbc, Direction::Decrypt) => modes::cbc::decrypt(&cipher, iv, data),
        (Mode::Ctr | Mode::Ccm, _) => modes::ctr::apply(&cipher, iv, data),
    })
}

/// Every mode.
fn with_ccm<C: FromKey + CcmCipher>(cipher: C, call: Call) -> Party {
    if call.mode != Mode::Ccm {
        return plain(cipher, call);
    }
    if call.lanes == 1 {
        return each(call, move |number, data, tag| match call.direction {
            Direction::Encrypt => modes::ccm::encrypt(&cipher, &nonce(number), b"", data, tag),
            Direction::Decrypt => modes::ccm::decrypt(&cipher, &nonce(number), b"", data, tag),
        });
    }
    let nonces: Vec<_> = (0..call.lanes).map(nonce).collect();
    Box::new(move |buffer| {
        let jobs = call
            .messages(buffer)
            .map(|(number, data, tag)| lanes::ccm::Job::new(&cipher, &nonces[number], b"", data, tag));
        let mut jobs = jobs.collect::<Result<Vec<_>, _>>()?;
        match call.direction {
            Direction::Encrypt => lanes::ccm::encrypt(&mut jobs),
            Direction::Decrypt if lanes::ccm::decrypt(&mut jobs) > 0 => {
                return Err(tress_cipher::Error::Authentication.into());
            }
            Direction::Decrypt => {}
        }
        Ok(())
    })
}

/// One message after the other.
fn each<E: Into<Error>>(
    call: Call,
    mut one: impl FnMut(usize, &mut [u8], &mut [u8]) -> Result<(), E> + 'static,
) -> Party {
    Box::new(move |buffer| {
        call.messages(buffer).try_for_each(|(number, data, tag)| one(number, data, tag)).map_err(Into::into)
    })
}

/// The peers that have this call, whether they are installed or not.
pub(crate) fn peers(call: &Call) -> Vec<Who> {
    let is_short = call.message_bytes < 1 << 16;
    let has = |who: &Who| match (who, call.cipher.family()) {
        (Who::OpenSsl | Who::Gcrypt | Who::RustCrypto, "aes") => true,
        (Who::IpsecMb, "aes") => match call.mode {
            Mode::Ccm => is_short && call.cipher.key_bytes != 24,
            Mode::Cbc => is_short,
            _ => true,
        },
        (Who::AwsLcRs, "aes") => call.mode != Mode::Ccm,
        (Who::RustCrypto | Who::CryptoPp, "rc6") => call.mode != Mode::Ccm,
        (Who::Pipo, "pipo") => call.mode != Mode::Cbc,
        _ => false,
    };
    let all = [Who::OpenSsl, Who::IpsecMb, Who::Gcrypt, Who::RustCrypto, Who::AwsLcRs, Who::CryptoPp, Who::Pipo];
    all.into_iter().filter(has).collect()
}

/// Their way, of those that [`peers`] lists.
fn theirs(call: Call, who: Who) -> Result<Party, tress_peers::Error> {
    let Call { mode, direction, .. } = call;
    let (key, iv) = (call.key(), call.iv());
    let named = peer(who);
    Ok(match (who, call.cipher.family()) {
        (Who::OpenSsl, _) if mode == Mode::Ccm => {
            let mut aead = openssl::Aead::new(openssl::AeadMode::Ccm, key, NONCE_BYTES, TAG_BYTES, direction)?;
            each(call, move |number, data, tag| {
                match direction {
                    Direction::Encrypt => aead.encrypt(&nonce(number), b"", data, tag),
                    Direction::Decrypt => aead.decrypt(&nonce(number), b"", data, tag),
                }
                .map_err(&named)
            })
        }
        (Who::OpenSsl, _) => {
            let theirs = match mode {
                Mode::Ecb => openssl::Mode::Ecb,
                Mode::Cbc => openssl::Mode::Cbc,
                _ => openssl::Mode::Ctr,
            };
            let mut cipher = openssl::Cipher::new(theirs, key, direction)?;
            each(call, move |_, data, _| cipher.apply(iv, data).map_err(&named))
        }
        (Who::Gcrypt, _) if mode == Mode::Ccm => {
            let mut cipher = gcrypt::Cipher::new(gcrypt::Mode::Ccm, key)?;
            each(call, move |number, data, tag| {
                match direction {
                    Direction::Encrypt => cipher.encrypt(&nonce(number), b"", data, tag),
                    Direction::Decrypt => cipher.decrypt(&nonce(number), b"", data, tag),
                }
                .map_err(&named)
            })
        }
        (Who::Gcrypt, _) => {
            let theirs = match mode {
                Mode::Ecb => gcrypt::Mode::Ecb,
                Mode::Cbc => gcrypt::Mode::Cbc,
                _ => gcrypt::Mode::Ctr,
            };
            let mut cipher = gcrypt::Cipher::new(theirs, key)?;
            each(call, move |_, data, _| cipher.apply(direction, iv, data).map_err(&named))
        }
        #[cfg(feature = "aws-lc-rs")]
        (Who::AwsLcRs, _) => {
            let theirs = match mode {
                Mode::Ecb => aws_lc_rs::Mode::Ecb,
                Mode::Cbc => aws_lc_rs::Mode::Cbc,
                _ => aws_lc_rs::Mode::Ctr,
            };
            let cipher = aws_lc_rs::Cipher::new(theirs, key, direction)?;
            each(call, move |_, data, _| cipher.apply(iv, data).map_err(&named))
        }
        (Who::IpsecMb, _) => {
            let mut batch = by_ipsec_mb(call)?;
            Box::new(move |buffer| batch.run(buffer).map_err(&named))
        }
        (Who::RustCrypto, "aes") if mode == Mode::Ccm => {
            let aead = rustcrypto::Aead::ccm(key)?;
            each(call, move |number, data, tag| {
                match direction {
                    Direction::Encrypt => aead.encrypt(&nonce(number), b"", data, tag),
                    Direction::Decrypt => aead.decrypt(&nonce(number), b"", data, tag),
                }
                .map_err(&named)
            })
        }
        (Who::RustCrypto, "aes") => {
            let cipher = rustcrypto::Cipher::new(key)?;
            each(call, move |_, data, _| {
                match mode {
                    Mode::Ecb => cipher.ecb(direction, data),
                    Mode::Cbc => cipher.cbc(direction, iv, data),
                    _ => cipher.ctr(iv, data),
                }
                .map_err(&named)
            })
        }
        (Who::RustCrypto, _) => {
            let cipher = rustcrypto::Rc6::new(key)?;
            each(call, move |_, data, _| {
                match mode {
                    Mode::Ecb => cipher.ecb(direction, data),
                    Mode::Cbc => cipher.cbc(direction, iv, data),
                    _ => cipher.ctr(iv, data),
                }
                .map_err(&named)
            })
        }
        (Who::CryptoPp, _) => {
            let theirs = match mode {
                Mode::Ecb => cryptopp::Mode::Ecb,
                Mode::Cbc => cryptopp::Mode::Cbc,
                _ => cryptopp::Mode::Ctr,
            };
            let mut cipher = cryptopp::Rc6::new(theirs, direction, key)?;
            each(call, move |_, data, _| cipher.apply(&[0x5a; 16], data).map_err(&named))
        }
        (Who::Pipo, _) if mode == Mode::Ctr => {
            each(call, move |_, data, _| pipo::ctr(key, &PIPO_COUNTER, data).map_err(&named))
        }
        (Who::Pipo, _) => each(call, move |_, data, _| pipo::ecb(key, direction, data).map_err(&named)),
        _ => return Err(tress_peers::Error::Refused("this cipher")),
    })
}

/// All messages as jobs of one batch.
fn by_ipsec_mb(call: Call) -> Result<ipsec_mb::Batch, tress_peers::Error> {
    let nonces: Vec<_> = (0..call.lanes).map(nonce).collect();
    let (mode, tag_bytes) = match call.mode {
        Mode::Ecb => (ipsec_mb::Mode::Ecb, 0),
        Mode::Cbc => (ipsec_mb::Mode::Cbc, 0),
        Mode::Ctr => (ipsec_mb::Mode::Ctr, 0),
        Mode::Ccm => (ipsec_mb::Mode::Ccm, TAG_BYTES),
    };
    let messages: Vec<_> = (nonces.iter().enumerate())
        .map(|(number, nonce)| ipsec_mb::Message {
            key: 0,
            iv: if call.mode == Mode::Ccm { nonce } else { call.iv() },
            aad: b"",
            start: number * call.distance(),
            bytes: call.message_bytes,
            tag_bytes,
        })
        .collect();
    ipsec_mb::Batch::new(mode, call.direction, &[call.key()], &messages)
}
