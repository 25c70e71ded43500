//! ChaCha20-Poly1305 (RFC 8439): an AEAD of additions, rotations and XORs, with a key of 32 bytes and a nonce of 12. Needs the feature
//! `chacha20poly1305`.
//!
//! One message at a time. Four (NEON), eight (AVX2) or sixteen (AVX-512) blocks of the key stream are computed side by side, and eight
//! (AVX2) or sixteen (AVX-512 IFMA) blocks of Poly1305. NEON leaves Poly1305 to crate `poly1305`, other processors leave the whole AEAD
//! to crate `chacha20poly1305`.
//!
//! ```
//! use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
//!
//! let aead = ChaCha20Poly1305::new(&[7; 32]);
//! let mut data = *b"hello";
//! let tag = aead.seal(&[0; 12], b"", &mut data)?;
//! aead.open(&[0; 12], b"", &mut data, &tag)?;
//! assert_eq!(&data, b"hello");
//! # Ok::<(), tress_cipher::Error>(())
//! ```

#[cfg(target_arch = "x86_64")]
mod mac;

use chacha20poly1305::KeyInit;
use chacha20poly1305::aead::AeadInOut;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{BLOCK_BYTES, Backend, Block, Error};

/// Bytes of a block of the key stream.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const STREAM_BLOCK_BYTES: usize = 64;

/// A key of ChaCha20-Poly1305, which is wiped on drop.
#[derive(ZeroizeOnDrop)]
pub struct ChaCha20Poly1305 {
    key: [u8; 32],
    #[zeroize(skip)]
    kernel: Kernel,
}

/// What computes the key stream and Poly1305.
#[derive(Clone, Copy)]
enum Kernel {
    /// The crate `chacha20poly1305`, which does the whole AEAD.
    Crate,
    #[cfg(target_arch = "aarch64")]
    Neon(crate::cpu::Neon),
    #[cfg(target_arch = "x86_64")]
    Avx2(crate::cpu::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(crate::cpu::Avx512, mac::Kernel),
}

impl core::fmt::Debug for ChaCha20Poly1305 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ChaCha20Poly1305").finish_non_exhaustive()
    }
}

impl ChaCha20Poly1305 {
    /// Longest message: the first of 2^32 blocks of the key stream is the key of Poly1305.
    pub(crate) const MAX_BYTES: u64 = 64 * u32::MAX as u64;
    /// The backends, from slow to fast.
    pub const BACKENDS: &'static [Backend] = &[Backend::Portable, Backend::Neon, Backend::Avx2, Backend::Avx512];

    /// Prepares a key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::with_kernel(key, Kernel::all().next().unwrap_or(Kernel::Crate))
    }

    /// Prepares a key for a given backend.
    ///
    /// # Errors
    /// `KeyLength`, and `BackendUnavailable` if this machine lacks the backend.
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        let key = key.try_into().map_err(|_| Error::KeyLength)?;
        let kernel = Kernel::all().find(|kernel| kernel.backend() == backend);
        kernel.map(|kernel| Self::with_kernel(key, kernel)).ok_or(Error::BackendUnavailable(backend))
    }

    /// The backend that this key was prepared for.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    fn with_kernel(key: &[u8; 32], kernel: Kernel) -> Self {
        ChaCha20Poly1305 { key: *key, kernel }
    }

    /// Encrypts in place and returns the tag. A nonce must never be used twice with a key.
    ///
    /// # Errors
    /// `MessageTooLong` for more than 2^38 − 64 bytes.
    pub fn seal(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> Result<Block, Error> {
        if data.len() as u64 > Self::MAX_BYTES {
            return Err(Error::MessageTooLong);
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if !matches!(self.kernel, Kernel::Crate) {
            return Ok(wide::apply(self, nonce, aad, data, true));
        }
        let made = self.by_crate().encrypt_inout_detached(nonce.into(), aad, data.into());
        made.map(Into::into).map_err(|_| Error::MessageTooLong)
    }

    /// Decrypts in place. If the tag does not match, the data is wiped.
    ///
    /// # Errors
    /// `Authentication` if the tag does not match, and `MessageTooLong` as [`Self::seal`].
    pub fn open(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], tag: &Block) -> Result<(), Error> {
        if data.len() as u64 > Self::MAX_BYTES {
            return Err(Error::MessageTooLong);
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if !matches!(self.kernel, Kernel::Crate) {
            // If the message is forged, this is its valid tag: do not leave it in memory.
            let made = zeroize::Zeroizing::new(wide::apply(self, nonce, aad, data, false));
            if crate::reveal::reveal(subtle::ConstantTimeEq::ct_eq(&made[..], tag)) {
                return Ok(());
            }
            data.zeroize();
            return Err(Error::Authentication);
        }
        let opened = self.by_crate().decrypt_inout_detached(nonce.into(), aad, (&mut *data).into(), tag.into());
        opened.map_err(|_| {
            data.zeroize();
            Error::Authentication
        })
    }

    fn by_crate(&self) -> chacha20poly1305::ChaCha20Poly1305 {
        chacha20poly1305::ChaCha20Poly1305::new(&self.key.into())
    }
}

impl Kernel {
    fn backend(self) -> Backend {
        match self {
            Kernel::Crate => Backend::Portable,
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(_) => Backend::Neon,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) => Backend::Avx2,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(..) => Backend::Avx512,
        }
    }

    /// The kernels of this machine, the fastest first.
    fn all() -> impl Iterator<Item = Kernel> {
        [
            #[cfg(target_arch = "x86_64")]
            crate::cpu::Avx512::detect().zip(mac::Kernel::all().next()).map(|(proof, mac)| Kernel::Avx512(proof, mac)),
            #[cfg(target_arch = "x86_64")]
            crate::cpu::Avx2::detect().map(Kernel::Avx2),
            #[cfg(target_arch = "aarch64")]
            crate::cpu::Neon::detect().map(Kernel::Neon),
            Some(Kernel::Crate),
        ]
        .into_iter()
        .flatten()
    }
}

/// The AEAD on vector registers: word `w` of all blocks is in register `w`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod wide {
    #[cfg(target_arch = "aarch64")]
    use poly1305::{Poly1305, universal_hash::KeyInit, universal_hash::UniversalHash};

    #[cfg(target_arch = "x86_64")]
    use super::mac::Poly1305;
    use super::*;
    use crate::ciphers::words::sliced::{WordRegister, slot_numbers};

    /// Bytes that are encrypted before they are authenticated: they stay in the first-level cache.
    const PIECE_BYTES: usize = 4096;
    /// Most blocks of the key stream side by side.
    const MAX_BLOCKS: usize = 16;

    pub(super) fn apply(
        aead: &ChaCha20Poly1305,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        encrypts: bool,
    ) -> Block {
        let tag = run(aead, nonce, aad, data, encrypts);
        wipe_stack();
        tag
    }

    #[inline(never)]
    fn run(aead: &ChaCha20Poly1305, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], encrypts: bool) -> Block {
        // The constants, the key, the counter and the nonce.
        let mut state = [0; 16];
        let bytes = [&b"expand 32-byte k"[..], &aead.key, &[0; 4], nonce];
        for (word, bytes) in state.iter_mut().zip(bytes.iter().flat_map(|part| part.as_chunks().0)) {
            *word = u32::from_le_bytes(*bytes);
        }
        let mut key = [0; 32];
        key_stream(aead.kernel, &state, &mut key);
        let mut mac = new_mac(&key, aead.kernel);
        mac.update_padded(aad);
        for (number, piece) in data.chunks_mut(PIECE_BYTES).enumerate() {
            state[12] = (1 + number * (PIECE_BYTES / STREAM_BLOCK_BYTES)) as u32;
            if !encrypts {
                mac.update_padded(piece);
            }
            key_stream(aead.kernel, &state, piece);
            if encrypts {
                mac.update_padded(piece);
            }
        }
        let lengths = [aad.len() as u64, data.len() as u64].map(u64::to_le_bytes);
        mac.update_padded(lengths.as_flattened());
        key.zeroize();
        state.zeroize();
        let mut tag = [0; BLOCK_BYTES];
        tag.copy_from_slice(&mac.finalize());
        tag
    }

    /// Overwrites the stack below the caller's frame, where [`run`] and the kernels leave some of their registers. They use less.
    #[inline(never)]
    fn wipe_stack() {
        core::hint::black_box(&mut [0_u64; 512]);
    }

    #[cfg(target_arch = "aarch64")]
    fn new_mac(key: &[u8; 32], _: Kernel) -> Poly1305 {
        Poly1305::new(key.into())
    }

    #[cfg(target_arch = "x86_64")]
    fn new_mac(key: &[u8; 32], kernel: Kernel) -> Poly1305 {
        match kernel {
            Kernel::Crate => unreachable!("the crate does the whole AEAD"),
            Kernel::Avx2(proof) => Poly1305::new(key, mac::Kernel::Avx2(proof)),
            Kernel::Avx512(_, mac) => Poly1305::new(key, mac),
        }
    }

    /// Adds the key stream to `data`.
    fn key_stream(kernel: Kernel, state: &[u32; 16], data: &mut [u8]) {
        macro_rules! with {
            ($register:ty, $features:literal) => {{
                #[target_feature(enable = $features)]
                fn with_features(state: &[u32; 16], data: &mut [u8]) {
                    // SAFETY: the function has the register's features.
                    unsafe { add_blocks::<$register>(state, data) }
                }
                // SAFETY: the token in `kernel` proves that the machine has these features.
                unsafe { with_features(state, data) }
            }};
        }
        match kernel {
            Kernel::Crate => unreachable!("the crate does the whole AEAD"),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(_) => with!(core::arch::aarch64::uint32x4_t, "neon"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) => with!(core::arch::x86_64::__m256i, "avx2"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(..) => with!(core::arch::x86_64::__m512i, "avx512f,avx512bw,avx512dq,avx512vl"),
        }
    }

    /// Aligned, and with it the registers that the compiler keeps in memory: it knows too late that it needs some, and then they cross
    /// the lines of the cache.
    #[repr(align(64))]
    struct Group([u8; STREAM_BLOCK_BYTES * MAX_BLOCKS]);

    /// # Safety
    /// The machine must have the instructions of `R`, here and below.
    #[inline(always)]
    unsafe fn add_blocks<R: WordRegister>(state: &[u32; 16], data: &mut [u8]) {
        let mut state = *state;
        let mut groups = data.chunks_exact_mut(STREAM_BLOCK_BYTES * R::WORDS);
        for group in &mut groups {
            // SAFETY: the caller guarantees the instructions; a group has a block for each word.
            unsafe { add_group::<R>(&state, group) };
            state[12] = state[12].wrapping_add(R::WORDS as u32);
        }
        let rest = groups.into_remainder();
        if !rest.is_empty() {
            let mut padded = Group([0; STREAM_BLOCK_BYTES * MAX_BLOCKS]);
            padded.0[..rest.len()].copy_from_slice(rest);
            // SAFETY: as above.
            unsafe { add_group::<R>(&state, &mut padded.0[..STREAM_BLOCK_BYTES * R::WORDS]) };
            rest.copy_from_slice(&padded.0[..rest.len()]);
            // `zeroize` writes byte by byte.
            padded.0.fill(0);
            core::hint::black_box(&mut padded);
        }
        state.zeroize();
    }

    /// Adds one block of the key stream for each word of a register.
    #[inline(always)]
    unsafe fn add_group<R: WordRegister>(state: &[u32; 16], group: &mut [u8]) {
        assert_eq!(group.len(), STREAM_BLOCK_BYTES * R::WORDS);
        let mut pointers = [core::ptr::null_mut(); MAX_BLOCKS];
        for (pointer, block) in pointers.iter_mut().zip(group.chunks_exact_mut(STREAM_BLOCK_BYTES)) {
            *pointer = block.as_mut_ptr();
        }
        // SAFETY: the caller guarantees the instructions; there are 64 bytes at each of the first `WORDS` pointers.
        unsafe {
            let mut x = [[R::splat(0); 4]; 4];
            add_start(&mut x, state);
            for _ in 0..10 {
                quarter_rounds(&mut x, 0);
                quarter_rounds(&mut x, 1);
            }
            // Read again: the compiler would keep sixteen registers with key words on the stack, which nothing wipes.
            add_start(&mut x, core::hint::black_box(state));
            R::scatter::<true>(x, &pointers);
        }
    }

    /// Adds the state of each block before the first round.
    #[inline(always)]
    unsafe fn add_start<R: WordRegister>(x: &mut [[R; 4]; 4], state: &[u32; 16]) {
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            for (x, &word) in x.as_flattened_mut().iter_mut().zip(state) {
                *x = x.add(R::splat(word));
            }
            x[3][0] = x[3][0].add(slot_numbers());
        }
    }

    /// Four quarter rounds: of the columns, or with `shift` 1 of the diagonals.
    #[inline(always)]
    unsafe fn quarter_rounds<R: WordRegister>(x: &mut [[R; 4]; 4], shift: usize) {
        macro_rules! step {
            ($to:literal, $from:literal, $with:literal, $left:literal, $right:literal) => {
                for i in 0..4 {
                    let [to, from, with] = [$to, $from, $with].map(|row| (i + shift * row) % 4);
                    x[$to][to] = x[$to][to].add(x[$from][from]);
                    x[$with][with] = x[$with][with].xor(x[$to][to]).rotate_by::<$left, $right>();
                }
            };
        }
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            step!(0, 1, 3, 16, 16);
            step!(2, 3, 1, 12, 20);
            step!(0, 1, 3, 8, 24);
            step!(2, 3, 1, 7, 25);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kernel against the crate, whole and forged.
    #[test]
    fn kernels_agree() {
        let bytes = std::vec::Vec::from_iter((0..9000u32).map(|i| (i * 37 + i / 256) as u8));
        let (key, nonce) = ([0x42; 32], [7; 12]);
        for kernel in Kernel::all() {
            let aead = ChaCha20Poly1305::with_kernel(&key, kernel);
            for length in (0..1300).chain([4095, 4096, 4097, 8192, 9000]) {
                let (mut ours, mut theirs) = (bytes[..length].to_vec(), bytes[..length].to_vec());
                let aad = &bytes[..length % 40];
                let judge = chacha20poly1305::ChaCha20Poly1305::new(&key.into());
                let right = judge.encrypt_inout_detached(&nonce.into(), aad, theirs.as_mut_slice().into()).unwrap();
                let mut tag = aead.seal(&nonce, aad, &mut ours).unwrap();
                assert!(ours == theirs && tag[..] == right[..], "{length} bytes");
                aead.open(&nonce, aad, &mut ours, &tag).unwrap();
                assert!(ours == bytes[..length], "{length} bytes");
                tag[length % 16] ^= 1;
                assert_eq!(aead.open(&nonce, aad, &mut theirs, &tag), Err(Error::Authentication));
                assert!(theirs.iter().all(|&byte| byte == 0), "{length} bytes");
            }
        }
    }
}
