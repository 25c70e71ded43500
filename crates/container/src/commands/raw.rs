//! `raw`: an unauthenticated mode or an AEAD without a container, for tests and for interoperability with other systems.
//!
//! ECB, CBC and CTR (SP 800-38A) take any length in bounded memory: the chaining state of [`tress_cipher::modes`] is carried from buffer to
//! buffer. PKCS#7 padding (RFC 5652, 6.3) is added and removed at the end of the stream. An AEAD may release nothing before the tag is
//! verified, and CCM (SP 800-38C) needs the length of its message before the first block, so it holds the message in memory.

use std::io::{self, Read, Write};

use tress_cipher::lanes::Aead;
use tress_cipher::{
    Aad, BlockCipher, Tag,
    modes::{cbc, ctr, ecb, pkcs7},
};
use zeroize::Zeroizing;

use super::filter::{FilterError, filter};
use super::{Control, Sink, Source};
use crate::sys::{Os, System};
use crate::{Error, ErrorKind};

/// Rounded down to whole blocks; large enough that one call fills the cipher's lanes, small enough for a cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// The longest message that an AEAD holds in memory, in bytes.
pub const RAW_AEAD_MAX_BYTES: usize = 1 << 30;

/// Largest number of blocks under one key. Among 2^(n/2) blocks of n bits two are likely equal, and equal blocks reveal plaintext. For
/// blocks of 64 bits this is 32 GiB, a size that files reach; for 128 bits it is out of reach.
const fn max_blocks(block_bytes: usize) -> u64 {
    if block_bytes <= 8 { 1 << (4 * block_bytes) } else { u64::MAX }
}

/// Bytes under one key up to which two equal blocks are unlikely (a chance of one in 2^25) in any of these modes: 2^(n/2 - 12) blocks of
/// n bits. For blocks of 64 bits that is 8 MiB, as SP 800-67 (revision 2, section 3.4) allows; for 128 bits it is out of reach. If a key
/// encrypts several messages, the sum of their lengths counts.
#[must_use]
pub const fn raw_advised_bytes(block_bytes: usize) -> u64 {
    // For 128 bits or more, all lengths are below the limit.
    if block_bytes < 16 { ((block_bytes as u128) << (4 * block_bytes) >> 12) as u64 } else { 1 << 56 }
}

/// Whether `raw` encrypts or decrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawDirection {
    /// Plaintext to ciphertext.
    Encrypt,
    /// Ciphertext to plaintext.
    Decrypt,
}

/// A mode with its parameters, except the key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawMode {
    /// Electronic codebook.
    Ecb {
        /// Whether to add and remove PKCS#7 padding.
        padding: bool,
    },
    /// Cipher block chaining.
    Cbc {
        /// Initialisation vector: one block.
        iv: Vec<u8>,
        /// Whether to add and remove PKCS#7 padding.
        padding: bool,
    },
    /// Counter mode, big-endian.
    Ctr {
        /// First counter block.
        counter: Vec<u8>,
    },
}

/// Parameters of an AEAD, except the key. The ciphertext is followed by the tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAead {
    /// Nonce, 12 bytes, for CCM 7 to 13.
    pub nonce: Vec<u8>,
    /// Authenticated, but neither encrypted nor written.
    pub associated_data: Vec<u8>,
    /// Length of the tag in bytes: 16, for CCM also 4, 6, 8, 10, 12 or 14.
    pub tag_bytes: usize,
}

/// Encrypts or decrypts `source` to `sink` in an unauthenticated mode. A file gets its name only when everything has succeeded; a stream
/// has received the data before an error.
///
/// # Errors
/// [`ErrorKind::Cipher`] for parameters or data that the mode rejects, [`ErrorKind::MessageTooLong`] for more than 2^32 blocks of
/// 64 bits, every failure of reading and writing, and [`ErrorKind::Interrupted`].
pub fn raw<C: BlockCipher>(
    source: &Source,
    sink: &Sink,
    cipher: &C,
    mode: &RawMode,
    direction: RawDirection,
    control: &Control,
) -> Result<(), Error> {
    raw_on(&Os, source, sink, cipher, mode, direction, control)
}

pub(crate) fn raw_on<C: BlockCipher>(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    cipher: &C,
    mode: &RawMode,
    direction: RawDirection,
    control: &Control,
) -> Result<(), Error> {
    let chain = ChainedRun::new(cipher, mode, direction, max_blocks(C::BLOCK_BYTES))?;
    filter(system, source, sink, control, |input, output| chain.run(input, output))
}

/// Encrypts or decrypts `source` to `sink` with an AEAD; a block cipher means CCM. Writes nothing before the tag is verified.
///
/// # Errors
/// The errors of [`raw`]; [`ErrorKind::MessageTooLong`] for more than [`RAW_AEAD_MAX_BYTES`].
pub fn raw_aead<A: Aead>(
    source: &Source,
    sink: &Sink,
    aead: &A,
    parameters: &RawAead,
    direction: RawDirection,
    control: &Control,
) -> Result<(), Error> {
    raw_aead_on(&Os, source, sink, aead, parameters, direction, control)
}

pub(crate) fn raw_aead_on<A: Aead>(
    system: &dyn System,
    source: &Source,
    sink: &Sink,
    aead: &A,
    parameters: &RawAead,
    direction: RawDirection,
    control: &Control,
) -> Result<(), Error> {
    let RawAead { nonce, associated_data, tag_bytes } = parameters;
    // Check nonce and tag length before any input is touched.
    A::check_lengths(nonce[..].into(), 0, *tag_bytes)?;
    let message = AeadRun { aead, nonce, associated_data: Aad(associated_data), tag_bytes: *tag_bytes };
    filter(system, source, sink, control, |input, output| match direction {
        RawDirection::Encrypt => message.encrypt(input, output),
        RawDirection::Decrypt => message.decrypt(input, output),
    })
}

/// The state of a mode that processes a message in pieces.
enum ChainingState<'a, C: BlockCipher> {
    Ecb,
    /// The previous ciphertext block; at first the initialisation vector.
    Cbc(Vec<u8>),
    /// The key stream.
    Ctr(ctr::Stream<'a, C>),
}

struct ChainedRun<'a, C: BlockCipher> {
    cipher: &'a C,
    chaining: ChainingState<'a, C>,
    direction: RawDirection,
    padding: bool,
    blocks_left: u64,
}

impl<'a, C: BlockCipher> ChainedRun<'a, C> {
    /// Checks the parameters on an empty message, before any input is touched.
    fn new(
        cipher: &'a C,
        mode: &RawMode,
        direction: RawDirection,
        blocks_left: u64,
    ) -> Result<Self, tress_cipher::Error> {
        let (chaining, padding) = match mode {
            RawMode::Ecb { padding } => (ChainingState::Ecb, *padding),
            RawMode::Cbc { iv, padding } => {
                cbc::encrypt(cipher, iv, &mut [])?;
                (ChainingState::Cbc(iv.clone()), *padding)
            }
            RawMode::Ctr { counter } => (ChainingState::Ctr(ctr::Stream::new(cipher, counter)?), false),
        };
        Ok(Self { cipher, chaining, direction, padding, blocks_left })
    }

    fn run(mut self, input: &mut dyn Read, output: &mut dyn Write) -> Result<(), FilterError> {
        // A block is known to be the last only if nothing follows, so one buffer is always read ahead.
        let bytes = BUFFER_BYTES - BUFFER_BYTES % C::BLOCK_BYTES;
        let mut current = Zeroizing::new(Vec::with_capacity(bytes + C::BLOCK_BYTES));
        let mut next = Zeroizing::new(Vec::with_capacity(bytes + C::BLOCK_BYTES));
        fill(input, &mut current, bytes)?;
        loop {
            fill(input, &mut next, bytes)?;
            let is_last = next.is_empty();
            let is_padded = is_last && self.padding;
            if is_padded && self.direction == RawDirection::Encrypt {
                let length = current.len();
                let padding = pkcs7::padding(length, C::BLOCK_BYTES);
                current.resize(length + padding, padding as u8);
            }
            let blocks = current.len().div_ceil(C::BLOCK_BYTES) as u64;
            self.blocks_left = self.blocks_left.checked_sub(blocks).ok_or_else(|| {
                Error::new(ErrorKind::MessageTooLong)
                    .with_detail("more than 2^32 blocks of 64 bits under one key: equal blocks would reveal plaintext")
            })?;
            self.apply(&mut current)?;
            if is_padded && self.direction == RawDirection::Decrypt {
                let length = pkcs7::unpad(&current, C::BLOCK_BYTES)?;
                current.truncate(length);
            }
            output.write_all(&current)?;
            if is_last {
                return Ok(());
            }
            std::mem::swap(&mut current, &mut next);
        }
    }

    /// Processes one buffer in place. All buffers but the last hold whole blocks.
    fn apply(&mut self, data: &mut [u8]) -> Result<(), tress_cipher::Error> {
        match (&mut self.chaining, self.direction) {
            (ChainingState::Ecb, RawDirection::Encrypt) => ecb::encrypt(self.cipher, data),
            (ChainingState::Ecb, RawDirection::Decrypt) => ecb::decrypt(self.cipher, data),
            (ChainingState::Cbc(previous), RawDirection::Encrypt) => {
                cbc::encrypt(self.cipher, previous, data)?;
                keep_last(previous, data);
                Ok(())
            }
            (ChainingState::Cbc(previous), RawDirection::Decrypt) => {
                let iv = previous.clone();
                keep_last(previous, data);
                cbc::decrypt(self.cipher, &iv, data)
            }
            (ChainingState::Ctr(stream), _) => stream.apply(data),
        }
    }
}

/// Copies the last block of `data` to `block`, if there is one.
fn keep_last(block: &mut [u8], data: &[u8]) {
    if let Some(start) = data.len().checked_sub(block.len()) {
        block.copy_from_slice(&data[start..]);
    }
}

/// Fills the buffer as far as the input reaches: a pipe may return less than was asked for.
fn fill(input: &mut dyn Read, buffer: &mut Vec<u8>, bytes: usize) -> io::Result<()> {
    buffer.clear();
    input.take(bytes as u64).read_to_end(buffer).map(drop)
}

/// Parameters of one message of an AEAD.
struct AeadRun<'a, A> {
    aead: &'a A,
    nonce: &'a [u8],
    associated_data: Aad<'a>,
    tag_bytes: usize,
}

impl<A: Aead> AeadRun<'_, A> {
    fn encrypt(&self, input: &mut dyn Read, output: &mut dyn Write) -> Result<(), FilterError> {
        let mut data = read_message(input, RAW_AEAD_MAX_BYTES)?;
        let mut tag = vec![0; self.tag_bytes];
        self.aead.seal_one(self.nonce.into(), self.associated_data, &mut data, (&mut tag[..]).into())?;
        output.write_all(&data)?;
        Ok(output.write_all(&tag)?)
    }

    fn decrypt(&self, input: &mut dyn Read, output: &mut dyn Write) -> Result<(), FilterError> {
        let mut data = read_message(input, RAW_AEAD_MAX_BYTES + self.tag_bytes)?;
        let Some(length) = data.len().checked_sub(self.tag_bytes) else {
            return Err(Error::from(tress_cipher::Error::Authentication)
                .with_detail("input is shorter than the tag")
                .into());
        };
        let (message, tag) = data.split_at_mut(length);
        let tag = Tag::new(tag, self.tag_bytes)?;
        self.aead.open_one(self.nonce.into(), self.associated_data, message, tag)?;
        Ok(output.write_all(message)?)
    }
}

fn read_message(input: &mut dyn Read, max_bytes: usize) -> Result<Zeroizing<Vec<u8>>, FilterError> {
    let mut data = Zeroizing::new(Vec::new());
    input.take(max_bytes as u64 + 1).read_to_end(&mut data)?;
    if data.len() > max_bytes {
        return Err(Error::new(ErrorKind::MessageTooLong).with_detail("an AEAD accepts at most 1 GiB").into());
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use tress_cipher::aes::Aes;

    use super::*;

    /// Returns one to seven bytes per read, as a pipe may.
    struct ShortReads<'a>(&'a [u8], usize);

    impl Read for ShortReads<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 7 + 1;
            let length = self.1.min(buffer.len());
            self.0.read(&mut buffer[..length])
        }
    }

    fn cipher() -> Aes {
        Aes::new(&[7; 16]).unwrap()
    }

    fn ecb() -> RawMode {
        RawMode::Ecb { padding: true }
    }

    fn cbc(padding: bool) -> RawMode {
        RawMode::Cbc { iv: vec![3; 16], padding }
    }

    fn ctr() -> RawMode {
        RawMode::Ctr { counter: vec![0xff; 16] }
    }

    fn run(mode: &RawMode, direction: RawDirection, input: &[u8]) -> Result<Vec<u8>, FilterError> {
        run_with(mode, direction, input, max_blocks(16))
    }

    fn run_with(
        mode: &RawMode,
        direction: RawDirection,
        input: &[u8],
        blocks_left: u64,
    ) -> Result<Vec<u8>, FilterError> {
        let (cipher, mut output) = (cipher(), Vec::new());
        ChainedRun::new(&cipher, mode, direction, blocks_left)?.run(&mut ShortReads(input, 0), &mut output)?;
        Ok(output)
    }

    #[test]
    fn every_length_returns() {
        let buffer = BUFFER_BYTES;
        let lengths = [0, 1, 15, 16, 17, 31, 32, buffer - 16, buffer - 1, buffer, buffer + 1, buffer + 16];
        for mode in [ecb(), cbc(true), ctr()] {
            for length in lengths {
                let plain: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
                let sealed = run(&mode, RawDirection::Encrypt, &plain).unwrap();
                let is_padded = !matches!(mode, RawMode::Ctr { .. });
                assert_eq!(sealed.len(), if is_padded { length / 16 * 16 + 16 } else { length });
                assert_eq!(run(&mode, RawDirection::Decrypt, &sealed).unwrap(), plain);
            }
        }
    }

    #[test]
    fn buffers_change_nothing() {
        let plain = vec![5; 2 * BUFFER_BYTES + 32];
        let mut whole = plain.clone();
        tress_cipher::modes::cbc::encrypt(&cipher(), &[3; 16], &mut whole).unwrap();
        assert_eq!(run(&cbc(false), RawDirection::Encrypt, &plain).unwrap(), whole);
        let mut whole = plain.clone();
        tress_cipher::modes::ctr::apply(&cipher(), &[0xff; 16], &mut whole).unwrap();
        assert_eq!(run(&ctr(), RawDirection::Encrypt, &plain).unwrap(), whole);
    }

    #[test]
    fn blocks_under_one_key_are_bounded() {
        // 32 GiB.
        assert_eq!(max_blocks(8) * 8, 34_359_738_368);
        assert_eq!(max_blocks(16), u64::MAX);
        for mode in [ecb(), cbc(true), cbc(false), ctr()] {
            let most = if matches!(mode, RawMode::Ecb { padding: true } | RawMode::Cbc { padding: true, .. }) {
                47
            } else {
                48
            };
            assert!(run_with(&mode, RawDirection::Encrypt, &vec![1; most], 3).is_ok(), "{mode:?}");
            for more in [most + 1, most + 16].into_iter().filter(|more| most == 47 || more % 16 == 0 || mode == ctr()) {
                let refused = run_with(&mode, RawDirection::Encrypt, &vec![1; more], 3);
                let Err(FilterError::Data(error)) = refused else { panic!("{mode:?}, {more} bytes: {refused:?}") };
                assert_eq!(error.kind, ErrorKind::MessageTooLong);
            }
        }
        // Spans several buffers.
        let blocks = 2 * BUFFER_BYTES / 16 + 1;
        let input = vec![1; 16 * blocks];
        assert!(run_with(&ctr(), RawDirection::Decrypt, &input, blocks as u64).is_ok());
        assert!(run_with(&ctr(), RawDirection::Decrypt, &input, blocks as u64 - 1).is_err());
    }

    /// SP 800-67, revision 2: 2^20 blocks of 64 bits.
    #[test]
    fn advised_bytes_follow_sp_800_67() {
        assert_eq!([0, 1, 2, 3, 4, 8, 15].map(raw_advised_bytes), [0, 0, 0, 3, 4 << 4, 8 << 20, 15 << 48]);
        assert!(raw_advised_bytes(16) > RAW_AEAD_MAX_BYTES as u64 && raw_advised_bytes(8) < 8 * max_blocks(8));
    }

    #[test]
    fn invalid_padding_is_refused() {
        for input in [[].as_slice(), &[0; 15], &[0; 16]] {
            let refused = run(&ecb(), RawDirection::Decrypt, input);
            assert!(matches!(refused, Err(FilterError::Data(Error { kind: ErrorKind::Cipher(_), .. }))), "{refused:?}");
        }
    }

    #[test]
    fn wrong_parameters_are_usage_errors() {
        let message = |nonce: &[u8], tag_bytes| {
            let parameters = RawAead { nonce: nonce.to_vec(), associated_data: Vec::new(), tag_bytes };
            // The source is never opened.
            let source = Source::Path("/nonexistent".into());
            raw_aead(&source, &Sink::Stdout, &cipher(), &parameters, RawDirection::Decrypt, &Control::new())
                .unwrap_err()
                .kind
        };
        assert_eq!(message(&[0; 6], 16), ErrorKind::Cipher(tress_cipher::Error::NonceLength));
        assert_eq!(message(&[0; 12], 5), ErrorKind::Cipher(tress_cipher::Error::TagLength));
        assert!(message(&[0; 14], 16).is_usage());
    }
}
