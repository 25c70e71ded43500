//! The primitives of `Noise_IK_25519_ChaChaPoly_SHA256` for crate `snow`, from the libraries that crate `age` uses.
//!
//! Unlike the primitives of snow, these wipe static, ephemeral and cipher keys when dropped, and refuse points of small order.
//! Values that snow itself holds (the chaining key, and copies of keys before `set`) are not wiped; SECURITY.md says so.

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Tag};
use sha2::{Digest, Sha256};
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, Zeroizing};

const KEY_BYTES: usize = 32;
const TAG_BYTES: usize = 16;

pub(super) struct Resolver;

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(SystemRandom))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        match choice {
            DHChoice::Curve25519 => Some(Box::new(X25519 { secret: Zeroizing::new([0; 32]), public: [0; 32] })),
            _ => None,
        }
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        match choice {
            HashChoice::SHA256 => Some(Box::new(Hasher(Sha256::new()))),
            _ => None,
        }
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        match choice {
            CipherChoice::ChaChaPoly => Some(Box::new(ChaChaPoly { key: Zeroizing::new([0; 32]) })),
            _ => None,
        }
    }
}

struct SystemRandom;

impl Random for SystemRandom {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), snow::Error> {
        getrandom::fill(bytes).map_err(|_| snow::Error::Rng)
    }
}

struct X25519 {
    secret: Zeroizing<[u8; KEY_BYTES]>,
    public: [u8; KEY_BYTES],
}

impl X25519 {
    fn derive(&mut self) {
        self.public = PublicKey::from(&StaticSecret::from(*self.secret)).to_bytes();
    }
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        KEY_BYTES
    }

    fn priv_len(&self) -> usize {
        KEY_BYTES
    }

    fn set(&mut self, secret: &[u8]) {
        self.secret.copy_from_slice(&secret[..KEY_BYTES]);
        self.derive();
    }

    fn generate(&mut self, random: &mut dyn Random) -> Result<(), snow::Error> {
        random.try_fill_bytes(&mut *self.secret)?;
        self.derive();
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &*self.secret
    }

    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        let public: [u8; KEY_BYTES] =
            public.get(..KEY_BYTES).and_then(|bytes| bytes.try_into().ok()).ok_or(snow::Error::Dh)?;
        let shared = StaticSecret::from(*self.secret).diffie_hellman(&PublicKey::from(public));
        if !shared.was_contributory() {
            return Err(snow::Error::Dh);
        }
        out[..KEY_BYTES].copy_from_slice(shared.as_bytes());
        Ok(())
    }
}

struct Hasher(Sha256);

impl Hash for Hasher {
    fn name(&self) -> &'static str {
        "SHA256"
    }

    fn block_len(&self) -> usize {
        64
    }

    fn hash_len(&self) -> usize {
        32
    }

    fn reset(&mut self) {
        self.0 = Sha256::new();
    }

    fn input(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn result(&mut self, out: &mut [u8]) {
        let mut hash = self.0.finalize_reset();
        out[..32].copy_from_slice(&hash);
        hash.zeroize();
    }
}

struct ChaChaPoly {
    key: Zeroizing<[u8; KEY_BYTES]>,
}

/// Noise, section 12.3: four zero bytes, then the counter in little-endian.
fn nonce(counter: u64) -> chacha20poly1305::Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&counter.to_le_bytes());
    nonce.into()
}

impl Cipher for ChaChaPoly {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; KEY_BYTES]) {
        *self.key = *key;
    }

    fn encrypt(&self, counter: u64, associated: &[u8], plain: &[u8], out: &mut [u8]) -> usize {
        let (data, rest) = out.split_at_mut(plain.len());
        data.copy_from_slice(plain);
        let cipher = ChaCha20Poly1305::new((&*self.key).into());
        let tag = cipher.encrypt_in_place_detached(&nonce(counter), associated, data);
        rest[..TAG_BYTES].copy_from_slice(&tag.expect("a message of Noise is far below the cipher's limit"));
        plain.len() + TAG_BYTES
    }

    fn decrypt(&self, counter: u64, associated: &[u8], sealed: &[u8], out: &mut [u8]) -> Result<usize, snow::Error> {
        let bytes = sealed.len().checked_sub(TAG_BYTES).ok_or(snow::Error::Decrypt)?;
        let (data, tag) = sealed.split_at(bytes);
        let out = out.get_mut(..bytes).ok_or(snow::Error::Decrypt)?;
        out.copy_from_slice(data);
        ChaCha20Poly1305::new((&*self.key).into())
            .decrypt_in_place_detached(&nonce(counter), associated, out, Tag::from_slice(tag))
            .map_err(|_| snow::Error::Decrypt)?;
        Ok(bytes)
    }
}
