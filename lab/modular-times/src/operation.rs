//! Operations that can be measured.

use tress_arithmetic::Limb;
use tress_arithmetic::multiply::karatsuba_scratch;

/// An operation on numbers of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// a + b
    Add,
    /// a − b in two's complement
    Subtract,
    /// a − b with borrows
    SubtractBorrow,
    /// a · b by rows
    Rows,
    /// a · b by columns
    Columns,
    /// a · b by Karatsuba's method
    Karatsuba,
    /// a² in three steps
    SquareThreeSteps,
    /// a² by Karatsuba's method
    SquareKaratsuba,
    /// A product of 2 n digits modulo N by classical division
    Classical,
    /// A product of 2 n digits modulo N by Barrett's reduction
    Barrett,
    /// A product of 2 n digits modulo N by Selby's table
    Selby,
    /// a · b modulo N by Takagi's method
    Takagi,
    /// a · b / R modulo N
    Montgomery,
    /// a^e modulo N by the binary method and classical division
    Binary,
    /// a^e modulo N by the r-ary method, r = 16
    RAry,
    /// a^e modulo N with a table of the base's powers
    PowerTable,
    /// a^e modulo N with a table of a fixed base, digits of 4 bits
    FixedBase,
    /// a^e modulo N by Montgomery's multiplication and the binary method
    MontgomeryBinary,
}

use Operation::*;

impl Operation {
    /// The rows of the paper's tables, in order.
    pub const PAPER: [Operation; 8] =
        [Add, Subtract, Rows, SquareThreeSteps, Classical, Montgomery, Binary, MontgomeryBinary];

    /// All operations, each with a short name.
    const NAMED: [(Operation, &'static str); 18] = [
        (Add, "add"),
        (Subtract, "subtract"),
        (SubtractBorrow, "subtract-borrow"),
        (Rows, "multiply-rows"),
        (Columns, "multiply-columns"),
        (Karatsuba, "multiply-karatsuba"),
        (SquareThreeSteps, "square-three-steps"),
        (SquareKaratsuba, "square-karatsuba"),
        (Classical, "reduce-classical"),
        (Barrett, "reduce-barrett"),
        (Selby, "reduce-selby"),
        (Takagi, "multiply-takagi"),
        (Montgomery, "montgomery-cios"),
        (Binary, "power-binary"),
        (RAry, "power-r-ary"),
        (PowerTable, "power-table"),
        (FixedBase, "power-fixed-base"),
        (MontgomeryBinary, "power-montgomery-binary"),
    ];

    pub const ALL: [Operation; 18] = {
        let mut all = [Add; 18];
        let mut place = 0;
        while place < all.len() {
            all[place] = Operation::NAMED[place].0;
            place += 1;
        }
        all
    };

    pub fn name(self) -> &'static str {
        Operation::NAMED.iter().find(|(operation, _)| *operation == self).map_or("", |(_, name)| name)
    }

    pub fn of_name(name: &str) -> Option<Operation> {
        Operation::NAMED.iter().find(|(_, known)| *known == name).map(|(operation, _)| *operation)
    }

    /// Digits of memory that [`measure`](crate::measure) needs for numbers of this many bits.
    pub fn memory<L: Limb>(self, bits: usize) -> usize {
        let n = bits / L::BITS as usize;
        // Base, factor, modulus, exponent, a product, tables and scratch memory.
        6 * n
            + match self {
                Add | Subtract | SubtractBorrow | Rows | Columns | SquareThreeSteps => 0,
                Karatsuba | SquareKaratsuba => karatsuba_scratch(n),
                Classical => 2 * n,
                Barrett => 7 * n + 6,
                Selby => n * n + 3 * n + 3,
                Takagi => n + 2,
                Montgomery => 0,
                Binary => 3 * n,
                MontgomeryBinary => 7 * n,
                RAry => 20 * n,
                PowerTable => (bits + 5) * n,
                FixedBase => (bits.div_ceil(4) + 6) * n,
            }
    }
}
