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
    ipsec_mb: Option<ipsec_mb::Batch>,
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
        let nonces: Vec<[u8; NONCE_BYTES]> = (0..lengths.len() as u64)
            .map(|message| {
                let mut nonce = [0x5a; NONCE_BYTES];
                nonce[4..].copy_from_slice(&message.to_be_bytes());
                nonce
            })
            .collect();
        let openssl = peer(Who::OpenSsl);
        let ours = keys.iter().map(|key| Aes::with_backend(key, backend)).collect::<Result<_, _>>()?;
        Ok(Ccm {
            direction,
            buffer: vec![0; lengths.iter().sum::<usize>() + lengths.len() * TAG_BYTES],
            ours,
            openssl: match openssl::available() {
                Ok(()) => keys
                    .iter()
                    .map(|key| openssl::Aead::new(openssl::AeadMode::Ccm, key, NONCE_BYTES, TAG_BYTES, direction))
                    .collect::<Result<_, _>>()
                    .map_err(openssl)?,
                Err(_) => Vec::new(),
            },
            ipsec_mb: (ipsec_mb::available().is_ok()
                && lengths.iter().all(|bytes| *bytes <= ipsec_mb::MAX_MESSAGE_BYTES))
            .then(|| by_ipsec_mb(direction, &keys, &nonces, &lengths).map_err(peer(Who::IpsecMb)))
            .transpose()?,
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
            lengths,
            nonces,
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

/// All messages as jobs of libipsec-mb.
fn by_ipsec_mb(
    direction: Direction,
    keys: &[Vec<u8>],
    nonces: &[[u8; NONCE_BYTES]],
    lengths: &[usize],
) -> Result<ipsec_mb::Batch, tress_peers::Error> {
    let mut end = 0;
    let mut jobs = Vec::with_capacity(lengths.len());
    for (index, (&bytes, nonce)) in lengths.iter().zip(nonces).enumerate() {
        let key = index % keys.len();
        jobs.push(ipsec_mb::Message { key, iv: nonce, aad: b"", start: end, bytes, tag_bytes: TAG_BYTES });
        end += bytes + TAG_BYTES;
    }
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    ipsec_mb::Batch::new(ipsec_mb::Mode::Ccm, direction, &keys, &jobs)
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
        if let (Who::IpsecMb, Some(batch)) = (who, ipsec_mb) {
            return batch.run(buffer).map_err(peer(who));
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tress_cipher::BlockCipher;

    use super::{
        super::{
            Row,
            sample::{Effort, visit},
        },
        *,
    };

    /// libipsec-mb, and libipsec-mb with a handicap: it does everything twice.
    struct Handicapped(Ccm);

    const TWICE: Who = Who::Own("twice");

    impl Work for Handicapped {
        fn bytes(&self, who: Who) -> u64 {
            self.0.bytes(who)
        }

        fn prepare(&mut self, who: Who) -> Result<(), Error> {
            self.0.prepare(who)
        }

        fn run(&mut self, who: Who) -> Result<(), Error> {
            if who != TWICE {
                return self.0.run(who);
            }
            self.0.run(Who::IpsecMb)?;
            self.0.run(Who::IpsecMb)
        }

        fn output(&self, who: Who) -> &[u8] {
            self.0.output(who)
        }
    }

    #[test]
    fn a_handicap_of_a_peer_shows_in_the_ratio() {
        if let Err(missing) = ipsec_mb::available() {
            assert!(std::env::var_os("CI").is_none(), "{missing}");
            eprintln!("SKIPPED: {missing}");
            return;
        }
        let shape = Shape { key_bytes: 16, messages: 64, message_bytes: 1024, key_each: true };
        let backend = Backend::best_of(Aes::BACKENDS);
        let mut work = Handicapped(Ccm::new(backend, Direction::Encrypt, shape).unwrap());
        let [sample, warm_up, visit_time] = [1, 1, 20].map(Duration::from_millis);
        let (effort, mut row) = (Effort { sample, warm_up, visit: visit_time }, Row::default());
        for _ in 0..11 {
            visit(&mut work, &[Who::IpsecMb, TWICE], effort, &mut row).unwrap();
        }
        let handicap = row.against[TWICE.name()].ratio / row.against[Who::IpsecMb.name()].ratio;
        assert!((1.5..2.7).contains(&handicap), "{handicap}");
    }
}
