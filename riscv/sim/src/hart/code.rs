//! Decoded instructions, cached for each page of the program until `fence.i`. A program that writes instructions must
//! execute `fence.i` before it executes them, as on cores whose instruction cache does not watch stores.

use std::collections::HashMap;

use super::op::{Op, Opcode};
use crate::memory::PAGE_BYTES;

/// Instructions per page: they start at even addresses.
const OPS: usize = PAGE_BYTES as usize / 2;
const PAGE_BITS: u32 = PAGE_BYTES.trailing_zeros();
/// The most pages that are cached: 32 MiB of decoded instructions. When more are needed, the whole cache is cleared.
const MAX_PAGES: usize = 1024;
/// Entries of the direct-mapped table of pages, which is searched first.
const TABLE_ENTRIES: usize = 64;
/// Marks an empty entry. No page has this number.
const NO_PAGE: u64 = u64::MAX;

/// The decoded instructions of all harts.
#[derive(Debug)]
pub(crate) struct CodeCache {
    /// Number of a page, and the index in `ops` of its first instruction.
    table: [(u64, usize); TABLE_ENTRIES],
    index: HashMap<u64, usize>,
    /// The instructions of all pages, in the order in which the pages were first executed.
    ops: Vec<Op>,
    /// The last instruction that was executed at a breakpoint, and its address. `ops` does not keep it.
    at_breakpoint: Option<(u64, Op)>,
}

impl CodeCache {
    pub(crate) fn new() -> CodeCache {
        CodeCache { table: [(NO_PAGE, 0); TABLE_ENTRIES], index: HashMap::new(), ops: Vec::new(), at_breakpoint: None }
    }

    /// The instruction at an address, or `None` if its page is not in `table`. `Op::UNKNOWN` if it is not decoded yet.
    #[inline]
    pub(crate) fn op(&self, pc: u64) -> Option<&Op> {
        let number = pc >> PAGE_BITS;
        let (table, start) = self.table[number as usize % TABLE_ENTRIES];
        if table != number {
            return None;
        }
        self.ops.get(start + (pc >> 1) as usize % OPS)
    }

    /// The instruction of the step that has just executed the one at an address. `None` for `fence.i`, which has cleared
    /// all decoded instructions, its own included.
    pub(crate) fn executed(&self, pc: u64) -> Option<Op> {
        let decoded = self.op(pc).filter(|op| op.code != Opcode::Unknown).copied();
        decoded.or_else(|| self.at_breakpoint.filter(|(at, _)| *at == pc).map(|(_, op)| op))
    }

    /// Drops the instruction of the last step, which has a breakpoint.
    #[cold]
    pub(crate) fn drop_executed(&mut self, pc: u64) {
        self.at_breakpoint = self.op(pc).map(|op| (pc, *op));
        self.keep(pc, Op::UNKNOWN);
    }

    /// Moves the page of an address into `table`, and returns whether the instruction is decoded.
    #[cold]
    pub(crate) fn find_page(&mut self, pc: u64) -> bool {
        let number = pc >> PAGE_BITS;
        if let Some(start) = self.index.get(&number) {
            self.table[number as usize % TABLE_ENTRIES] = (number, *start);
        }
        self.op(pc).is_some_and(|op| op.code != Opcode::Unknown)
    }

    /// Caches a decoded instruction.
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
        self.table[number as usize % TABLE_ENTRIES] = (number, start);
    }

    pub(crate) fn flush(&mut self) {
        self.table = [(NO_PAGE, 0); TABLE_ENTRIES];
        self.index.clear();
        self.ops.clear();
        self.at_breakpoint = None;
    }
}
