//! Decoded instructions, kept for each page of the program until `fence.i`. As on cores whose instruction cache does not
//! watch stores, a program that writes instructions has to execute `fence.i` before it executes them.

use std::collections::HashMap;

use super::op::{Code, Op};
use crate::memory::PAGE_BYTES;

/// Instructions start at even addresses.
const OPS: usize = PAGE_BYTES as usize / 2;
const PAGE_BITS: u32 = PAGE_BYTES.trailing_zeros();
/// Beyond so many pages everything is forgotten: 32 MiB of decoded instructions.
const MAX_PAGES: usize = 1024;
/// Pages that are found at once.
const NEAR: usize = 64;
/// No page has this number.
const NO_PAGE: u64 = u64::MAX;

/// The decoded instructions of all harts.
#[derive(Debug)]
pub(crate) struct CodeCache {
    /// Numbers of pages, and where their instructions begin.
    near: [(u64, usize); NEAR],
    index: HashMap<u64, usize>,
    /// Page after page, in the order in which they were first executed.
    ops: Vec<Op>,
}

impl CodeCache {
    pub(crate) fn new() -> CodeCache {
        CodeCache { near: [(NO_PAGE, 0); NEAR], index: HashMap::new(), ops: Vec::new() }
    }

    /// The instruction at an address, if its page is near; `Op::UNKNOWN` where it was not decoded yet.
    #[inline]
    pub(crate) fn op(&self, pc: u64) -> Option<&Op> {
        let number = pc >> PAGE_BITS;
        let (near, start) = self.near[number as usize % NEAR];
        if near != number {
            return None;
        }
        self.ops.get(start + (pc >> 1) as usize % OPS)
    }

    /// Looks farther: whether the instruction is decoded, on a page that now is near.
    #[cold]
    pub(crate) fn bring_near(&mut self, pc: u64) -> bool {
        let number = pc >> PAGE_BITS;
        if let Some(start) = self.index.get(&number) {
            self.near[number as usize % NEAR] = (number, *start);
        }
        self.op(pc).is_some_and(|op| op.code != Code::Unknown)
    }

    /// Keeps what was decoded.
    #[cold]
    pub(crate) fn keep(&mut self, pc: u64, op: Op) {
        let number = pc >> PAGE_BITS;
        if self.index.len() == MAX_PAGES && !self.index.contains_key(&number) {
            self.flush();
        }
        let start = *self.index.entry(number).or_insert_with(|| {
            let start = self.ops.len();
            self.ops.resize(start + OPS, Op::UNKNOWN);
            start
        });
        self.ops[start + (pc >> 1) as usize % OPS] = op;
        self.near[number as usize % NEAR] = (number, start);
    }

    /// Forgets everything.
    pub(crate) fn flush(&mut self) {
        self.near = [(NO_PAGE, 0); NEAR];
        self.index.clear();
        self.ops.clear();
    }
}
