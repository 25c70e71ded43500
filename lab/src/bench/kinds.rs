//! ECB, CBC and CTR of the ciphers beside AES, each against those who have it.

use tress_cipher::{Backend, BlockCipher, aes::Aes, lanes, modes, pipo::Pipo, rc6::Rc6, rijndael::Rijndael};
use tress_peers::{Direction, cryptopp, pipo, rustcrypto};

use super::{
    Error,
    aead::peer,
    blocks::Mode,
    case::{Who, Work},
};

const KEY: [u8; 32] = *b"thirty-two bytes of a key, or 16";
const IV: [u8; 32] = [0x5a; 32];
const MESSAGE_BYTES: usize = 16_384;
/// Messages a run: one alone is over before a clock has been read.
const MESSAGES: usize = 8;

/// Yardsticks.
pub(crate) const OWN_ENCRYPTION: Who = Who::Own("own-encryption");
pub(crate) const OWN_AES: Who = Who::Own("own-aes-256");
pub(crate) const ONE_AT_A_TIME: Who = Who::Own("one-at-a-time");

/// Somebody's way to transform one message.
type Apply = Box<dyn FnMut(&mut [u8]) -> Result<(), Error>>;

/// A message of 16 KiB over and over, by us and by others.
pub(crate) struct Kind {
    by: Vec<(Who, Apply)>,
    data: Vec<u8>,
    is_comparable: bool,
}

impl Kind {
    fn new(ours: Apply) -> Kind {
        Kind { by: vec![(Who::Ours, ours)], data: vec![0; MESSAGE_BYTES], is_comparable: true }
    }

    fn against(mut self, who: Who, apply: Apply) -> Kind {
        self.by.push((who, apply));
        self
    }

    /// Against our own work on something else.
    fn beside(mut self, yardstick: Who, apply: Apply) -> Kind {
        self.is_comparable = false;
        self.against(yardstick, apply)
    }

    /// RC6-32/20 with a key of 128 bits.
    pub(crate) fn rc6(backend: Backend, mode: Mode, direction: Direction) -> Result<Kind, Error> {
        let key = &KEY[..16];
        let theirs = rustcrypto::Rc6::new(key).map_err(peer(Who::RustCrypto))?;
        let cryptopp_mode = match mode {
            Mode::Ecb => cryptopp::Mode::Ecb,
            Mode::Cbc => cryptopp::Mode::Cbc,
            Mode::Ctr => cryptopp::Mode::Ctr,
        };
        let mut kind = Kind::new(ours(Rc6::with_backend(key, backend)?, mode, direction)).against(
            Who::RustCrypto,
            Box::new(move |data| {
                match mode {
                    Mode::Ecb => theirs.ecb(direction, data),
                    Mode::Cbc => theirs.cbc(direction, &IV[..16], data),
                    Mode::Ctr => theirs.ctr(&IV[..16], data),
                }
                .map_err(peer(Who::RustCrypto))
            }),
        );
        if cryptopp::available().is_ok() {
            let named = peer(Who::CryptoPp);
            let mut cipher = cryptopp::Rc6::new(cryptopp_mode, direction, key).map_err(&named)?;
            kind = kind.against(Who::CryptoPp, Box::new(move |data| cipher.apply(&[0x5a; 16], data).map_err(&named)));
        }
        Ok(kind)
    }

    /// PIPO-64/128.
    pub(crate) fn pipo(backend: Backend, mode: Mode, direction: Direction) -> Result<Kind, Error> {
        let cipher = || Pipo::with_backend(&KEY[..16], backend);
        let kind = Kind::new(ours(cipher()?, mode, direction)).against(
            Who::Pipo,
            Box::new(move |data| {
                match mode {
                    Mode::Ctr => pipo::ctr(&KEY[..16], &PIPO_COUNTER, data),
                    _ => pipo::ecb(&KEY[..16], direction, data),
                }
                .map_err(peer(Who::Pipo))
            }),
        );
        Ok(kind)
    }

    /// PIPO-64/128 in ECB, decryption beside our own encryption.
    pub(crate) fn pipo_directions(backend: Backend) -> Result<Kind, Error> {
        let cipher = || Pipo::with_backend(&KEY[..16], backend);
        Ok(Kind::new(ours(cipher()?, Mode::Ecb, Direction::Decrypt))
            .beside(OWN_ENCRYPTION, ours(cipher()?, Mode::Ecb, Direction::Encrypt)))
    }

    /// Rijndael with blocks and keys of 256 bits, beside AES-256 in the same mode.
    pub(crate) fn rijndael_256(backend: Backend, direction: Direction) -> Result<Kind, Error> {
        let wide = Rijndael::<32>::with_backend(&KEY, backend)?;
        let aes = Aes::with_backend(&KEY, backend)?;
        Ok(Kind::new(ours(wide, Mode::Ecb, direction)).beside(OWN_AES, ours(aes, Mode::Ecb, direction)))
    }
}

/// The first counter block of PIPO: its last two bytes count, from 0.
const PIPO_COUNTER: [u8; 8] = [0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0, 0];

/// Our way.
fn ours<C: BlockCipher + 'static>(cipher: C, mode: Mode, direction: Direction) -> Apply {
    let iv = if C::COUNTER_BYTES < C::BLOCK_BYTES { &PIPO_COUNTER[..] } else { &IV[..C::BLOCK_BYTES] };
    Box::new(move |data| {
        match (mode, direction) {
            (Mode::Ecb, Direction::Encrypt) => modes::ecb::encrypt(&cipher, data),
            (Mode::Ecb, Direction::Decrypt) => modes::ecb::decrypt(&cipher, data),
            (Mode::Cbc, Direction::Encrypt) => modes::cbc::encrypt(&cipher, iv, data),
            (Mode::Cbc, Direction::Decrypt) => modes::cbc::decrypt(&cipher, iv, data),
            (Mode::Ctr, _) => modes::ctr::apply(&cipher, iv, data),
        }?;
        Ok(())
    })
}

impl Work for Kind {
    fn bytes(&self, _: Who) -> u64 {
        (MESSAGE_BYTES * MESSAGES) as u64
    }

    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        self.data.fill(0x33);
        Ok(())
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        let Some((_, apply)) = self.by.iter_mut().find(|(by, _)| *by == who) else { return Ok(()) };
        for _ in 0..MESSAGES {
            apply(&mut self.data)?;
        }
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        if self.is_comparable { &self.data } else { &[] }
    }
}

/// CBC encryption of 64 messages in lanes, of any cipher.
pub(crate) struct Lanes<C> {
    cipher: C,
    buffer: Vec<u8>,
}

impl<C: BlockCipher> Lanes<C> {
    pub(crate) const MESSAGES: usize = 64;
    /// A distance that spreads the messages over the sets of the first cache.
    const DISTANCE: usize = MESSAGE_BYTES + 16;

    pub(crate) fn new(cipher: C) -> Lanes<C> {
        Lanes { cipher, buffer: vec![0; Lanes::<C>::MESSAGES * Lanes::<C>::DISTANCE] }
    }
}

impl<C: BlockCipher> Work for Lanes<C> {
    fn bytes(&self, _: Who) -> u64 {
        (Lanes::<C>::MESSAGES * MESSAGE_BYTES) as u64
    }

    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        self.buffer.fill(0x33);
        Ok(())
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        let iv = &IV[..C::BLOCK_BYTES];
        let messages = self.buffer.chunks_exact_mut(Lanes::<C>::DISTANCE).map(|chunk| &mut chunk[..MESSAGE_BYTES]);
        if who == ONE_AT_A_TIME {
            // One message after the other.
            for data in messages {
                modes::cbc::encrypt(&self.cipher, iv, data)?;
            }
            return Ok(());
        }
        let mut jobs =
            messages.map(|data| lanes::cbc::Job::new(&self.cipher, iv, data)).collect::<Result<Vec<_>, _>>()?;
        lanes::cbc::encrypt(&mut jobs);
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        &self.buffer
    }
}
