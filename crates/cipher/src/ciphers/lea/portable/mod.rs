//! LEA in 32-bit words, several blocks side by side: constant time, no instructions beyond the target's baseline.
//!
//! It adds, XORs and rotates by fixed amounts, which every processor does in a fixed number of cycles.

/// The portable engine.
pub(super) type Portable = crate::ciphers::words::portable::Portable<super::keys::RoundKeys>;
