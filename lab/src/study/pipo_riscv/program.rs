//! The simulated program (`bench` of riscv/firmware/devices), its parameters, and its expected output, which Tress computes here.

use tress_cipher::BlockCipher;
use tress_cipher::aes::Aes;
use tress_cipher::lea::Lea;
use tress_cipher::modes::{cbc, ctr, ecb};
use tress_cipher::pipo::Pipo;
use tress_cipher::rc6::Rc6;

use super::super::{Error, numbers, runs};

/// An image for RV32IMAC with code in flash, built by `riscv/firmware/build`.
pub(super) const IMAGE: &[u8] = include_bytes!("../../../../riscv/firmware/images/bench.elf");

/// The parameters begin with this; then follow the index of the first row, the number of rows, the address for
/// results or 0, and whether the console stays silent.
const MAGIC: &[u8] = b"kernels1";
/// The list of row names begins with this. It ends with an empty line or a byte that is not text.
const NAMES: &[u8] = b"rows of bench:\n";

/// The rows of the program: a kernel and the bytes of a call.
pub(super) fn names() -> Result<Vec<&'static str>, Error> {
    let missing = || Error::Program("the names of its rows are missing".into());
    let start = IMAGE.windows(NAMES.len()).position(|window| window == NAMES).ok_or_else(missing)?;
    let text = &IMAGE[start + NAMES.len()..];
    let is_text = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n');
    let end = text.iter().position(|byte| !is_text(byte)).unwrap_or(text.len());
    let text = std::str::from_utf8(&text[..end]).map_err(|_| missing())?;
    let is_row = |line: &&str| line.split_once(' ').is_some_and(|(_, bytes)| bytes.parse::<u32>().is_ok());
    Ok(text.lines().take_while(is_row).collect())
}

/// The program with the parameters for one row.
pub(super) fn program_for_row(row: usize) -> Result<Vec<u8>, Error> {
    runs::with_parameters(IMAGE, MAGIC, &[row as u32, 1, 0, 1])
}

/// The expected sum of a row: FNV-1a with words instead of bytes.
pub(super) fn sum(name: &str) -> Result<u32, Error> {
    Ok(numbers::sum(&ProgramMemory::new().data_after(name)?))
}

/// Initial contents of the program's memory.
struct ProgramMemory {
    key: [u8; 32],
    /// Chains and counters.
    state: Vec<u8>,
    data: Vec<u8>,
}

/// Distance in bytes at which the paper's kernels write.
const APART: usize = 64;

impl ProgramMemory {
    fn new() -> ProgramMemory {
        let mut numbers = numbers::NumberGenerator::new();
        let mut key = [0; 32];
        key.copy_from_slice(&numbers.bytes(8));
        let (mut state, data) = (numbers.bytes(32), numbers.bytes(256));
        state[15] = 0;
        ProgramMemory { key, state, data }
    }

    /// The data after a row's call.
    fn data_after(self, name: &str) -> Result<Vec<u8>, Error> {
        let unknown = || Error::Program(format!("the expected output of {name} is unknown"));
        let (kernel, bytes) = name.split_once(' ').ok_or_else(unknown)?;
        let bytes: usize = bytes.parse().ok().filter(|bytes| *bytes <= self.data.len()).ok_or_else(unknown)?;
        if bytes == 0 {
            // The kernel prepares a key or a nonce, and leaves the data unchanged.
            return Ok(self.data);
        }
        let (cipher, mode) = kernel.split_once('_').ok_or_else(unknown)?;
        let key = self.key;
        let done = match cipher {
            "pipo128" => self.with(&Pipo::new(&key[..16])?, mode, bytes),
            "pipo256" => self.with(&Pipo::new(&key)?, mode, bytes),
            "aes128" => self.with(&Aes::new(&key[..16])?, mode, bytes),
            "aes256" => self.with(&Aes::new(&key)?, mode, bytes),
            "rc6" => self.with(&Rc6::new(&key[..16])?, mode, bytes),
            "lea128" => self.with(&Lea::new(&key[..16])?, mode, bytes),
            "lea192" => self.with(&Lea::new(&key[..24])?, mode, bytes),
            "lea256" => self.with(&Lea::new(&key)?, mode, bytes),
            _ => Ok(None),
        };
        done?.ok_or_else(unknown)
    }

    fn with<C: BlockCipher>(mut self, cipher: &C, mode: &str, bytes: usize) -> Result<Option<Vec<u8>>, Error> {
        let block = C::BLOCK_BYTES;
        let iv = self.state[..block].to_vec();
        // PIPO's nonce has six bytes, and its counter begins with zero.
        let counter = if block == 8 { [&iv[..6], &[0; 2]].concat() } else { iv.clone() };
        let (mode, is_paper) = mode.strip_prefix("paper_").map_or((mode, false), |mode| (mode, true));
        if is_paper {
            let (from, to) = self.data.split_at_mut(APART);
            to[..bytes].copy_from_slice(&from[..bytes]);
        }
        let start = if is_paper { APART } else { 0 };
        let data = &mut self.data[start..start + bytes];
        match mode {
            "encrypt1" | "encrypt4" | "small_encrypt4" | "memory4" | "ecb_encrypt" | "table_encrypt" => {
                ecb::encrypt(cipher, data)?
            }
            "decrypt1" | "decrypt4" | "small_decrypt4" | "ecb_decrypt" => ecb::decrypt(cipher, data)?,
            "cbc_encrypt1" | "cbc_encrypt" => cbc::encrypt(cipher, &iv, data)?,
            "cbc_decrypt4" | "cbc_decrypt" => cbc::decrypt(cipher, &iv, data)?,
            "cbc_x4" => {
                for (message, iv) in data.chunks_mut(bytes / 4).zip(self.state.chunks(block)) {
                    cbc::encrypt(cipher, iv, message)?;
                }
            }
            // One block, whose last two bytes are unchanged.
            "ctr1" if is_paper => ctr::apply(cipher, &iv, data)?,
            "ctr1" | "ctr4" | "ctr" | "table_ctr" => ctr::apply(cipher, &counter, data)?,
            // The chain leaves no trace in the data; tests of the library check it.
            "ccm" | "ccm_decrypt" => ccm(cipher, &self.state[block..], data)?,
            "ccm_x4" | "ccm_decrypt_x4" => {
                for (lane, message) in data.chunks_mut(bytes / 4).enumerate() {
                    ccm(cipher, &self.state[block * (4 + lane)..], message)?;
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(self.data))
    }
}

/// CTR as in CCM: the last eight bytes of a block are the counter (SP 800-38C, with a nonce of seven bytes).
fn ccm<C: BlockCipher>(cipher: &C, counter: &[u8], data: &mut [u8]) -> Result<(), Error> {
    let mut counter = counter[..C::BLOCK_BYTES].to_vec();
    for block in data.chunks_mut(C::BLOCK_BYTES) {
        let mut stream = counter.clone();
        ecb::encrypt(cipher, &mut stream)?;
        block.iter_mut().zip(&stream).for_each(|(byte, stream)| *byte ^= stream);
        for byte in counter[C::BLOCK_BYTES - 8..].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::paper::PAPER;
    use super::*;

    #[test]
    fn the_program_has_what_the_study_asks_for() {
        let names = names().expect("names");
        assert!(names.len() > 80, "{names:?}");
        for row in &PAPER.table_5 {
            for name in [row.layout, row.ours, row.ours_bulk] {
                assert!(names.contains(&name), "{name}");
            }
        }
        for name in names {
            sum(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn unknown_rows_are_errors() {
        for name in
            ["", "pipo128_encrypt1", "pipo128_encrypt1 x", "pipo128_encrypt1 4096", "des_encrypt 8", "rc6_ofb 16"]
        {
            assert!(matches!(sum(name), Err(Error::Program(_))), "{name}");
        }
    }
}
