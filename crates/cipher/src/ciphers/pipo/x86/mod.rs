//! PIPO with the vector instructions of x86-64: AVX2, and AVX-512 with GFNI.

use super::keys::{self, RoundKeys};
use super::layers::{Block, StateRow, decrypt, encrypt};
use super::portable::{encrypt_block, spread};
use super::registers::{LaneRoundKeys, RowRegister, engine, repeat};
use crate::engine::{Engine, Interleave, Operation, STEP_BLOCKS, counters};

use core::arch::x86_64::{__m256i, __m512i};

mod avx2;
mod gfni512;

engine!(
    /// The engine with 32 blocks in eight 256-bit registers, bitsliced.
    Avx2,
    __m256i,
    "ssse3,sse4.1,avx,avx2",
    spread
);
engine!(
    /// The engine with 64 blocks in eight 512-bit registers, a byte for each block in a register.
    Gfni512,
    __m512i,
    "ssse3,sse4.1,avx,avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni",
    repeat
);
