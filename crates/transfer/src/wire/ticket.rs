//! Tickets, which tie the data connections of a session to its control connection.
//!
//! A ticket is 32 random bytes that the receiver makes for each session and sends inside Noise. It is valid only together
//! with the sender's static key, and only while the session lasts.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use tress_container::Error;
use tress_container::container::fill_random;

pub(crate) const TICKET_BYTES: usize = 32;

/// A session's ticket. It is compared in constant time, wiped on drop, and never printed.
#[derive(Clone)]
pub(crate) struct Ticket([u8; TICKET_BYTES]);

impl Ticket {
    pub(crate) fn generate() -> Result<Self, Error> {
        let mut bytes = [0; TICKET_BYTES];
        fill_random(&mut bytes)?;
        Ok(Self(bytes))
    }

    pub(crate) fn from_bytes(bytes: [u8; TICKET_BYTES]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; TICKET_BYTES] {
        &self.0
    }
}

impl PartialEq for Ticket {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Ticket {}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket")
    }
}
