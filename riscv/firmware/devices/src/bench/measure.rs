//! Calling a kernel between two readings of the counters, above painted stack.

use core::{arch::global_asm, cell::UnsafeCell};

use crate::rows::{Arg, Row};

/// Bytes of data in a large call.
pub(crate) const MANY: usize = 1024;

/// What a kernel takes.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    /// Cycles of the first call, with the least work.
    pub(crate) first: u32,
    /// Of the second.
    pub(crate) small: u32,
    /// Of the second call with [`MANY`] bytes; 0 where there is none.
    pub(crate) large: u32,
    /// Instructions of that one, or of the small one.
    pub(crate) instructions: u32,
    /// Bytes of stack, the most of all calls.
    pub(crate) stack: u32,
}

impl Figures {
    pub(crate) const NONE: Figures = Figures { first: 0, small: 0, large: 0, instructions: 0, stack: 0 };
}

/// What kernels are given to work with.
#[repr(C, align(64))]
pub(crate) struct Buffers {
    /// The longest prepared key, AES-256's for eight blocks.
    key: [u32; 1 + 32 * 15],
    tables: [u32; 1024],
    data: [u8; MANY],
    /// Four keys of 32 bytes.
    key_bytes: [u32; 32],
    iv: [u32; 8],
    nonce: [u32; 6],
    room: [u32; 40],
    messages: [usize; 4],
}

struct Static(UnsafeCell<Buffers>);

// SAFETY: one hart runs.
unsafe impl Sync for Static {}

/// Not on the stack, which is short.
static BUFFERS: Static = Static(UnsafeCell::new(Buffers {
    key: [0; 1 + 32 * 15],
    tables: [0; 1024],
    data: [0; MANY],
    key_bytes: [0; 32],
    iv: [0; 8],
    nonce: [0; 6],
    room: [0; 40],
    messages: [0; 4],
}));

impl Buffers {
    /// The only ones; to be called once.
    pub(crate) fn take() -> &'static mut Buffers {
        // SAFETY: one hart runs, and `main` calls this once.
        let buffers = unsafe { &mut *BUFFERS.0.get() };
        for (number, word) in buffers.key_bytes.iter_mut().enumerate() {
            *word = (number as u32 + 1).wrapping_mul(0x9e37_79b9);
        }
        buffers
    }

    fn argument(&mut self, argument: Arg, bits: u16, unit: usize, bytes: usize) -> usize {
        match argument {
            Arg::Key => self.key.as_mut_ptr().expose_provenance(),
            Arg::KeyBytes => self.key_bytes.as_mut_ptr().expose_provenance(),
            Arg::KeyLength => usize::from(bits) / 8,
            Arg::KeyWords => usize::from(bits) / 64,
            Arg::Data => self.data.as_mut_ptr().expose_provenance(),
            Arg::Bytes => bytes,
            Arg::Units | Arg::Quarter => bytes / unit.max(1),
            Arg::Messages => {
                let data = self.data.as_mut_ptr().expose_provenance();
                self.messages = core::array::from_fn(|message| data + message * bytes / 4);
                self.messages.as_mut_ptr().expose_provenance()
            }
            Arg::Iv => self.iv.as_mut_ptr().expose_provenance(),
            Arg::Nonce => self.nonce.as_mut_ptr().expose_provenance(),
            Arg::Zero => 0,
            Arg::Room => self.room.as_mut_ptr().expose_provenance(),
            Arg::Tables => self.tables.as_mut_ptr().expose_provenance(),
        }
    }
}

// void tress_measure(address, const size_t arguments[6], size_t counts[5]): calls the function twice, with nothing between
// that could take its place in an instruction cache; counts are cycles and instructions of each call, from reading to reading
// of the counters, and the bytes of stack that they have changed, up to 1024. The paint is a word that no address and
// hardly any number is.
global_asm!(
    ".pushsection .text.tress_measure,\"ax\",@progbits",
    ".balign 4",
    "tress_measure:",
    "addi sp, sp, -32",
    "sw ra, 0(sp)",
    "sw s0, 4(sp)",
    "sw s1, 8(sp)",
    "sw s2, 12(sp)",
    "sw s3, 16(sp)",
    "sw s4, 20(sp)",
    "sw s5, 24(sp)",
    "mv s0, a2",
    "mv s1, a0",
    "mv s4, a1",
    "addi s5, a2, 16",
    "li t2, 0xa5c3963d",
    "addi t1, sp, -1024",
    "2: sw t2, 0(t1)",
    "addi t1, t1, 4",
    "bne t1, sp, 2b",
    "3: lw a0, 0(s4)",
    "lw a1, 4(s4)",
    "lw a2, 8(s4)",
    "lw a3, 12(s4)",
    "lw a4, 16(s4)",
    "lw a5, 20(s4)",
    "csrr s2, minstret",
    "csrr s3, mcycle",
    "jalr s1",
    "csrr t0, mcycle",
    "csrr t1, minstret",
    "sub t0, t0, s3",
    "sub t1, t1, s2",
    "sw t0, 0(s0)",
    "sw t1, 4(s0)",
    "addi s0, s0, 8",
    "bne s0, s5, 3b",
    "li t2, 0xa5c3963d",
    "addi t1, sp, -1024",
    "4: lw t0, 0(t1)",
    "bne t0, t2, 5f",
    "addi t1, t1, 4",
    "bne t1, sp, 4b",
    "5: sub t1, sp, t1",
    "sw t1, 0(s0)",
    "lw ra, 0(sp)",
    "lw s0, 4(sp)",
    "lw s1, 8(sp)",
    "lw s2, 12(sp)",
    "lw s3, 16(sp)",
    "lw s4, 20(sp)",
    "lw s5, 24(sp)",
    "addi sp, sp, 32",
    "ret",
    // Returns at once; and after 129 instructions more.
    ".balign 4",
    "tress_bench_empty: ret",
    ".balign 4",
    "tress_bench_counted:",
    "li a0, 64",
    "6: addi a0, a0, -1",
    "bnez a0, 6b",
    "ret",
    ".popsection",
);

unsafe extern "C" {
    fn tress_measure(function: usize, arguments: *const [usize; 6], counts: *mut [u32; 5]);
    safe fn tress_bench_empty();
    safe fn tress_bench_counted();
}

/// Two calls, without what calling an empty function takes.
struct Call {
    first: u32,
    cycles: u32,
    instructions: u32,
    stack: u32,
}

fn call(function: usize, arguments: &[usize; 6]) -> Call {
    let (mut empty, mut counts) = ([0; 5], [0; 5]);
    // SAFETY: the function takes such arguments, and the stack has room for the paint (the link script).
    unsafe {
        tress_measure(tress_bench_empty as *const () as usize, arguments, &mut empty);
        tress_measure(function, arguments, &mut counts);
    }
    let [first, _, cycles, instructions, stack] = counts;
    // The empty function's second call: its first has to be fetched too.
    let less = |count: u32, by: u32| count.wrapping_sub(by);
    Call {
        first: less(first, empty[2]),
        cycles: less(cycles, empty[2]),
        instructions: less(instructions, empty[3]),
        stack,
    }
}

/// Whether the counters are exact: the loop of 129 instructions adds 129, in a number of cycles that a core can reach. A
/// wide core completes several instructions in a cycle, but the 64 subtractions of the loop depend on each other.
pub(crate) fn counters_count() -> bool {
    let counted = call(tress_bench_counted as *const () as usize, &[0; 6]);
    counted.instructions == 129 && (32..129 * 64).contains(&counted.cycles)
}

/// A row with a key of so many bits.
pub(crate) fn measure(row: &Row, bits: u16, buffers: &mut Buffers) -> Figures {
    let unit = usize::from(row.unit);
    let mut run = |bytes: usize| {
        let mut arguments = [0; 6];
        for (to, argument) in arguments.iter_mut().zip(row.arguments) {
            *to = buffers.argument(*argument, bits, unit, bytes);
        }
        call(row.kernel.address(), &arguments)
    };
    let small = run(unit);
    let mut figures = Figures {
        first: small.first,
        small: small.cycles,
        large: 0,
        instructions: small.instructions,
        stack: small.stack,
    };
    if unit > 0 {
        let large = run(MANY);
        (figures.large, figures.instructions) = (large.cycles, large.instructions);
        figures.stack = figures.stack.max(large.stack);
    }
    figures
}
