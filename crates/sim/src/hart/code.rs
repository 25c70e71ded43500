//! Decoded instructions, kept for each page of the program until `fence.i`. As on cores whose instruction cache does not
//! watch stores, a program that writes instructions has to execute `fence.i` before it executes them.

use std::collections::HashMap;

use super::op::Op;
use crate::platform::PAGE_BYTES;

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
    near: [(u64, usize); NEAR],
    index: HashMap<u64, usize>,
    pages: Vec<Box<[Op; OPS]>>,
}

impl CodeCache {
    pub(crate) fn new() -> CodeCache {
        CodeCache { near: [(NO_PAGE, 0); NEAR], index: HashMap::new(), pages: Vec::new() }
    }

    /// The instruction at an address; `Op::UNKNOWN` where it was not decoded yet.
    #[inline]
    pub(crate) fn op(&self, pc: u64) -> Op {
        let number = pc >> PAGE_BITS;
        let (near, slot) = self.near[number as usize % NEAR];
        if near != number {
            return Op::UNKNOWN;
        }
        match self.pages.get(slot) {
            Some(page) => page[(pc >> 1) as usize % OPS],
            None => Op::UNKNOWN,
        }
    }

    /// Looks farther, for a page that is known and not near.
    #[cold]
    pub(crate) fn fetch(&mut self, pc: u64) -> Op {
        let number = pc >> PAGE_BITS;
        match self.index.get(&number) {
            Some(slot) => {
                self.near[number as usize % NEAR] = (number, *slot);
                self.op(pc)
            }
            None => Op::UNKNOWN,
        }
    }

    /// Keeps what was decoded.
    #[cold]
    pub(crate) fn keep(&mut self, pc: u64, op: Op) {
        let number = pc >> PAGE_BITS;
        if self.pages.len() == MAX_PAGES && !self.index.contains_key(&number) {
            self.flush();
        }
        let slot = *self.index.entry(number).or_insert_with(|| {
            self.pages.push(Box::new([Op::UNKNOWN; OPS]));
            self.pages.len() - 1
        });
        self.pages[slot][(pc >> 1) as usize % OPS] = op;
        self.near[number as usize % NEAR] = (number, slot);
    }

    /// Forgets everything.
    pub(crate) fn flush(&mut self) {
        self.near = [(NO_PAGE, 0); NEAR];
        self.index.clear();
        self.pages.clear();
    }
}
