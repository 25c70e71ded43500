//! Operations that can be measured.

use tress_arithmetic::Limb;
use tress_arithmetic::multiply::karatsuba_scratch;

macro_rules! operations {
    ($($(#[$about:meta])* $operation:ident = $name:literal,)*) => {
        /// An operation on numbers of one length.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operation {
            $($(#[$about])* $operation,)*
        }

        use Operation::*;

        impl Operation {
            pub const ALL: &[Operation] = &[$($operation),*];

            /// A short name.
            pub fn name(self) -> &'static str {
                match self {
                    $($operation => $name,)*
                }
            }
        }
    };
}

operations! {
    /// a + b
    Add = "add",
    /// a − b in two's complement
    Subtract = "subtract",
    /// a − b with borrows
    SubtractBorrow = "subtract-borrow",
    /// a · b by rows
    Rows = "multiply-rows",
    /// a · b by columns
    Columns = "multiply-columns",
    /// a · b by Karatsuba's method
    Karatsuba = "multiply-karatsuba",
    /// a² in three steps
    SquareThreeSteps = "square-three-steps",
    /// a² by Karatsuba's method
    SquareKaratsuba = "square-karatsuba",
    /// A product of 2 n digits modulo N by classical division
    Classical = "reduce-classical",
    /// A product of 2 n digits modulo N by Barrett's reduction
    Barrett = "reduce-barrett",
    /// A product of 2 n digits modulo N by Selby's table
    Selby = "reduce-selby",
    /// a · b modulo N by Takagi's method
    Takagi = "multiply-takagi",
    /// a · b / R modulo N
    Montgomery = "montgomery-cios",
    /// a^e modulo N by the binary method and classical division
    Binary = "power-binary",
    /// a^e modulo N by the r-ary method, r = 16
    RAry = "power-r-ary",
    /// a^e modulo N with a table of the base's powers
    PowerTable = "power-table",
    /// a^e modulo N with a table of a fixed base, digits of 4 bits
    FixedBase = "power-fixed-base",
    /// a^e modulo N by Montgomery's multiplication and the binary method
    MontgomeryBinary = "power-montgomery-binary",
}

impl Operation {
    /// The rows of the paper's tables, in order.
    pub const PAPER: [Operation; 8] =
        [Add, Subtract, Rows, SquareThreeSteps, Classical, Montgomery, Binary, MontgomeryBinary];

    pub fn of_name(name: &str) -> Option<Operation> {
        Operation::ALL.iter().copied().find(|operation| operation.name() == name)
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
