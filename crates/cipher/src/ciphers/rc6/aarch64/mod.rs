//! RC6 on the 128-bit registers of aarch64: four blocks a vector.

use core::arch::aarch64::*;

use super::keys::{RoundKeys, WORDS};
use crate::block::Block;
use crate::ciphers::words::sliced::{self, SlicedKeys, WordRegister, engine};
use crate::ciphers::words::{self, WordKeys};
use crate::engine::{CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, STEP_BLOCKS, counters};

engine!(
    /// The engine with 128-bit registers, four blocks a vector.
    Neon, uint32x4_t, "neon", 4, RoundKeys, WORDS
);
