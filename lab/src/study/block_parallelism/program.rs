//! The simulated program (riscv/firmware/programs/src/bin/block_parallelism.rs), its parameters, and its expected
//! output, which Tress computes here.

use tress_cipher::BlockCipher;
use tress_cipher::modes::{cbc, ecb};
use tress_cipher::rc6::Rc6;
use tress_cipher::rijndael::Rijndael;

use super::super::{Error, numbers, runs};

/// An image for RV64GC, built by `riscv/firmware/build`.
pub(super) const IMAGE: &[u8] = include_bytes!("../../../images/block-parallelism.elf");

/// The program's parameters begin with this.
const MAGIC: &[u8] = b"blkpar01";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SimulatedCipher {
    /// RC6-32/20, one block at a time, as in the submission.
    Rc6,
    /// Rijndael by four tables, one block at a time, as in the submission.
    Rijndael,
    /// Rijndael by Tress's portable code: 16 blocks side by side, in CBC of 16 messages.
    RijndaelBitsliced,
    /// RC6-32/20, two messages side by side.
    Rc6Pairs,
    /// Rijndael by four tables, its state in memory.
    RijndaelInMemory,
    /// RC6-32/20 with a division for each step of the key schedule.
    Rc6ByDivision,
    /// RC6-32/20 with two divisions for each step of the key schedule.
    Rc6ByTwoDivisions,
    /// RC6-32/20 with keys of other lengths.
    Rc6Sizes,
    /// Rijndael by four tables, with keys and blocks of other lengths.
    RijndaelSizes,
}

impl SimulatedCipher {
    /// The ciphers of the paper.
    pub(super) const PAPER: [SimulatedCipher; 2] = [SimulatedCipher::Rijndael, SimulatedCipher::Rc6];

    pub(super) fn name(self) -> &'static str {
        match self {
            SimulatedCipher::Rc6 | SimulatedCipher::Rc6Sizes => "RC6",
            SimulatedCipher::Rijndael | SimulatedCipher::RijndaelSizes => "Rijndael",
            SimulatedCipher::RijndaelBitsliced => "Rijndael, bitsliced",
            SimulatedCipher::Rc6Pairs => "RC6, two lanes",
            SimulatedCipher::RijndaelInMemory => "Rijndael, state in memory",
            SimulatedCipher::Rc6ByDivision => "RC6, indexes by division",
            SimulatedCipher::Rc6ByTwoDivisions => "RC6, indexes by two divisions",
        }
    }

    pub(super) fn is_rc6(self) -> bool {
        use SimulatedCipher::*;
        matches!(self, Rc6 | Rc6Pairs | Rc6ByDivision | Rc6ByTwoDivisions | Rc6Sizes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SimulatedMode {
    Ecb,
    Cbc,
}

impl SimulatedMode {
    pub(super) const BOTH: [SimulatedMode; 2] = [SimulatedMode::Ecb, SimulatedMode::Cbc];

    pub(super) fn name(self) -> &'static str {
        if self == SimulatedMode::Ecb { "ECB" } else { "CBC" }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProgramParameters {
    pub(super) cipher: SimulatedCipher,
    pub(super) mode: SimulatedMode,
    /// Blocks in a message.
    pub(super) blocks: u32,
    pub(super) messages: u32,
    /// Harts, which share the messages.
    pub(super) harts: u32,
    /// Number of warm-up runs before the measured one.
    pub(super) warm: u32,
    /// Words of a key and of a block: 4, 6 or 8, and 4 for most ciphers.
    pub(super) key_words: u32,
    pub(super) block_words: u32,
}

impl ProgramParameters {
    /// One block of one message on one hart.
    pub(super) fn new(cipher: SimulatedCipher, mode: SimulatedMode) -> ProgramParameters {
        ProgramParameters { cipher, mode, blocks: 1, messages: 1, harts: 1, warm: 0, key_words: 4, block_words: 4 }
    }

    /// The program with these parameters, as an ELF file.
    pub(super) fn program(&self) -> Result<Vec<u8>, Error> {
        let (cipher, mode, sum) = (self.cipher as u32, self.mode as u32, self.expected_sum()?);
        let words = [cipher, mode, self.blocks, self.messages, self.harts, self.warm, sum, 1];
        let sizes = [self.key_words, self.block_words];
        runs::with_parameters(IMAGE, MAGIC, &[&words[..], &sizes].concat())
    }

    /// The expected sum of the ciphertext: FNV-1a with words instead of bytes.
    fn expected_sum(&self) -> Result<u32, Error> {
        Ok(numbers::sum(&self.ciphertext()?))
    }

    /// The ciphertext, computed by the backends of this machine.
    fn ciphertext(&self) -> Result<Vec<u8>, Error> {
        let mut numbers = numbers::NumberGenerator::new();
        let [key_bytes, block_bytes] = [self.key_words, self.block_words].map(|words| 4 * words as usize);
        let record = key_bytes + block_bytes;
        let keys = numbers.bytes(record / 4 * self.messages as usize);
        let mut data = numbers.bytes(block_bytes / 4 * self.blocks as usize * self.messages as usize);
        let messages = data.chunks_mut(block_bytes * self.blocks as usize);
        for (key, message) in keys.chunks_exact(record).zip(messages) {
            let (key, iv) = key.split_at(key_bytes);
            match (self.cipher.is_rc6(), self.block_words) {
                (true, _) => self.encrypt(&Rc6::new(key)?, iv, message)?,
                (false, 4) => self.encrypt(&Rijndael::<16>::new(key)?, iv, message)?,
                (false, 6) => self.encrypt(&Rijndael::<24>::new(key)?, iv, message)?,
                (false, _) => self.encrypt(&Rijndael::<32>::new(key)?, iv, message)?,
            }
        }
        Ok(data)
    }

    fn encrypt<C: BlockCipher>(&self, cipher: &C, iv: &[u8], message: &mut [u8]) -> Result<(), tress_cipher::Error> {
        match self.mode {
            SimulatedMode::Ecb => ecb::encrypt(cipher, message),
            SimulatedMode::Cbc => cbc::encrypt(cipher, iv, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const CIPHERS: [SimulatedCipher; 9] = [
        SimulatedCipher::Rc6,
        SimulatedCipher::Rijndael,
        SimulatedCipher::RijndaelBitsliced,
        SimulatedCipher::Rc6Pairs,
        SimulatedCipher::RijndaelInMemory,
        SimulatedCipher::Rc6ByDivision,
        SimulatedCipher::Rc6ByTwoDivisions,
        SimulatedCipher::Rc6Sizes,
        SimulatedCipher::RijndaelSizes,
    ];

    /// Words of keys and blocks that a cipher has.
    fn sizes(cipher: SimulatedCipher) -> Vec<(u32, u32)> {
        let all = [4, 6, 8].into_iter();
        match cipher {
            SimulatedCipher::Rc6Sizes => all.map(|key| (key, 4)).collect(),
            SimulatedCipher::RijndaelSizes => all.flat_map(|key| [4, 6, 8].map(|block| (key, block))).collect(),
            _ => vec![(4, 4)],
        }
    }

    /// The exit code of the program under QEMU, whose machine `spike` has HTIF. `None` without QEMU.
    fn under_qemu(program: &[u8], harts: u32) -> Option<i32> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program.elf");
        std::fs::write(&file, program).expect("written");
        let run = Command::new("timeout")
            .args(["60", "qemu-system-riscv64", "-M", "spike", "-m", "64M", "-bios", "none", "-display", "none"])
            .args(["-serial", "stdio", "-monitor", "none", "-smp", &harts.to_string(), "-kernel"])
            .arg(&file)
            .output();
        let output = run.ok()?;
        // `timeout` returns 127 if there is no such program.
        match output.status.code() {
            Some(127) => None,
            code => Some(code.expect("not killed")),
        }
    }

    /// The program checks its output against that of this machine.
    #[test]
    fn the_program_is_right_under_qemu() {
        for (cipher, (key_words, block_words)) in
            CIPHERS.into_iter().flat_map(|cipher| sizes(cipher).into_iter().map(move |sizes| (cipher, sizes)))
        {
            let all = [(1, 1, 1), (3, 1, 1), (1024, 1, 1), (1, 128, 1), (17, 19, 1), (5, 22, 4)];
            // Sizes have the loops of the other ciphers.
            let loads = if cipher >= SimulatedCipher::Rc6Sizes { &all[4..5] } else { &all[..] };
            for (mode, &(blocks, messages, harts)) in
                SimulatedMode::BOTH.into_iter().flat_map(|mode| loads.iter().map(move |load| (mode, load)))
            {
                let work = ProgramParameters { cipher, mode, blocks, messages, harts, warm: 1, key_words, block_words };
                let Some(code) = under_qemu(&work.program().expect("a program"), harts) else {
                    assert!(std::env::var_os("CI").is_none(), "no qemu-system-riscv64");
                    eprintln!("skipped: no qemu-system-riscv64 (Debian's qemu-system-misc)");
                    return;
                };
                assert_eq!(code, 0, "{work:?}");
            }
        }
    }

    /// The comparison in the program can fail, and impossible parameters are rejected.
    #[test]
    fn wrong_sums_and_wrong_parameters_are_reported() {
        let work = ProgramParameters::new(SimulatedCipher::Rijndael, SimulatedMode::Cbc);
        let program = work.program().expect("a program");
        let start = program.windows(8).position(|bytes| bytes == MAGIC).expect("parameters");
        let mut wrong = program.clone();
        wrong[start + 8 + 4 * 6] ^= 1;
        assert!(matches!(under_qemu(&wrong, 1), None | Some(2)));
        for (parameter, value) in
            [(0, 9u32), (1, 2), (2, 0), (2, 1 << 31), (3, 1 << 20), (4, 0), (4, 65), (8, 6), (9, 0), (9, 8)]
        {
            let mut wrong = program.clone();
            let place = start + 8 + 4 * parameter;
            wrong[place..place + 4].copy_from_slice(&value.to_le_bytes());
            assert!(matches!(under_qemu(&wrong, 1), None | Some(1)), "{parameter} {value}");
        }
    }
}
