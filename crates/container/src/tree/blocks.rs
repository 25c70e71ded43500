//! Blocks of a tar stream, and the errors about them.
use super::{BUFFER_BYTES, check_cancelled, names};
use crate::{Control, Error, ErrorKind};
use std::io::{Read, Write};

pub(crate) const BLOCK_BYTES: usize = 512;

/// Number of bytes from the end of the data to the next block.
pub(crate) fn padding_bytes(data_bytes: u64) -> usize {
    (BLOCK_BYTES - (data_bytes % BLOCK_BYTES as u64) as usize) % BLOCK_BYTES
}

/// Copies bytes that must be there.
pub(crate) fn copy(input: &mut dyn Read, out: &mut dyn Write, mut bytes: u64, control: &Control) -> Result<(), Error> {
    let mut buffer = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX).min(BUFFER_BYTES)];
    while bytes > 0 {
        check_cancelled(control)?;
        let most = buffer.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
        let count = input.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(ErrorKind::Truncated.into());
        }
        out.write_all(&buffer[..count])?;
        control.add_done(count as u64);
        bytes -= count as u64;
    }
    Ok(())
}

pub(crate) fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::TreeDamaged).with_detail(why)
}

/// An entry's path for messages, with replacement characters for what this system cannot express.
#[doc(hidden)]
pub fn shown(path: &[u8]) -> std::path::PathBuf {
    match names::to_os(path) {
        Some(path) => path.into(),
        None => String::from_utf8_lossy(path).into_owned().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_fills_blocks() {
        for (data_bytes, padding) in [(0, 0), (1, 511), (511, 1), (512, 0), (513, 511), (u64::MAX, 1)] {
            assert_eq!(padding_bytes(data_bytes), padding);
        }
    }
}
