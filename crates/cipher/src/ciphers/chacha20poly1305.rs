//! ChaCha20-Poly1305 (RFC 8439): an AEAD of additions, rotations and XORs, with a key of 32 bytes and a nonce of 12. Needs the feature
//! `chacha20poly1305`.
//!
//! Four (NEON), eight (AVX2) or sixteen (AVX-512) blocks of the key stream are computed side by side: those of one message, or of several
//! short ones in a batch ([`crate::lanes`]). Eight (AVX2) or sixteen (AVX-512 IFMA) blocks of Poly1305 are, of one message. NEON leaves
//! Poly1305 to crate `poly1305`, other processors leave the whole AEAD to crate `chacha20poly1305`.
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

use crate::{Backend, Block, Error};
#[cfg(all(feature = "lanes", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use wide::apply_short;

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
            return check(&made, tag, data);
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

/// Compares the tag of a message, and wipes its data if it is forged.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) fn check(made: &Block, tag: &Block, data: &mut [u8]) -> Result<(), Error> {
    if crate::reveal::reveal(subtle::ConstantTimeEq::ct_eq(&made[..], tag)) {
        return Ok(());
    }
    data.zeroize();
    Err(Error::Authentication)
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

    /// Number of blocks of the key stream in a call.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn blocks(self) -> usize {
        match self.backend() {
            Backend::Neon => 4,
            Backend::Avx2 => 8,
            _ => 16,
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
#[cfg_attr(not(feature = "lanes"), allow(dead_code, reason = "batches of short messages are lanes"))]
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
    /// Most blocks, with the one that is the key of Poly1305, of a message in a batch with others.
    const SHORT_BLOCKS: usize = 25;
    /// Blocks of short messages that are computed before they are used.
    const BATCH_BLOCKS: usize = 128;

    /// Key, nonce, associated data and data of a message.
    pub(crate) type Message<'m> = (&'m ChaCha20Poly1305, &'m [u8; 12], &'m [u8], &'m mut [u8]);
    /// The words of a state, or of its block of the key stream.
    type StreamBlock = [[u8; 4]; 16];

    /// Aligned, and with it the registers that the compiler keeps in memory: it knows too late that it needs some, and then they cross
    /// the lines of the cache.
    #[repr(align(64))]
    struct Blocks<const N: usize>([StreamBlock; N]);

    impl<const N: usize> Blocks<N> {
        const ZERO: Self = Blocks([[[0; 4]; 16]; N]);

        /// `zeroize` writes byte by byte.
        fn wipe(&mut self) {
            self.0.as_flattened_mut().as_flattened_mut().fill(0);
            core::hint::black_box(self);
        }
    }

    pub(super) fn apply(
        aead: &ChaCha20Poly1305,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        encrypts: bool,
    ) -> Block {
        let mut first = Blocks::<MAX_BLOCKS>::ZERO;
        let tag = run(&mut first.0, (aead, nonce, aad, data), encrypts);
        first.wipe();
        wipe_stack();
        tag
    }

    /// Runs the short messages among several `jobs`, and passes each one's tag to `end`. `message` is `None` for jobs that have run.
    pub(crate) fn apply_short<J>(
        jobs: &mut [J],
        message: impl Fn(&mut J) -> Option<Message<'_>>,
        encrypts: bool,
        end: impl FnMut(&mut J, &Block),
    ) {
        if jobs.len() > 1 && jobs.iter_mut().any(|job| message(job).as_ref().is_some_and(is_short)) {
            let mut blocks = Blocks::<BATCH_BLOCKS>::ZERO;
            run_short(&mut blocks.0, jobs, message, encrypts, end);
            blocks.wipe();
            wipe_stack();
        }
    }

    #[inline(never)]
    fn run_short<J>(
        blocks: &mut [StreamBlock],
        mut jobs: &mut [J],
        message: impl Fn(&mut J) -> Option<Message<'_>>,
        encrypts: bool,
        mut end: impl FnMut(&mut J, &Block),
    ) {
        while !jobs.is_empty() {
            let (mut count, mut used, mut kernel) = (0, 0, None);
            for job in jobs.iter_mut() {
                if let Some((aead, nonce, _, data)) = message(job).filter(is_short) {
                    let after = used + blocks_of(data);
                    let kernel = kernel.get_or_insert(aead.kernel);
                    if after > blocks.len() || kernel.backend() != aead.backend() {
                        break;
                    }
                    let mut state = state(aead, nonce);
                    for block in &mut blocks[used..after] {
                        *block = state.map(u32::to_le_bytes);
                        state[12] += 1;
                    }
                    used = after;
                }
                count += 1;
            }
            let Some(kernel) = kernel else { return };
            let whole = used.next_multiple_of(kernel.blocks());
            key_stream(kernel, None, blocks[..whole].as_flattened_mut().as_flattened_mut());
            let (batch, rest) = jobs.split_at_mut(count);
            let mut stream = &*blocks;
            for job in batch {
                let Some((_, _, aad, data)) = message(job).filter(is_short) else { continue };
                let (own, others) = stream.split_at(blocks_of(data));
                stream = others;
                let tag = authenticate(kernel, own, aad, data, encrypts, |_, data| add(data, own));
                end(job, &tag);
            }
            jobs = rest;
        }
    }

    fn is_short((aead, _, _, data): &Message<'_>) -> bool {
        blocks_of(data) <= SHORT_BLOCKS && !matches!(aead.kernel, Kernel::Crate)
    }

    /// Number of blocks of the key stream for this data, and one for the key of Poly1305.
    fn blocks_of(data: &[u8]) -> usize {
        1 + data.len().div_ceil(STREAM_BLOCK_BYTES)
    }

    /// Adds all blocks but the first.
    fn add(data: &mut [u8], stream: &[StreamBlock]) {
        data.iter_mut().zip(stream[1..].as_flattened().as_flattened()).for_each(|(byte, stream)| *byte ^= stream);
    }

    /// The constants, the key, the counter and the nonce.
    fn state(aead: &ChaCha20Poly1305, nonce: &[u8; 12]) -> [u32; 16] {
        let mut state = [0; 16];
        let bytes = [&b"expand 32-byte k"[..], &aead.key, &[0; 4], nonce];
        for (word, bytes) in state.iter_mut().zip(bytes.iter().flat_map(|part| part.as_chunks().0)) {
            *word = u32::from_le_bytes(*bytes);
        }
        state
    }

    #[inline(never)]
    fn run(first: &mut [StreamBlock], (aead, nonce, aad, data): Message<'_>, encrypts: bool) -> Block {
        let kernel = aead.kernel;
        let mut state = state(aead, nonce);
        // The first call has all blocks of a short message.
        let needed = Some(blocks_of(data)).filter(|needed| *needed <= MAX_BLOCKS);
        let whole = needed.unwrap_or(1).next_multiple_of(kernel.blocks());
        key_stream(kernel, Some(&state), first[..whole].as_flattened_mut().as_flattened_mut());
        let tag = authenticate(kernel, first, aad, data, encrypts, |number, piece| {
            if needed.is_some() {
                return add(piece, first);
            }
            state[12] = (1 + number * (PIECE_BYTES / STREAM_BLOCK_BYTES)) as u32;
            key_stream(kernel, Some(&state), piece);
        });
        state.zeroize();
        tag
    }

    /// The tag. The key of Poly1305 is in the first of `blocks`. `add_stream` encrypts or decrypts a piece of the data, whose number it
    /// gets.
    #[inline(always)]
    fn authenticate(
        kernel: Kernel,
        blocks: &[StreamBlock],
        aad: &[u8],
        data: &mut [u8],
        encrypts: bool,
        mut add_stream: impl FnMut(usize, &mut [u8]),
    ) -> Block {
        let mut mac = new_mac(blocks[0].as_flattened().first_chunk().expect("longer than a key"), kernel);
        mac.update_padded(aad);
        for (number, piece) in data.chunks_mut(PIECE_BYTES).enumerate() {
            if !encrypts {
                mac.update_padded(piece);
            }
            add_stream(number, piece);
            if encrypts {
                mac.update_padded(piece);
            }
        }
        let lengths = [aad.len() as u64, data.len() as u64].map(u64::to_le_bytes);
        mac.update_padded(lengths.as_flattened());
        let mut tag = [0; crate::BLOCK_BYTES];
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

    /// Adds the key stream to `data`. Without a state, `data` is states, which are replaced by their blocks of the key stream.
    fn key_stream(kernel: Kernel, state: Option<&[u32; 16]>, data: &mut [u8]) {
        macro_rules! with {
            ($register:ty, $features:literal) => {{
                #[target_feature(enable = $features)]
                fn with_features(state: Option<&[u32; 16]>, data: &mut [u8]) {
                    // SAFETY: the function has the register's features.
                    unsafe {
                        match state {
                            Some(state) => add_blocks::<$register>(state, data),
                            None => replace_states::<$register>(data),
                        }
                    }
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
            let mut padded = Blocks::<MAX_BLOCKS>::ZERO;
            let bytes = padded.0.as_flattened_mut().as_flattened_mut();
            bytes[..rest.len()].copy_from_slice(rest);
            // SAFETY: as above.
            unsafe { add_group::<R>(&state, &mut bytes[..STREAM_BLOCK_BYTES * R::WORDS]) };
            rest.copy_from_slice(&bytes[..rest.len()]);
            padded.wipe();
        }
        state.zeroize();
    }

    /// Adds one block of the key stream for each word of a register.
    #[inline(always)]
    unsafe fn add_group<R: WordRegister>(state: &[u32; 16], group: &mut [u8]) {
        let pointers = pointers::<R>(group);
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

    /// Replaces states, in whole groups, by their blocks of the key stream.
    #[inline(always)]
    unsafe fn replace_states<R: WordRegister>(states: &mut [u8]) {
        for group in states.chunks_exact_mut(STREAM_BLOCK_BYTES * R::WORDS) {
            let pointers = pointers::<R>(group);
            // SAFETY: as for `add_group`.
            unsafe {
                let mut x = R::gather(&pointers);
                for _ in 0..10 {
                    quarter_rounds(&mut x, 0);
                    quarter_rounds(&mut x, 1);
                }
                // Read again, as in `add_group`.
                let start = R::gather(core::hint::black_box(&pointers));
                for (x, start) in x.as_flattened_mut().iter_mut().zip(start.as_flattened()) {
                    *x = x.add(*start);
                }
                R::scatter::<false>(x, &pointers);
            }
        }
    }

    /// The addresses of the blocks of a group, which has one for each word of a register.
    #[inline(always)]
    fn pointers<R: WordRegister>(group: &mut [u8]) -> [*mut u8; MAX_BLOCKS] {
        assert_eq!(group.len(), STREAM_BLOCK_BYTES * R::WORDS);
        let mut pointers = [core::ptr::null_mut(); MAX_BLOCKS];
        for (pointer, block) in pointers.iter_mut().zip(group.chunks_exact_mut(STREAM_BLOCK_BYTES)) {
            *pointer = block.as_mut_ptr();
        }
        pointers
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

#[cfg(all(test, feature = "lanes"))]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::Aad;
    use crate::lanes::{Aead, AeadJob};

    /// Messages one at a time and in a batch against the crate, with keys for one kernel and for all. Every third one is forged.
    #[test]
    fn kernels_agree() {
        let bytes = Vec::from_iter((0..9000_u32).map(|i| (i * 37 + i / 256) as u8));
        let mut lengths = Vec::from_iter((0..1700).chain([4095, 4096, 4097, 8192, 9000]));
        fastrand::Rng::with_seed(1).shuffle(&mut lengths);
        let nonces = Vec::from_iter((0..lengths.len() as u128).map(|i| i.to_le_bytes()));
        let all = Vec::from_iter(Kernel::all());
        for kernels in all.chunks(1).chain([&all[..]]) {
            let with_kernel = |i: usize| ChaCha20Poly1305::with_kernel(&[i as u8; 32], kernels[i % kernels.len()]);
            let keys = Vec::from_iter((0..5).map(with_kernel));
            let public = |i: usize| (&keys[i / 3 % 5], nonces[i].first_chunk().unwrap(), &bytes[..i % 40]);
            let mut messages = Vec::from_iter(lengths.iter().map(|length| (bytes[..*length].to_vec(), [0; 16])));
            let jobs = messages.iter_mut().enumerate().map(|(i, (data, tag))| {
                let (key, nonce, aad) = public(i);
                key.to_seal(nonce.into(), Aad(aad), data, tag.into()).unwrap()
            });
            let mut jobs = Vec::from_iter(jobs);
            // Jobs that have run are skipped.
            <ChaCha20Poly1305 as Aead>::seal(&mut jobs[7..9]).unwrap();
            <ChaCha20Poly1305 as Aead>::seal(&mut jobs).unwrap();
            drop(jobs);
            let mut alone = messages.clone();
            for (i, (data, tag)) in messages.iter_mut().enumerate() {
                let ((key, nonce, aad), plain) = (public(i), &bytes[..lengths[i]]);
                let mut theirs = plain.to_vec();
                let right = key.by_crate().encrypt_inout_detached(nonce.into(), aad, theirs.as_mut_slice().into());
                assert!(*data == theirs && tag[..] == right.unwrap()[..], "{:?}: {} bytes", key.backend(), lengths[i]);
                let (ours, _) = &mut alone[i];
                key.open(nonce, aad, ours, tag).unwrap();
                assert_eq!(ours, plain);
                assert_eq!(key.seal(nonce, aad, ours), Ok(*tag));
                assert!(*ours == theirs, "{:?}: {} bytes", key.backend(), lengths[i]);
                tag[i % 16] ^= u8::from(i % 3 == 0);
                assert_eq!(key.open(nonce, aad, ours, tag).is_err(), i % 3 == 0);
            }
            let jobs = messages.iter_mut().enumerate().map(|(i, (data, tag))| {
                let (key, nonce, aad) = public(i);
                key.to_open(nonce.into(), Aad(aad), data, (&*tag).into()).unwrap()
            });
            let mut jobs = Vec::from_iter(jobs);
            let forged = <ChaCha20Poly1305 as Aead>::open(&mut jobs).unwrap_err();
            assert_eq!((forged.count, forged.first), (lengths.len().div_ceil(3), 0));
            assert!(jobs.iter().enumerate().all(|(i, job)| job.result().is_err() == (i % 3 == 0)));
            drop(jobs);
            for (i, ((data, _), (alone, _))) in messages.iter().zip(&alone).enumerate() {
                let right = |(byte, plain): (&u8, &u8)| *byte == if i % 3 == 0 { 0 } else { *plain };
                assert!(data.iter().zip(&bytes).all(right), "{:?}: {} bytes", public(i).0.backend(), lengths[i]);
                assert!(data == alone);
            }
        }
    }
}
