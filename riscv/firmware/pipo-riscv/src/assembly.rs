//! The kernels of `tress-cipher`, PIPO's in a paper's layout among them, and what calls them: assembly, as it is.

use core::arch::global_asm;

/// A file of the kernels.
macro_rules! kernel {
    ($path:literal) => {
        include_str!(concat!("../../../../crates/cipher/src/ciphers/", $path))
    };
}

// One piece for each cipher, so that the macros of the first files are known in the others. What runs together stands
// together, as it does where nothing else is linked: the instruction cache has two ways.
global_asm!(
    kernel!("pipo/riscv32/layers.S"),
    kernel!("pipo/riscv32/frame.S"),
    kernel!("pipo/riscv32/rounds1.S"),
    kernel!("pipo/riscv32/ecb4.S"),
    kernel!("pipo/riscv32/cbc4.S"),
    kernel!("pipo/riscv32/ctr4.S"),
    kernel!("pipo/riscv32/one.S"),
    kernel!("pipo/riscv32/prepare.S"),
    kernel!("pipo/riscv32/small4.S"),
    kernel!("pipo/riscv32/paper.S"),
    options(raw)
);
global_asm!(
    kernel!("rijndael/riscv32/macros.S"),
    kernel!("rijndael/riscv32/bytes.S"),
    kernel!("rijndael/riscv32/generated/eight.S"),
    kernel!("rijndael/riscv32/blocks.S"),
    kernel!("rijndael/riscv32/ctr.S"),
    kernel!("rijndael/riscv32/ccm4.S"),
    kernel!("rijndael/riscv32/decrypt.S"),
    kernel!("rijndael/riscv32/generated/eight_inverse.S"),
    kernel!("rijndael/riscv32/generated/two.S"),
    kernel!("rijndael/riscv32/chain.S"),
    kernel!("rijndael/riscv32/keys.S"),
    kernel!("rijndael/riscv32/table.S"),
    options(raw)
);
global_asm!(kernel!("rc6/riscv32/rc6.S"), options(raw));
global_asm!(include_str!("call.S"), options(raw));

/// Names of functions that only [`Call`] calls: with the arguments that the files state.
macro_rules! functions {
    ($($name:ident),* $(,)?) => {
        // SAFETY: the symbols are in the files above; nothing here calls them by these types.
        unsafe extern "C" { $(pub(crate) fn $name();)* }
    };
}

functions!(
    tress_study_nothing,
    tress_pipo128_encrypt1,
    tress_pipo128_decrypt1,
    tress_pipo128_cbc_encrypt1,
    tress_pipo128_ctr1,
    tress_pipo128_encrypt4,
    tress_pipo128_decrypt4,
    tress_pipo128_small_encrypt4,
    tress_pipo128_small_decrypt4,
    tress_pipo128_ctr4,
    tress_pipo128_cbc_decrypt4,
    tress_pipo128_cbc_x4,
    tress_pipo128_paper_encrypt1,
    tress_pipo128_paper_cbc_encrypt1,
    tress_pipo128_paper_ctr1,
    tress_pipo128_paper_encrypt4,
    tress_pipo128_paper_memory4,
    tress_pipo128_paper_ctr4,
    tress_pipo128_paper_cbc_decrypt4,
    tress_pipo256_encrypt1,
    tress_pipo256_encrypt4,
    tress_pipo256_small_encrypt4,
    tress_pipo256_ctr4,
    tress_pipo256_cbc_decrypt4,
    tress_aes8_ecb_encrypt,
    tress_aes8_ctr,
    tress_aes8_cbc_decrypt,
    tress_aes8_ccm4_encrypt,
    tress_aes2_cbc_encrypt,
    tress_aes2_ccm_encrypt,
    tress_aes_table_stream,
    tress_rc6_encrypt,
    tress_rc6_stream,
);

// SAFETY: the signatures are those that the files state.
unsafe extern "C" {
    fn tress_study_measure(function: Function, arguments: &[usize; 6], spent: &mut [u32; 2], before: usize);
    fn tress_study_first(function: Function, arguments: &[usize; 6], spent: &mut [u32; 2], before: usize);
    fn tress_study_empty(function: Function, arguments: &[usize; 6], spent: &mut [u32; 2], before: usize);
    fn tress_study_stack(function: Function, arguments: &[usize; 6]) -> u32;
    pub(crate) fn tress_pipo_prepare4(prepared: *mut u32, keys: *const u32, words: usize);
    pub(crate) fn tress_pipo_prepare1(prepared: *mut u32, key: *const u8, words: usize);
    pub(crate) fn tress_pipo_nonce4(nonce: *mut u32, prepared: *const u32, bytes: *const u8, words: usize);
    pub(crate) fn tress_pipo_nonce1(nonce: *mut u32, prepared: *const u32, bytes: *const u8, words: usize);
    pub(crate) fn tress_aes8_expand_key(context: *mut u32, key: *const u8, bytes: usize);
    pub(crate) fn tress_aes2_expand_key(context: *mut u32, key: *const u8, bytes: usize);
    pub(crate) fn tress_aes_table_make(tables: *mut u32);
    pub(crate) fn tress_aes_table_expand_key(context: *mut u32, key: *const u8, bytes: usize);
}

type Function = unsafe extern "C" fn();

/// A kernel with its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    function: Function,
    arguments: [usize; 6],
}

impl Call {
    /// # Safety
    ///
    /// The arguments are what the function's file wants, for as long as it is called.
    pub(crate) unsafe fn new<const N: usize>(function: Function, arguments: [usize; N]) -> Call {
        let mut all = [0; 6];
        all[..N].copy_from_slice(&arguments);
        Call { function, arguments: all }
    }

    /// Cycles and instructions of a call, after so many others.
    pub(crate) fn measure(&self, before: usize) -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: who made this.
        unsafe { tress_study_measure(self.function, &self.arguments, &mut spent, before) };
        spent
    }

    /// The same of a call before which there may be none.
    pub(crate) fn first(&self) -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: who made this.
        unsafe { tress_study_first(self.function, &self.arguments, &mut spent, 0) };
        spent
    }

    /// The same of calling a function that does nothing.
    pub(crate) fn empty() -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: it takes no arguments.
        unsafe { tress_study_empty(tress_study_nothing, &[0; 6], &mut spent, 1) };
        spent
    }

    /// Calls; bytes of stack that were written.
    pub(crate) fn stack(&self) -> u32 {
        // SAFETY: who made this; below the stack pointer is room for what is painted.
        unsafe { tress_study_stack(self.function, &self.arguments) }
    }
}
