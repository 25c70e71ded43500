//! The AEADs of a container's payload, defined in one list.

use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm::Ccm;
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

/// Defines the AEADs: number in transfers, name, IANA's name, length of the key in bytes, and the function that makes one from a key. To
/// add one, add an entry here and in the format documentation.
macro_rules! aeads {
    ($($(#[$doc:meta])* $aead:ident = $number:literal, $name:literal, $iana:literal, $key_bytes:literal, $with_key:expr;)*) => {
        /// The AEAD that seals a payload, with a 12-byte nonce and a 16-byte tag.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Aead {
            $($(#[$doc])* $aead,)*
        }

        impl Aead {
            /// Every AEAD that a container may name.
            pub const ALL: &[Aead] = &[$(Aead::$aead),*];

            /// The name in the container's first line, in its header and on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Aead::$aead => $name,)*
                }
            }

            /// The name in IANA's registry of AEAD algorithms, which is an input of the key derivation.
            pub const fn iana_name(self) -> &'static str {
                match self {
                    $(Aead::$aead => $iana,)*
                }
            }

            /// Its number in the messages of a transfer.
            pub const fn number(self) -> u8 {
                match self {
                    $(Aead::$aead => $number,)*
                }
            }

            /// Length of the key, and of the input key, in bytes.
            pub const fn key_bytes(self) -> usize {
                match self {
                    $(Aead::$aead => $key_bytes,)*
                }
            }

            /// The container's first line, which states version and AEAD, including its newline.
            pub const fn first_line(self) -> &'static str {
                match self {
                    $(Aead::$aead => concat!("tress/v1 ", $name, "\n"),)*
                }
            }

            /// Makes the AEAD from a key of the right length. It is boxed because moving a key schedule would leave a copy behind that is
            /// never wiped.
            pub(super) fn with_key(self, key: &[u8]) -> Box<dyn KeyedAead> {
                match self {
                    $(Aead::$aead => Box::new($with_key(key)),)*
                }
            }
        }
    };
}

aeads! {
    /// AES-CCM of RFC 5116 with a 128-bit key, the default.
    #[default]
    Aes128Ccm = 1, "aes-128-ccm", "AEAD_AES_128_CCM", 16, aes_ccm;
    /// AES-CCM of RFC 5116 with a 256-bit key.
    Aes256Ccm = 2, "aes-256-ccm", "AEAD_AES_256_CCM", 32, aes_ccm;
}

fn aes_ccm(key: &[u8]) -> Ccm<Aes> {
    Aes::new(key).expect("an AEAD's key length is one of AES").into()
}

impl Aead {
    /// The AEAD with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Aead> {
        Self::ALL.iter().copied().find(|aead| aead.name() == name)
    }
    /// The AEAD with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Aead> {
        Self::ALL.iter().copied().find(|aead| aead.number() == number)
    }
}
