//! PIPO's kernels in assembly: four blocks at a time in a form where the R-layer rotates whole registers (`layers.S`), and one block at
//! a time (`rounds1.S`). They are constant time and use no tables.

use core::arch::global_asm;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Error;
use crate::ciphers::pipo::layers::Block;

/// The directives before the assembly files. They enable Zbb if the target has it: `global_asm!` does not pass this to the assembler.
#[cfg(target_feature = "zbb")]
macro_rules! rotations {
    () => {
        ".option push\n.option arch, +zbb\n.set TRESS_ZBB, 1\n"
    };
}
#[cfg(not(target_feature = "zbb"))]
macro_rules! rotations {
    () => {
        ".option push\n"
    };
}

// One string, so that the macros of the first files are defined in the others.
global_asm!(
    concat!(
        rotations!(),
        include_str!("layers.S"),
        include_str!("frame.S"),
        include_str!("rounds1.S"),
        include_str!("ecb4.S"),
        include_str!("cbc4.S"),
        include_str!("ctr4.S"),
        include_str!("one.S"),
        include_str!("prepare.S"),
        ".option pop\n",
    ),
    options(raw)
);

type EcbKernel = unsafe extern "C" fn(*const u32, *const u8, *mut u8, usize);
type CbcEncryptKernel = unsafe extern "C" fn(*const u32, *mut u8, *const u8, *mut u8, usize);
type CbcX4Kernel = unsafe extern "C" fn(*const u32, *mut u8, *const *const u8, *const *mut u8, usize);
type CtrKernel = unsafe extern "C" fn(*const u32, *const u32, u32, *const u8, *mut u8, usize);

unsafe extern "C" {
    fn tress_pipo_prepare4(prepared: *mut u32, keys: *const u32, words: usize);
    fn tress_pipo_prepare1(prepared: *mut u32, key: *const u8, words: usize);
    fn tress_pipo_nonce4(nonce: *mut u32, prepared: *const u32, bytes: *const u8, words: usize);
    fn tress_pipo128_encrypt4(key: *const u32, input: *const u8, output: *mut u8, groups: usize);
    fn tress_pipo256_encrypt4(key: *const u32, input: *const u8, output: *mut u8, groups: usize);
    fn tress_pipo128_decrypt4(key: *const u32, input: *const u8, output: *mut u8, groups: usize);
    fn tress_pipo256_decrypt4(key: *const u32, input: *const u8, output: *mut u8, groups: usize);
    fn tress_pipo128_cbc_x4(
        key: *const u32,
        chains: *mut u8,
        inputs: *const *const u8,
        outputs: *const *mut u8,
        blocks: usize,
    );
    fn tress_pipo256_cbc_x4(
        key: *const u32,
        chains: *mut u8,
        inputs: *const *const u8,
        outputs: *const *mut u8,
        blocks: usize,
    );
    fn tress_pipo128_ctr4(
        key: *const u32,
        nonce: *const u32,
        group: u32,
        input: *const u8,
        output: *mut u8,
        groups: usize,
    );
    fn tress_pipo256_ctr4(
        key: *const u32,
        nonce: *const u32,
        group: u32,
        input: *const u8,
        output: *mut u8,
        groups: usize,
    );
    fn tress_pipo128_encrypt1(key: *const u32, input: *const u8, output: *mut u8, blocks: usize);
    fn tress_pipo256_encrypt1(key: *const u32, input: *const u8, output: *mut u8, blocks: usize);
    fn tress_pipo128_cbc_encrypt1(key: *const u32, chain: *mut u8, input: *const u8, output: *mut u8, blocks: usize);
    fn tress_pipo256_cbc_encrypt1(key: *const u32, chain: *mut u8, input: *const u8, output: *mut u8, blocks: usize);
}

/// Largest number of words in a prepared key, that of a key of 256 bits.
const PREPARED: usize = 46;
/// Number of groups that the counter of CTR can count.
const GROUPS: usize = 1 << 14;

/// Four blocks, one after another, with the alignment that the kernels require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroize)]
#[repr(C, align(4))]
pub struct Group(pub [u8; 32]);

/// One block, with the alignment that the kernels require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroize)]
#[repr(C, align(4))]
pub struct Aligned(pub Block);

/// The keys of four lanes. They are wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Lanes {
    prepared: [u32; PREPARED],
    /// Number of 64-bit words in a key: 2 or 4.
    words: usize,
}

/// A key, prepared for four blocks at a time and for one. It is wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Key {
    four: Lanes,
    one: [u32; PREPARED],
}

/// A nonce prepared for one key. It is as secret as the key, and is wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Nonce([u32; 6]);

impl Lanes {
    /// Prepares four keys of 16 bytes or four of 32.
    ///
    /// # Errors
    /// `KeyLength` for other lengths, and for keys of different lengths.
    pub fn new(keys: [&[u8]; 4]) -> Result<Lanes, Error> {
        let bytes = keys[0].len();
        if !matches!(bytes, 16 | 32) || keys.iter().any(|key| key.len() != bytes) {
            return Err(Error::KeyLength);
        }
        let mut lanes = Lanes { prepared: [0; PREPARED], words: bytes / 8 };
        let mut words = [0_u32; 32];
        for (word, bytes) in words.iter_mut().zip(keys.iter().flat_map(|key| key.chunks_exact(4))) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        // SAFETY: `words` holds four keys of `lanes.words` 64-bit words, and `prepared` has room for the longer schedule.
        unsafe { tress_pipo_prepare4(lanes.prepared.as_mut_ptr(), words.as_ptr(), lanes.words) };
        words.zeroize();
        Ok(lanes)
    }

    /// Lanes with all-zero keys, for `set_lane`.
    pub(crate) fn empty() -> Lanes {
        Lanes { prepared: [0; PREPARED], words: 2 }
    }

    /// Sets the key of one of the four lanes.
    pub(crate) fn set_lane(&mut self, lane: usize, key: &Key) {
        let mask = 0x1111_1111 << lane;
        self.words = key.four.words;
        for (own, other) in self.prepared.iter_mut().zip(&key.four.prepared) {
            *own = *own & !mask | other & mask;
        }
    }

    /// Number of rounds: 13 or 17.
    pub fn rounds(&self) -> usize {
        9 + 2 * self.words
    }

    fn choose<F>(&self, [with_128, with_256]: [F; 2]) -> F {
        if self.words == 2 { with_128 } else { with_256 }
    }

    fn ecb(&self, kernels: [EcbKernel; 2], groups: &mut [Group]) {
        let data = groups.as_mut_ptr().cast();
        // SAFETY: the groups are readable, writable and aligned to four bytes, and the key is prepared for the chosen kernel.
        unsafe { self.choose(kernels)(self.prepared.as_ptr(), data, data, groups.len()) }
    }

    /// Encrypts each block separately (ECB), block `b` of a group under the key of lane `b`.
    pub fn encrypt(&self, groups: &mut [Group]) {
        self.ecb([tress_pipo128_encrypt4, tress_pipo256_encrypt4], groups);
    }

    /// Decrypts each block separately (ECB), block `b` of a group under the key of lane `b`.
    pub fn decrypt(&self, groups: &mut [Group]) {
        self.ecb([tress_pipo128_decrypt4, tress_pipo256_decrypt4], groups);
    }

    /// Encrypts four messages in place with CBC, message `m` under the key of lane `m`. Sets the chains to the last ciphertext blocks.
    ///
    /// # Errors
    /// `DataLength` if the messages have different lengths.
    pub fn cbc_encrypt(&self, chains: &mut Group, messages: [&mut [Aligned]; 4]) -> Result<(), Error> {
        let blocks = messages[0].len();
        if messages.iter().any(|message| message.len() != blocks) {
            return Err(Error::DataLength);
        }
        let data: [*mut u8; 4] = messages.map(|message| message.as_mut_ptr().cast());
        let kernel: CbcX4Kernel = self.choose([tress_pipo128_cbc_x4 as CbcX4Kernel, tress_pipo256_cbc_x4]);
        // SAFETY: every message has `blocks` blocks, readable, writable and aligned to four bytes; the references do not alias.
        unsafe {
            kernel(self.prepared.as_ptr(), chains.0.as_mut_ptr(), data.as_ptr().cast(), data.as_ptr(), blocks);
        }
        Ok(())
    }
}

impl Key {
    /// Prepares a key of 16 or 32 bytes.
    ///
    /// # Errors
    /// `KeyLength` for other lengths.
    pub fn new(key: &[u8]) -> Result<Key, Error> {
        let mut keys = Key { four: Lanes::new([key; 4])?, one: [0; PREPARED] };
        // SAFETY: `key` has `four.words` 64-bit words (`Lanes::new`), and `one` has room for the longer schedule.
        unsafe { tress_pipo_prepare1(keys.one.as_mut_ptr(), key.as_ptr(), keys.four.words) };
        Ok(keys)
    }

    /// Four lanes with this key.
    pub fn lanes(&self) -> &Lanes {
        &self.four
    }

    /// Prepares a nonce for `ctr`.
    pub fn nonce(&self, nonce: &[u8; 6]) -> Nonce {
        let mut prepared = Nonce([0; 6]);
        let key = self.four.prepared.as_ptr();
        // SAFETY: `prepared` has six words, `key` is prepared from `four.words` 64-bit words, and `nonce` has six bytes.
        unsafe { tress_pipo_nonce4(prepared.0.as_mut_ptr(), key, nonce.as_ptr(), self.four.words) };
        prepared
    }

    /// Encrypts or decrypts groups in place with CTR. The first counter is 4 · `group`. A nonce has 2^14 groups.
    ///
    /// # Errors
    /// `CounterExhausted` if the data runs past the last group.
    pub fn ctr(&self, nonce: &Nonce, group: usize, data: &mut [Group]) -> Result<(), Error> {
        if group > GROUPS || data.len() > GROUPS - group {
            return Err(Error::CounterExhausted);
        }
        let kernel: CtrKernel = self.four.choose([tress_pipo128_ctr4 as CtrKernel, tress_pipo256_ctr4]);
        let (key, bytes) = (self.four.prepared.as_ptr(), data.as_mut_ptr().cast());
        // SAFETY: the groups are readable, writable and aligned to four bytes; the key is prepared for the chosen kernel.
        unsafe { kernel(key, nonce.0.as_ptr(), group as u32, bytes, bytes, data.len()) };
        Ok(())
    }

    /// Encrypts one block.
    pub fn encrypt_block(&self, block: &mut Block) {
        let kernel: EcbKernel = self.four.choose([tress_pipo128_encrypt1 as EcbKernel, tress_pipo256_encrypt1]);
        let data = block.as_mut_ptr();
        // SAFETY: `data` is one block, which needs no alignment; the key is prepared for the chosen kernel.
        unsafe { kernel(self.one.as_ptr(), data, data, 1) };
    }

    /// Encrypts one message in place with CBC. Sets the chain to the last ciphertext block.
    pub fn cbc_encrypt(&self, chain: &mut Block, blocks: &mut [Block]) {
        let kernel: CbcEncryptKernel =
            self.four.choose([tress_pipo128_cbc_encrypt1 as CbcEncryptKernel, tress_pipo256_cbc_encrypt1]);
        let data = blocks.as_mut_ptr().cast();
        // SAFETY: `data` is `blocks.len()` blocks, which need no alignment; the key is prepared for the chosen kernel.
        unsafe { kernel(self.one.as_ptr(), chain.as_mut_ptr(), data, data, blocks.len()) };
    }
}

macro_rules! debug {
    ($($name:ident),*) => {$(
        /// Shows the name of the type, never its contents.
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

debug!(Lanes, Key, Nonce);
