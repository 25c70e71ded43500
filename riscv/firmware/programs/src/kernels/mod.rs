//! Small kernels whose cycles show how a timing model differs from the processor that it models: chains and streams of
//! one kind of instruction, written in assembly, and inner parts of programs.

mod chains;
mod control;
mod work;

/// The memory that a kernel uses.
#[repr(C, align(64))]
pub struct Memory {
    /// Input: numbers, or what `prepare` makes of them.
    pub from: [u32; 256],
    /// Output.
    pub to: [u32; 256],
}

/// A kernel and its preparation.
pub struct Kernel {
    /// The kernel's name.
    pub name: &'static str,
    /// Prepares `from`. Not measured.
    pub prepare: fn(&mut Memory),
    /// The measured function. Its result depends on everything that it does.
    pub run: fn(&mut Memory) -> u32,
}

fn nothing(_: &mut Memory) {}

/// All kernels.
pub static ALL: [Kernel; 22] = [
    Kernel { name: "alu-chain", prepare: nothing, run: chains::alu_chain },
    Kernel { name: "alu-streams", prepare: nothing, run: chains::alu_streams },
    Kernel { name: "load-use", prepare: chains::ring, run: chains::load_use },
    Kernel { name: "load-byte-use", prepare: nothing, run: chains::load_byte_use },
    Kernel { name: "load-late-use", prepare: nothing, run: chains::load_late_use },
    Kernel { name: "store-load", prepare: nothing, run: chains::store_load },
    Kernel { name: "store-load-apart", prepare: nothing, run: chains::store_load_apart },
    Kernel { name: "mul-chain", prepare: nothing, run: chains::mul_chain },
    Kernel { name: "mul-streams", prepare: nothing, run: chains::mul_streams },
    Kernel { name: "mul-among-alu", prepare: nothing, run: chains::mul_among_alu },
    Kernel { name: "div", prepare: nothing, run: chains::div },
    Kernel { name: "rem-signed", prepare: nothing, run: chains::rem_signed },
    Kernel { name: "branches-loop", prepare: nothing, run: control::branches_loop },
    Kernel { name: "branches-random", prepare: nothing, run: control::branches_random },
    Kernel { name: "calls", prepare: nothing, run: control::calls },
    Kernel { name: "memcpy", prepare: nothing, run: work::memcpy },
    Kernel { name: "pipo", prepare: nothing, run: work::pipo },
    Kernel { name: "aes-tables", prepare: nothing, run: work::aes_tables },
    Kernel { name: "aes-bitsliced", prepare: nothing, run: work::aes_bitsliced },
    Kernel { name: "rc6", prepare: nothing, run: work::rc6 },
    Kernel { name: "sha-256", prepare: nothing, run: work::sha_256 },
    Kernel { name: "sort", prepare: nothing, run: work::sort },
];
