//! LEA with a key, and the list of its backends.

use super::portable::Portable;
use super::reference::Reference;
use crate::block::Block;
use crate::engine::backends;
use crate::operation::compile_modes;

backends! {
    /// LEA with a key of 16, 24 or 32 bytes.
    pub enum LeaKey of Block {
        Reference: Reference,
        Portable: Portable,
    }
    ccm LeaKey
}

compile_modes!(ccm LeaKey);
