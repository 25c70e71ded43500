//! CCM: many messages in lanes, mixed lengths, and one message alone.

use tress_cipher::{Backend, aes::Aes, lanes, modes};
use tress_peers::{Direction, gcrypt, ipsec_mb, openssl, rustcrypto};

use super::{
    Error,
    case::{EQUAL_LENGTHS, Who, Work},
};

/// As in the container: 12-byte nonces, 16-byte tags, no associated data.
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;

/// Messages of equal length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) key_bytes: usize,
    pub(crate) messages: usize,
    pub(crate) message_bytes: usize,
    /// Whether every message has a key of its own.
    pub(crate) key_each: bool,
}

/// Messages one after the other, each followed by its tag, as in the container.
pub(crate) struct Ccm {
    direction: Direction,
    lengths: Vec<usize>,
    buffer: Vec<u8>,
    nonces: Vec<[u8; NONCE_BYTES]>,
    /// One, or one a message.
    ours: Vec<Aes>,
    openssl: Vec<openssl::Aead>,
    ipsec_mb: Option<(ipsec_mb::Manager, Vec<ipsec_mb::Key>)>,
    gcrypt: Vec<gcrypt::Cipher>,
    rustcrypto: Vec<rustcrypto::Aead>,
    #[cfg(feature = "aws-lc-rs")]
    aws_lc_rs_gcm: Option<tress_peers::aws_lc_rs::Gcm>,
    #[cfg(feature = "ring")]
    ring_gcm: Option<tress_peers::ring::Gcm>,
}

impl Ccm {
    pub(crate) fn new(backend: Backend, direction: Direction, shape: Shape) -> Result<Ccm, Error> {
        let keys = if shape.key_each { shape.messages } else { 1 };
        Ccm::with_lengths(backend, direction, shape.key_bytes, keys, vec![shape.message_bytes; shape.messages])
    }

    fn with_lengths(
        backend: Backend,
        direction: Direction,
        key_bytes: usize,
        keys: usize,
        lengths: Vec<usize>,
    ) -> Result<Ccm, Error> {
        let keys: Vec<Vec<u8>> =
            (0..keys).map(|key| (0..key_bytes).map(|i| (key * 37 + i * 11 + 1) as u8).collect()).collect();
        let nonces = (0..lengths.len() as u64)
            .map(|message| {
                let mut nonce = [0x5a; NONCE_BYTES];
                nonce[4..].copy_from_slice(&message.to_be_bytes());
                nonce
            })
            .collect();
        let (openssl, ipsec_mb) = (peer(Who::OpenSsl), peer(Who::IpsecMb));
        let ours = keys.iter().map(|key| Aes::with_backend(key, backend)).collect::<Result<_, _>>()?;
        Ok(Ccm {
            direction,
            buffer: vec![0; lengths.iter().sum::<usize>() + lengths.len() * TAG_BYTES],
            lengths,
            nonces,
            ours,
            openssl: match openssl::available() {
                Ok(()) => keys
                    .iter()
                    .map(|key| openssl::Aead::new(openssl::AeadMode::Ccm, key, NONCE_BYTES, TAG_BYTES, direction))
                    .collect::<Result<_, _>>()
                    .map_err(openssl)?,
                Err(_) => Vec::new(),
            },
            ipsec_mb: match ipsec_mb::available() {
                Ok(()) => {
                    let manager = ipsec_mb::Manager::new().map_err(&ipsec_mb)?;
                    let keys = keys.iter().map(|key| manager.key(key)).collect::<Result<_, _>>().map_err(ipsec_mb)?;
                    Some((manager, keys))
                }
                Err(_) => None,
            },
            gcrypt: match gcrypt::available() {
                Ok(()) => keys
                    .iter()
                    .map(|key| gcrypt::Cipher::new(gcrypt::Mode::Ccm, key))
                    .collect::<Result<_, _>>()
                    .map_err(peer(Who::Gcrypt))?,
                Err(_) => Vec::new(),
            },
            // Keys of 128 bits.
            #[cfg(feature = "aws-lc-rs")]
            aws_lc_rs_gcm: tress_peers::aws_lc_rs::Gcm::new(&keys[0]).ok(),
            #[cfg(feature = "ring")]
            ring_gcm: tress_peers::ring::Gcm::new(&keys[0]).ok(),
            rustcrypto: keys
                .iter()
                .map(|key| rustcrypto::Aead::ccm(key))
                .collect::<Result<_, _>>()
                .map_err(peer(Who::RustCrypto))?,
        })
    }

    /// Our side, in lanes, or by the mode when there is one message only.
    fn run_ours(&mut self, direction: Direction) -> Result<(), Error> {
        let Ccm { ours, nonces, lengths, buffer, .. } = self;
        if lengths.len() == 1 {
            let (data, tag) = buffer.split_at_mut(lengths[0]);
            match direction {
                Direction::Encrypt => modes::ccm::encrypt(&ours[0], &nonces[0], b"", data, tag)?,
                Direction::Decrypt => modes::ccm::decrypt(&ours[0], &nonces[0], b"", data, tag)?,
            }
            return Ok(());
        }
        let mut jobs = Vec::with_capacity(lengths.len());
        for (index, (data, tag)) in messages(buffer, lengths).enumerate() {
            jobs.push(lanes::ccm::Job::new(&ours[index % ours.len()], &nonces[index], b"", data, tag)?);
        }
        match direction {
            Direction::Encrypt => lanes::ccm::encrypt(&mut jobs),
            Direction::Decrypt => match lanes::ccm::decrypt(&mut jobs) {
                0 => {}
                _ => return Err(tress_cipher::Error::Authentication.into()),
            },
        }
        Ok(())
    }
}

/// Every message and its tag.
fn messages<'a>(buffer: &'a mut [u8], lengths: &'a [usize]) -> impl Iterator<Item = (&'a mut [u8], &'a mut [u8])> {
    let mut rest = buffer;
    lengths.iter().map(move |&length| {
        let (message, after) = std::mem::take(&mut rest).split_at_mut(length + TAG_BYTES);
        rest = after;
        message.split_at_mut(length)
    })
}

/// Names the peer whose error it is.
pub(crate) fn peer(who: Who) -> impl Fn(tress_peers::Error) -> Error {
    move |error| Error::Peer(who.name(), error)
}

impl Work for Ccm {
    fn bytes(&self, _: Who) -> u64 {
        self.lengths.iter().sum::<usize>() as u64
    }

    /// Decrypting needs a ciphertext with a true tag each time; encrypting can go over its own output.
    fn needs_preparation(&self) -> bool {
        self.direction == Direction::Decrypt
    }

    /// Ciphertexts are made in place from what the last run decrypted, so that nothing but the buffer is in the caches.
    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        match self.direction {
            Direction::Encrypt => self.buffer.fill(0x33),
            Direction::Decrypt => self.run_ours(Direction::Encrypt)?,
        }
        Ok(())
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        let direction = self.direction;
        if matches!(who, Who::Ours | Who::Own(_)) {
            return self.run_ours(direction);
        }
        #[cfg(feature = "aws-lc-rs")]
        if let (Who::AwsLcRsGcm, Some(gcm)) = (who, &self.aws_lc_rs_gcm) {
            let mut messages = messages(&mut self.buffer, &self.lengths).zip(&self.nonces);
            return messages.try_for_each(|((data, tag), nonce)| gcm.encrypt(nonce, b"", data, tag)).map_err(peer(who));
        }
        #[cfg(feature = "ring")]
        if let (Who::RingGcm, Some(gcm)) = (who, &self.ring_gcm) {
            let mut messages = messages(&mut self.buffer, &self.lengths).zip(&self.nonces);
            return messages.try_for_each(|((data, tag), nonce)| gcm.encrypt(nonce, b"", data, tag)).map_err(peer(who));
        }
        let Ccm { openssl, ipsec_mb, gcrypt, rustcrypto, nonces, lengths, buffer, .. } = self;
        if let (Who::IpsecMb, Some((manager, keys))) = (who, ipsec_mb) {
            let mut jobs: Vec<_> = messages(buffer, lengths)
                .enumerate()
                .map(|(index, (data, tag))| ipsec_mb::CcmMessage {
                    key: &keys[index % keys.len()],
                    nonce: &nonces[index],
                    aad: b"",
                    data,
                    tag,
                })
                .collect();
            return match manager.ccm(direction, &mut jobs) {
                Ok(0) => Ok(()),
                Ok(_) => Err(Error::Peer(who.name(), tress_peers::Error::Authentication)),
                Err(error) => Err(Error::Peer(who.name(), error)),
            };
        }
        for (index, (data, tag)) in messages(buffer, lengths).enumerate() {
            let nonce = &nonces[index];
            match (who, direction) {
                (Who::OpenSsl, Direction::Encrypt) => {
                    let keys = openssl.len();
                    openssl[index % keys].encrypt(nonce, b"", data, tag)
                }
                (Who::OpenSsl, Direction::Decrypt) => {
                    let keys = openssl.len();
                    openssl[index % keys].decrypt(nonce, b"", data, tag)
                }
                (Who::Gcrypt, Direction::Encrypt) => {
                    let keys = gcrypt.len();
                    gcrypt[index % keys].encrypt(nonce, b"", data, tag)
                }
                (Who::Gcrypt, Direction::Decrypt) => {
                    let keys = gcrypt.len();
                    gcrypt[index % keys].decrypt(nonce, b"", data, tag)
                }
                (_, Direction::Encrypt) => rustcrypto[index % rustcrypto.len()].encrypt(nonce, b"", data, tag),
                (_, Direction::Decrypt) => rustcrypto[index % rustcrypto.len()].decrypt(nonce, b"", data, tag),
            }
            .map_err(peer(who))?;
        }
        Ok(())
    }

    fn output(&self, who: Who) -> &[u8] {
        // What GCM makes is nobody else's.
        if matches!(who, Who::AwsLcRsGcm | Who::RingGcm) { &[] } else { &self.buffer }
    }
}

/// Mixed lengths, and as their yardstick as many messages of their mean length.
pub(crate) struct Mixed {
    mixed: Ccm,
    equal: Ccm,
}

impl Mixed {
    pub(crate) const MESSAGES: usize = 540;
    /// (64 + 576 + 1500) / 3, rounded.
    pub(crate) const MEAN_BYTES: usize = 713;

    pub(crate) fn new(backend: Backend, direction: Direction) -> Result<Mixed, Error> {
        // As many of each, in an order that is always the same (Knuth's MMIX generator, Fisher and Yates's shuffle).
        let mut lengths: Vec<usize> = (0..Mixed::MESSAGES).map(|i| [64, 576, 1500][i % 3]).collect();
        let mut state = 1u64;
        for last in (1..lengths.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            lengths.swap(last, (state >> 33) as usize % (last + 1));
        }
        Ok(Mixed {
            mixed: Ccm::with_lengths(backend, direction, 16, 1, lengths)?,
            equal: Ccm::with_lengths(backend, direction, 16, 1, vec![Mixed::MEAN_BYTES; Mixed::MESSAGES])?,
        })
    }

    fn of(&mut self, who: Who) -> &mut Ccm {
        if who == EQUAL_LENGTHS { &mut self.equal } else { &mut self.mixed }
    }
}

impl Work for Mixed {
    fn bytes(&self, who: Who) -> u64 {
        if who == EQUAL_LENGTHS { self.equal.bytes(who) } else { self.mixed.bytes(who) }
    }

    fn needs_preparation(&self) -> bool {
        self.mixed.needs_preparation()
    }

    fn prepare(&mut self, who: Who) -> Result<(), Error> {
        self.of(who).prepare(who)
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        self.of(who).run(who)
    }

    fn output(&self, who: Who) -> &[u8] {
        if who == EQUAL_LENGTHS { &[] } else { self.mixed.output(who) }
    }
}
