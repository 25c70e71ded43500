//! Calls a kernel between two readings of the counters, or above painted stack.

use core::arch::global_asm;

global_asm!(include_str!("call.S"), options(raw));

type Function = usize;

unsafe extern "C" {
    fn tress_bench_measure(function: Function, arguments: &[usize; 6], spent: &mut [u32; 2], before: usize);
    fn tress_bench_first(function: Function, arguments: &[usize; 6], spent: &mut [u32; 2], before: usize);
    fn tress_bench_empty(function: Function, arguments: &[usize; 6], spent: &mut [u32; 2], before: usize);
    fn tress_bench_stack(function: Function, arguments: &[usize; 6]) -> u32;
    safe fn tress_bench_nothing();
    safe fn tress_bench_counted();
}

/// A kernel with its arguments.
pub(crate) struct Call {
    function: Function,
    arguments: [usize; 6],
}

impl Call {
    /// # Safety
    ///
    /// The arguments match the function and stay valid while it is called.
    pub(crate) unsafe fn new(function: Function, arguments: [usize; 6]) -> Call {
        Call { function, arguments }
    }

    /// Cycles and instructions of a call after `before` other calls.
    pub(crate) fn measure(&self, before: usize) -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: `new`'s caller guarantees that the arguments match the function.
        unsafe { tress_bench_measure(self.function, &self.arguments, &mut spent, before) };
        spent
    }

    /// Cycles and instructions of a call, which may be the first.
    pub(crate) fn first(&self) -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: `new`'s caller guarantees that the arguments match the function.
        unsafe { tress_bench_first(self.function, &self.arguments, &mut spent, 0) };
        spent
    }

    /// Cycles and instructions of calling an empty function.
    pub(crate) fn empty() -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: the function takes no arguments.
        unsafe { tress_bench_empty(tress_bench_nothing as *const () as usize, &[0; 6], &mut spent, 1) };
        spent
    }

    /// Calls the function and returns the bytes of stack that it has written.
    pub(crate) fn stack(&self) -> u32 {
        // SAFETY: `new`'s caller guarantees that the arguments match; there is room for the painted bytes below the stack pointer.
        unsafe { tress_bench_stack(self.function, &self.arguments) }
    }
}

/// Whether the counters are exact: the loop of 129 instructions must count 129, in a number of cycles that a core can
/// reach. A wide core completes several instructions in a cycle, but the 64 subtractions of the loop depend on each other.
pub(crate) fn counters_count() -> bool {
    // SAFETY: the function takes no arguments.
    let counted = unsafe { Call::new(tress_bench_counted as *const () as usize, [0; 6]) };
    let ([cycles, instructions], [no_cycles, no_instructions]) = (counted.measure(1), Call::empty());
    instructions.wrapping_sub(no_instructions) == 129 && (32..129 * 64).contains(&cycles.wrapping_sub(no_cycles))
}
