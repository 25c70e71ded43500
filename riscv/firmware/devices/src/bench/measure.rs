//! Calling a kernel between two readings of the counters, and above painted stack.

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
    /// The arguments are what the function wants, for as long as it is called.
    pub(crate) unsafe fn new(function: Function, arguments: [usize; 6]) -> Call {
        Call { function, arguments }
    }

    /// Cycles and instructions of a call, after so many others.
    pub(crate) fn measure(&self, before: usize) -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: who made this.
        unsafe { tress_bench_measure(self.function, &self.arguments, &mut spent, before) };
        spent
    }

    /// The same of a call before which there may be none.
    pub(crate) fn first(&self) -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: who made this.
        unsafe { tress_bench_first(self.function, &self.arguments, &mut spent, 0) };
        spent
    }

    /// The same of calling a function that does nothing.
    pub(crate) fn empty() -> [u32; 2] {
        let mut spent = [0; 2];
        // SAFETY: it takes no arguments.
        unsafe { tress_bench_empty(tress_bench_nothing as *const () as usize, &[0; 6], &mut spent, 1) };
        spent
    }

    /// Calls; bytes of stack that were written.
    pub(crate) fn stack(&self) -> u32 {
        // SAFETY: who made this; below the stack pointer is room for what is painted.
        unsafe { tress_bench_stack(self.function, &self.arguments) }
    }
}

/// Whether the counters are exact: the loop of 129 instructions adds 129, in a number of cycles that a core can reach. A
/// wide core completes several instructions in a cycle, but the 64 subtractions of the loop depend on each other.
pub(crate) fn counters_count() -> bool {
    // SAFETY: it takes no arguments.
    let counted = unsafe { Call::new(tress_bench_counted as *const () as usize, [0; 6]) };
    let ([cycles, instructions], [no_cycles, no_instructions]) = (counted.measure(1), Call::empty());
    instructions.wrapping_sub(no_instructions) == 129 && (32..129 * 64).contains(&cycles.wrapping_sub(no_cycles))
}
