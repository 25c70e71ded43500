//! The AEADs of a container's payload, by the three names they have: ours, IANA's, and a key length.

/// The AEAD that seals a payload: RFC 5116 AES-CCM with a 12-byte nonce and a 16-byte tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aead {
    /// `aes-128-ccm`, the default.
    #[default]
    Aes128Ccm,
    /// `aes-256-ccm`.
    Aes256Ccm,
}

impl Aead {
    /// Every AEAD that a container may name.
    pub const ALL: [Aead; 2] = [Aead::Aes128Ccm, Aead::Aes256Ccm];

    /// The name in the first line, in the header and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Aead::Aes128Ccm => "aes-128-ccm",
            Aead::Aes256Ccm => "aes-256-ccm",
        }
    }

    /// The AEAD of this name, if there is one.
    pub fn from_name(name: &str) -> Option<Aead> {
        Self::ALL.into_iter().find(|aead| aead.name() == name)
    }

    /// The name in IANA's registry of AEAD algorithms, which the key derivation takes.
    pub const fn iana_name(self) -> &'static str {
        match self {
            Aead::Aes128Ccm => "AEAD_AES_128_CCM",
            Aead::Aes256Ccm => "AEAD_AES_256_CCM",
        }
    }

    /// Bytes of the key, and of the input key.
    pub const fn key_bytes(self) -> usize {
        match self {
            Aead::Aes128Ccm => 16,
            Aead::Aes256Ccm => 32,
        }
    }

    /// The container's first line, its newline included: version and AEAD.
    pub const fn first_line(self) -> &'static str {
        match self {
            Aead::Aes128Ccm => "tress/v1 aes-128-ccm\n",
            Aead::Aes256Ccm => "tress/v1 aes-256-ccm\n",
        }
    }
}
