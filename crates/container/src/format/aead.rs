//! The AEADs of payloads, defined in one list.

use tress_cipher::aes::Aes;
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::modes::gcm::Gcm;
use tress_cipher::{Aad, Nonce, Tag, lanes};

/// Bytes of a nonce and of a tag, of every AEAD here.
pub(super) const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;

/// Chunks with their tags, each with its nonce.
pub(super) type Chunks<'c, 'a> = &'c mut dyn Iterator<Item = Chunk<'a>>;
type Chunk<'a> = ([u8; NONCE_BYTES], &'a mut [u8]);

/// An AEAD with its key.
pub(super) trait KeyedAead: Send + Sync {
    /// Encrypts chunks in place, in lanes, and writes their tags.
    fn seal<'a>(&'a self, chunks: Chunks<'_, 'a>);
    /// Decrypts chunks in place, in lanes, and returns the index of the first forged one. Forged chunks are wiped.
    fn unseal<'a>(&'a self, chunks: Chunks<'_, 'a>) -> Option<usize>;
}

impl<A: lanes::Aead + Send + Sync> KeyedAead for A {
    fn seal<'a>(&'a self, chunks: Chunks<'_, 'a>) {
        let job = |(nonce, sealed): Chunk<'a>| {
            let (data, tag) = sealed.split_at_mut(sealed.len() - TAG_BYTES);
            self.to_seal(Nonce::from(&nonce), Aad(&[]), data, tag.into()).expect("lengths are the AEAD's")
        };
        A::seal(&mut chunks.map(job).collect::<Vec<_>>()).expect("every chunk has another number");
    }

    fn unseal<'a>(&'a self, chunks: Chunks<'_, 'a>) -> Option<usize> {
        let job = |(nonce, sealed): Chunk<'a>| {
            let (data, tag) = sealed.split_last_chunk_mut::<TAG_BYTES>().expect("a chunk has a tag");
            self.to_open(Nonce::from(&nonce), Aad(&[]), data, Tag::from(&*tag)).expect("lengths are the AEAD's")
        };
        A::open(&mut chunks.map(job).collect::<Vec<_>>()).err().map(|forged| forged.first)
    }
}

/// The AEAD that seals a payload, with a 12-byte nonce and a 16-byte tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Aead {
    /// AES-CCM of RFC 5116 with a 128-bit key, the default.
    #[default]
    Aes128Ccm,
    /// AES-CCM of RFC 5116 with a 256-bit key.
    Aes256Ccm,
    /// ChaCha20-Poly1305 of RFC 8439, in age files.
    ChaCha20Poly1305,
    /// AES-GCM of RFC 5116 with a 128-bit key, in Cobblestone-128.
    Aes128Gcm,
    /// AES-GCM of RFC 5116 with a 256-bit key, in Cobblestone-256.
    Aes256Gcm,
}

/// What belongs to an AEAD. To add one, add it here and to the format documentation.
struct AeadFacts {
    name: &'static str,
    iana_name: &'static str,
    key_bytes: usize,
    /// Number in transfers, and the container's first line: 0 and empty for an AEAD that neither uses.
    number: u8,
    first_line: &'static str,
}

impl Aead {
    /// Every AEAD that a container may name.
    pub const ALL: &[Aead] = &[Aead::Aes128Ccm, Aead::Aes256Ccm];

    const fn facts(self) -> AeadFacts {
        let (name, iana_name, key_bytes, number, first_line) = match self {
            Aead::Aes128Ccm => ("aes-128-ccm", "AEAD_AES_128_CCM", 16, 1, "tress/v1 aes-128-ccm\n"),
            Aead::Aes256Ccm => ("aes-256-ccm", "AEAD_AES_256_CCM", 32, 2, "tress/v1 aes-256-ccm\n"),
            Aead::ChaCha20Poly1305 => ("chacha20-poly1305", "AEAD_CHACHA20_POLY1305", 32, 0, ""),
            Aead::Aes128Gcm => ("aes-128-gcm", "AEAD_AES_128_GCM", 16, 0, ""),
            Aead::Aes256Gcm => ("aes-256-gcm", "AEAD_AES_256_GCM", 32, 0, ""),
        };
        AeadFacts { name, iana_name, key_bytes, number, first_line }
    }

    /// The name in the container's first line, in its header and on the command line.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The name in IANA's registry of AEAD algorithms, which is an input of the key derivation.
    pub const fn iana_name(self) -> &'static str {
        self.facts().iana_name
    }

    /// Its number in the messages of a transfer.
    pub const fn number(self) -> u8 {
        self.facts().number
    }

    /// Length of the key, and of the input key, in bytes.
    pub const fn key_bytes(self) -> usize {
        self.facts().key_bytes
    }

    /// The container's first line, which states version and AEAD, including its newline.
    pub const fn first_line(self) -> &'static str {
        self.facts().first_line
    }

    /// Makes the AEAD from a key of the right length. It is boxed because moving a key schedule would leave a copy behind that is never
    /// wiped.
    pub(super) fn with_key(self, key: &[u8]) -> Box<dyn KeyedAead> {
        const LENGTH: &str = "the key has the AEAD's length";
        match self {
            Aead::Aes128Ccm | Aead::Aes256Ccm => Box::new(Aes::new(key).expect(LENGTH)),
            Aead::ChaCha20Poly1305 => Box::new(ChaCha20Poly1305::new(key.try_into().expect(LENGTH))),
            Aead::Aes128Gcm | Aead::Aes256Gcm => Box::new(Gcm::new(Aes::new(key).expect(LENGTH))),
        }
    }

    /// The container's AEAD with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Aead> {
        Self::ALL.iter().copied().find(|aead| aead.name() == name)
    }

    /// The AEAD with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Aead> {
        Self::ALL.iter().copied().find(|aead| aead.number() == number)
    }
}
