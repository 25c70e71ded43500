//! Modes against other implementations: AES against OpenSSL, RC6 against the crate `rc6`, PIPO against the crate `pipo`. Every
//! available backend must give the result of the peer, for one message and in lanes, at any length and alignment. Damaged
//! messages must be refused.

use arbitrary::{Arbitrary, Unstructured};
use tress_cipher::aes::Aes;
use tress_cipher::modes::{cbc, ccm, ctr, ecb};
use tress_cipher::pipo::Pipo;
use tress_cipher::rc6::Rc6;
use tress_cipher::{Aad, Backend, BlockCipher, CcmCipher, Error, Tag, lanes};
use tress_peers::{Direction, openssl, pipo, rustcrypto};

/// Length of the longest message. Longer ones reach no other code: a flight is at most 1,024 bytes.
const MAX_BYTES: usize = 2500;
/// Total length of all messages in lanes: some seventy of two hundred bytes, or a few long ones.
const MAX_LANES_BYTES: usize = 16_384;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum FuzzCipher {
    Aes,
    Rc6,
    Pipo,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum FuzzMode {
    Ecb,
    Cbc,
    Ctr,
    Ccm { nonce_bytes: u8, tag_bytes: u8, aad_bytes: u16 },
}

/// Panics if a backend and the peer disagree.
pub fn run(bytes: &[u8]) {
    if let Ok(case) = ModeCase::arbitrary_take_rest(Unstructured::new(bytes)) {
        case.check();
    }
}

/// One message with its parameters and its offset in memory.
#[derive(Arbitrary)]
struct ModeCase {
    cipher: FuzzCipher,
    mode: FuzzMode,
    decrypts: bool,
    key: [u8; 32],
    key_bytes: u8,
    iv: [u8; 16],
    length: u16,
    offset: u8,
    /// Number of messages side by side in lanes.
    copies: u8,
    /// The bit of message or tag to damage.
    damage: u32,
    seed: Vec<u8>,
}

/// A function that encrypts or decrypts a message in place.
type Apply<'a> = &'a dyn Fn(&mut [u8]);

impl ModeCase {
    fn check(&self) {
        match self.cipher {
            FuzzCipher::Aes => self.aes(),
            FuzzCipher::Rc6 => self.rc6(),
            FuzzCipher::Pipo => self.pipo(),
        }
    }

    fn key(&self, lengths: &[usize]) -> &[u8] {
        &self.key[..lengths[usize::from(self.key_bytes) % lengths.len()]]
    }

    fn direction(&self) -> Direction {
        if self.decrypts { Direction::Decrypt } else { Direction::Encrypt }
    }

    /// Bytes that repeat the seed, slightly changed each time.
    fn bytes(&self, length: usize) -> Vec<u8> {
        let seed = if self.seed.is_empty() { &[0x5a][..] } else { &self.seed };
        (0..length).map(|i| seed[i % seed.len()].wrapping_add((i / seed.len()) as u8)).collect()
    }

    /// The number of messages of this length side by side.
    fn copies(&self, length: usize) -> usize {
        (usize::from(self.copies) % 70).min(MAX_LANES_BYTES / length.max(1))
    }

    fn message(&self, unit: usize) -> Vec<u8> {
        let length = usize::from(self.length) % MAX_BYTES;
        self.bytes(length - length % unit)
    }

    fn aes(&self) {
        let key = self.key(&[16, 24, 32]);
        let theirs = |mode, iv: &[u8], direction, data: &mut [u8]| {
            let mut cipher = openssl::Cipher::new(mode, key, direction).expect("OpenSSL 3 (Debian's libssl3)");
            cipher.apply(iv, data).expect("a message that OpenSSL takes");
        };
        if let FuzzMode::Ccm { nonce_bytes, tag_bytes, aad_bytes } = self.mode {
            let nonce = &self.iv[..7 + usize::from(nonce_bytes) % 7];
            let tag_bytes = 4 + usize::from(tag_bytes) % 7 * 2;
            // Some lengths have the longer encoding; the others are short.
            let aad_bytes = if aad_bytes < 0xfe00 { aad_bytes % 300 } else { aad_bytes };
            self.ccm(nonce, tag_bytes, usize::from(aad_bytes));
            return;
        }
        self.block_modes::<Aes>(
            |backend| Aes::with_backend(key, backend),
            &self.iv,
            &|data| theirs(tress_peers::Mode::Ecb, &[], self.direction(), data),
            &|data| theirs(tress_peers::Mode::Cbc, &self.iv, self.direction(), data),
            &|data| theirs(tress_peers::Mode::Ctr, &self.iv, Direction::Encrypt, data),
        );
    }

    fn rc6(&self) {
        let key = self.key(&[16, 24, 32]);
        let theirs = rustcrypto::Rc6::new(key).expect("a key of its length");
        self.block_modes::<Rc6>(
            |backend| Rc6::with_backend(key, backend),
            &self.iv,
            &|data| theirs.ecb(self.direction(), data).unwrap(),
            &|data| theirs.cbc(self.direction(), &self.iv, data).unwrap(),
            &|data| theirs.ctr(&self.iv, data).unwrap(),
        );
    }

    fn pipo(&self) {
        let key = self.key(&[16, 32]);
        let iv: [u8; 8] = self.iv[..8].try_into().expect("8 bytes");
        let cbc = |data: &mut [u8]| {
            let mut chain = iv;
            for block in data.as_chunks_mut::<8>().0 {
                let given = *block;
                if !self.decrypts {
                    (0..8).for_each(|i| block[i] ^= chain[i]);
                }
                pipo::ecb(key, self.direction(), block).unwrap();
                if self.decrypts {
                    (0..8).for_each(|i| block[i] ^= chain[i]);
                }
                chain = if self.decrypts { given } else { *block };
            }
        };
        self.block_modes::<Pipo>(
            |backend| Pipo::with_backend(key, backend),
            &iv,
            &|data| pipo::ecb(key, self.direction(), data).unwrap(),
            &cbc,
            &|data| pipo::ctr(key, &iv, data).unwrap(),
        );
    }

    /// Checks ECB, CBC and CTR on every backend.
    fn block_modes<C: BlockCipher>(
        &self,
        make: impl Fn(Backend) -> Result<C, Error>,
        iv: &[u8],
        their_ecb: Apply<'_>,
        their_cbc: Apply<'_>,
        their_ctr: Apply<'_>,
    ) {
        let (theirs, unit) = match self.mode {
            FuzzMode::Ecb => (their_ecb, C::BLOCK_BYTES),
            FuzzMode::Cbc => (their_cbc, C::BLOCK_BYTES),
            FuzzMode::Ctr | FuzzMode::Ccm { .. } => (their_ctr, 1),
        };
        let given = self.message(unit);
        // If the counter is exhausted, we return an error and change nothing; the peers continue.
        let counts = match self.mode {
            FuzzMode::Ctr | FuzzMode::Ccm { .. } if C::COUNTER_BYTES < C::BLOCK_BYTES => {
                let first =
                    iv[C::BLOCK_BYTES - C::COUNTER_BYTES..].iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
                (1 << (8 * C::COUNTER_BYTES)) - first
            }
            _ => usize::MAX,
        };
        let is_refused = given.len().div_ceil(C::BLOCK_BYTES) > counts;
        let mut expected = given.clone();
        if !is_refused {
            theirs(&mut expected);
        }
        for &backend in C::BACKENDS.iter().filter(|backend| backend.is_available()) {
            let cipher = make(backend).expect("an available backend");
            let ours = |data: &mut [u8]| match (self.mode, self.decrypts) {
                (FuzzMode::Ecb, false) => ecb::encrypt(&cipher, data),
                (FuzzMode::Ecb, true) => ecb::decrypt(&cipher, data),
                (FuzzMode::Cbc, false) => cbc::encrypt(&cipher, iv, data),
                (FuzzMode::Cbc, true) => cbc::decrypt(&cipher, iv, data),
                _ => ctr::apply(&cipher, iv, data),
            };
            let (result, data) = self.run_at_offset(&given, ours);
            let refusal = if is_refused { Err(Error::CounterExhausted) } else { Ok(()) };
            assert_eq!(result, refusal, "{}", backend.name());
            assert!(data == expected, "{}", backend.name());

            if matches!((self.mode, self.decrypts), (FuzzMode::Cbc, false)) {
                let mut messages = vec![given.clone(); self.copies(given.len())];
                let mut jobs: Vec<_> =
                    messages.iter_mut().map(|data| lanes::cbc::Job::new(&cipher, iv, data).unwrap()).collect();
                lanes::cbc::encrypt(&mut jobs);
                drop(jobs);
                assert!(messages.iter().all(|data| *data == expected), "lanes on {}", backend.name());
            }
        }
    }

    /// Runs on the message at an offset, and checks that nothing around it was written.
    fn run_at_offset<T>(&self, message: &[u8], run: impl FnOnce(&mut [u8]) -> T) -> (T, Vec<u8>) {
        let start = usize::from(self.offset) % 64;
        let mut buffer = vec![0xa5; start + message.len() + 64];
        buffer[start..start + message.len()].copy_from_slice(message);
        let result = run(&mut buffer[start..start + message.len()]);
        assert!(buffer[..start].iter().chain(&buffer[start + message.len()..]).all(|byte| *byte == 0xa5));
        (result, buffer[start..start + message.len()].to_vec())
    }

    fn ccm(&self, nonce: &[u8], tag_bytes: usize, aad_bytes: usize) {
        let key = self.key(&[16, 24, 32]);
        let (plain, aad) = (self.message(1), self.bytes(aad_bytes));
        let (mut sealed, mut tag) = (plain.clone(), vec![0; tag_bytes]);
        openssl::Ccm::new(key, nonce.len(), tag_bytes, Direction::Encrypt)
            .and_then(|mut aead| aead.encrypt(nonce, &aad, &mut sealed, &mut tag))
            .expect("a message that OpenSSL takes");
        for &backend in Aes::BACKENDS.iter().filter(|backend| backend.is_available()) {
            let cipher = Aes::with_backend(key, backend).expect("an available backend");
            let mut own_tag = vec![0; tag_bytes];
            let seal = |data: &mut [u8]| ccm::seal(&cipher, nonce, Aad(&aad), data, &mut own_tag[..]).unwrap();
            let (_, data) = self.run_at_offset(&plain, seal);
            assert!((&data, &own_tag) == (&sealed, &tag), "{}", backend.name());
            let (result, data) =
                self.run_at_offset(&sealed, |data| ccm::open(&cipher, nonce, Aad(&aad), data, full_tag(&tag)));
            assert_eq!(result, Ok(()), "{}", backend.name());
            assert!(data == plain, "{}", backend.name());
            self.check_damaged(&cipher, nonce, &aad, &sealed, &tag);
            self.ccm_lanes(&cipher, nonce, &aad, (&plain, &sealed), &tag);
        }
    }

    /// Checks that a message with a flipped bit in data or tag is refused and wiped.
    fn check_damaged<C: CcmCipher>(&self, cipher: &C, nonce: &[u8], aad: &[u8], sealed: &[u8], tag: &[u8]) {
        let (mut data, mut tag) = (sealed.to_vec(), tag.to_vec());
        let bit = self.damage as usize % (8 * (data.len() + tag.len()));
        let (byte, mask) = (bit / 8, 1 << (bit % 8));
        let in_data = data.len();
        if byte < in_data {
            data[byte] ^= mask
        } else {
            tag[byte - in_data] ^= mask
        }
        assert_eq!(ccm::open(cipher, nonce, Aad(aad), &mut data, full_tag(&tag)), Err(Error::Authentication));
        assert!(data.iter().all(|byte| *byte == 0));
    }

    /// Checks the message in lanes between messages of other lengths, in both directions.
    fn ccm_lanes<C: CcmCipher>(
        &self,
        cipher: &C,
        nonce: &[u8],
        aad: &[u8],
        (plain, sealed): (&[u8], &[u8]),
        tag: &[u8],
    ) {
        let count = self.copies(plain.len() + aad.len());
        let is_whole = |i: usize| i % 3 != 1;
        let mut messages: Vec<_> = (0..count)
            .map(|i| {
                (plain[..if is_whole(i) { plain.len() } else { plain.len() / (i + 1) }].to_vec(), vec![0; tag.len()])
            })
            .collect();
        for opens in [false, true] {
            let jobs = messages.iter_mut();
            if opens {
                let jobs = jobs.map(|(data, tag)| lanes::ccm::Open::new(cipher, nonce, Aad(aad), data, full_tag(tag)));
                assert_eq!(lanes::ccm::open(&mut jobs.collect::<Result<Vec<_>, _>>().unwrap()), Ok(()));
            } else {
                let jobs = jobs.map(|(data, tag)| lanes::ccm::Seal::new(cipher, nonce, Aad(aad), data, &mut tag[..]));
                // All messages have the same nonce.
                lanes::ccm::seal_without_nonce_check(&mut jobs.collect::<Result<Vec<_>, _>>().unwrap());
            }
            for (data, own_tag) in messages.iter().enumerate().filter(|(i, _)| is_whole(*i)).map(|(_, message)| message)
            {
                assert!(data == if opens { plain } else { sealed } && own_tag == tag);
            }
        }
    }
}

/// A tag of any length.
fn full_tag(tag: &[u8]) -> Tag<'_> {
    Tag::new(tag, tag.len()).expect("its own length")
}
