//! Randomness from the system.

use crate::{Error, ErrorKind};

/// Fills the buffer with random bytes from the system.
#[doc(hidden)]
pub fn fill_random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| {
        Error::new(ErrorKind::Io(std::io::ErrorKind::Other))
            .with_detail("the system provides no random bytes")
            .with_source(error)
    })
}
