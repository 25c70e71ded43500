//! LEA with AVX2 and AVX-512.

use core::arch::x86_64::*;

use super::keys::{RoundKeys, WORDS};
use crate::block::Block;
use crate::ciphers::words::sliced::{self, SlicedKeys, WordRegister, engine};
use crate::ciphers::words::{self, WordKeys};
use crate::engine::{CcmEngine, CcmOperation, CipherDirection, Engine, Interleave, Operation, STEP_BLOCKS, counters};

engine!(
    /// The engine with 256-bit registers, eight blocks a vector.
    Avx2, __m256i, "ssse3,sse4.1,avx,avx2", 2, RoundKeys, WORDS
);
engine!(
    /// The engine with 512-bit registers, sixteen blocks a vector.
    Avx512, __m512i, "ssse3,sse4.1,avx,avx2,avx512f,avx512bw,avx512dq,avx512vl", 2, RoundKeys, WORDS
);
