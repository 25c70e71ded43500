//! The assembly of the kernels, and a table of its parts: functions and shared code, each in its own section.

use core::arch::global_asm;

macro_rules! parts {
    ($($part:ident)*) => {
        /// A part of the kernels: a function, or code that functions share.
        #[allow(missing_docs, non_camel_case_types)]
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Part { $($part),* }

        const COUNT: usize = [$(Part::$part),*].len();

        // Sections are in memory in the order in which they are first named. After the assembly there is a label at the
        // end of each part, and for each part an address, a size (which the linker fills in) and a name. Nothing else
        // refers to that table, so it is only linked into programs that use it.
        global_asm!(
            $(concat!(".section .text.", stringify!($part), ",\"ax\",@progbits"),)*
            // The only section whose code has no symbol.
            ".section .text.tress_aes8_ccm4_carry",
            "tress_aes8_ccm4_carry:",
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/macros.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/bytes.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/generated/eight.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/generated/two.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/blocks.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/ctr.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/ccm4.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/chain.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/generated/eight_inverse.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/decrypt.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/keys.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rijndael/riscv32/table.S"),
            include_str!("../../../../crates/cipher/src/ciphers/rc6/riscv32/rc6.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/layers.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/frame.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/rounds1.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/ecb4.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/cbc4.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/ctr4.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/one.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/prepare.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/small4.S"),
            include_str!("../../../../crates/cipher/src/ciphers/pipo/riscv32/paper.S"),
            include_str!("../../../../crates/cipher/src/ciphers/lea/riscv32/lea.S"),
            $(
                concat!(".pushsection .text.", stringify!($part), ",\"ax\",@progbits"),
                concat!(".Lend_", stringify!($part), ":"),
                ".popsection",
            )*
            ".size tress_aes8_ccm4_carry, .Lend_tress_aes8_ccm4_carry - tress_aes8_ccm4_carry",
            ".pushsection .constants.tress_rv32_parts,\"a\",@progbits",
            ".balign 4",
            ".globl tress_rv32_parts",
            ".type tress_rv32_parts, @object",
            "tress_rv32_parts:",
            $(concat!(
                ".word ", stringify!($part), ", .Lend_", stringify!($part), " - ", stringify!($part),
                ", .Lname_", stringify!($part), ", .Lname_end_", stringify!($part), " - .Lname_", stringify!($part)
            ),)*
            ".size tress_rv32_parts, . - tress_rv32_parts",
            $(concat!(
                ".Lname_", stringify!($part), ": .ascii \"", stringify!($part), "\"\n.Lname_end_", stringify!($part), ":"
            ),)*
            ".popsection",
            options(raw)
        );
    };
}

// Parts that run together are adjacent: the instruction cache of an FE310 has two ways of 8 KiB, and AES for eight
// blocks, with 10 to 14 KB, is much slower if its parts are apart.
parts! {
    tress_aes_copy tress_aes_add tress_aes_add_block
    tress_aes8_pack tress_aes8_rounds tress_aes8_last tress_aes8_encrypt_frame tress_aes8_ecb_encrypt
    tress_aes8_counters tress_aes8_counters_1 tress_aes8_counters_2 tress_aes8_prepare tress_aes8_use_key_stream
    tress_aes8_ctr
    tress_aes8_ccm4_begin tress_aes8_ccm4_counters tress_aes8_ccm4_carry tress_aes8_ccm4_encrypt tress_aes8_ccm4_decrypt
    tress_aes8_inverse_rounds tress_aes8_inverse_last tress_aes8_decrypt_frame
    tress_aes8_ecb_decrypt tress_aes8_cbc_decrypt
    tress_aes_sub_word tress_aes8_key_form tress_aes8_expand_key tress_aes8_set_lane_key
    tress_aes2_key_form tress_aes2_expand_key tress_aes2_encrypt_words tress_aes2_encrypt tress_aes2_cbc_encrypt
    tress_aes2_ccm_encrypt tress_aes2_ccm_decrypt
    tress_aes_table_make tress_aes_table_key_form tress_aes_table_expand_key tress_aes_table_encrypt
    tress_aes_table_stream
    tress_rc6_expand_key tress_rc6_encrypt_words tress_rc6_decrypt_words tress_rc6_encrypt tress_rc6_decrypt
    tress_rc6_stream
    tress_pipo_prepare4 tress_pipo_prepare1 tress_pipo_nonce4 tress_pipo_nonce1
    tress_pipo128_encrypt1 tress_pipo128_decrypt1 tress_pipo128_cbc_encrypt1 tress_pipo128_ctr1
    tress_pipo128_encrypt4 tress_pipo128_decrypt4 tress_pipo128_small_encrypt4 tress_pipo128_small_decrypt4
    tress_pipo128_cbc_decrypt4 tress_pipo128_cbc_x4 tress_pipo128_ctr4
    tress_pipo256_encrypt1 tress_pipo256_decrypt1 tress_pipo256_cbc_encrypt1 tress_pipo256_ctr1
    tress_pipo256_encrypt4 tress_pipo256_decrypt4 tress_pipo256_small_encrypt4 tress_pipo256_small_decrypt4
    tress_pipo256_cbc_decrypt4 tress_pipo256_cbc_x4 tress_pipo256_ctr4
    tress_pipo128_paper_encrypt1 tress_pipo128_paper_cbc_encrypt1 tress_pipo128_paper_ctr1 tress_pipo128_paper_memory4
    tress_pipo128_paper_encrypt4 tress_pipo128_paper_ctr4 tress_pipo128_paper_cbc_decrypt4
    tress_lea_rest1 tress_lea_rest4 tress_lea_encrypt tress_lea_stream tress_lea_decrypt_words1
    tress_lea_decrypt_words4 tress_lea_decrypt
}

/// An entry of the table above.
#[repr(C)]
struct Entry {
    address: usize,
    bytes: usize,
    name: *const u8,
    name_bytes: usize,
}

unsafe extern "C" {
    static tress_rv32_parts: [Entry; COUNT];
}

impl Part {
    fn entry(self) -> &'static Entry {
        // SAFETY: the table above has an entry for each part and is never written.
        unsafe { &tress_rv32_parts[self as usize] }
    }

    /// The address of its first instruction.
    pub fn address(self) -> usize {
        self.entry().address
    }

    /// Size of its machine code in bytes.
    pub fn bytes(self) -> usize {
        self.entry().bytes
    }

    /// The name of its symbol.
    pub fn name(self) -> &'static str {
        let entry = self.entry();
        // SAFETY: `name` points to `name_bytes` bytes of ASCII in the table above.
        unsafe { core::str::from_utf8_unchecked(core::slice::from_raw_parts(entry.name, entry.name_bytes)) }
    }
}
