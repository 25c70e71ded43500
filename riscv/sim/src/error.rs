//! The error type of this crate: what went wrong, where, and after how many instructions. Programs and tests match
//! [`ErrorKind`]; the text is for people.

use std::fmt;

/// What went wrong, and where in the program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error {
    /// What.
    pub kind: ErrorKind,
    /// Where, if the program was running.
    pub place: Option<Place>,
}

/// Where a program was when something went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Which hart.
    pub hart: usize,
    /// The address of the instruction.
    pub pc: u64,
    /// The function that it is in and how far, where the program has symbols.
    pub function: Option<(String, u64)>,
    /// Instructions that this hart had completed.
    pub instructions: u64,
}

/// Why a program cannot be loaded, or not run any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file does not begin as an ELF file does.
    #[error("not an ELF file")]
    NotElf,
    /// An ELF file of another processor, or big-endian.
    #[error("the ELF file is not for little-endian RISC-V")]
    NotRiscv,
    /// An object file or a shared library: not linked to addresses.
    #[error("not an executable: link the program to fixed addresses")]
    NotExecutable,
    /// A header, table or segment says things that the file does not hold.
    #[error("damaged ELF file: {0}")]
    DamagedElf(&'static str),
    /// The program needs registers of another width than the machine has.
    #[error("the program is for RV{program}, but the machine is RV{machine}")]
    WrongXlen {
        /// Bits of the program's registers.
        program: u32,
        /// Bits of the machine's registers.
        machine: u32,
    },
    /// There is nothing to execute in the file.
    #[error("the file has no segment to load")]
    NoSegments,
    /// A segment lies, wholly or in part, where the machine has no memory.
    #[error("segment at {start:#x} to {end:#x} is outside the machine's memory, which is {memory}")]
    SegmentOutside {
        /// Its first byte.
        start: u64,
        /// The byte after its last.
        end: u64,
        /// The memory that there is, for people.
        memory: String,
    },
    /// Two segments claim the same bytes.
    #[error("segments overlap at {0:#x}")]
    SegmentsOverlap(u64),
    /// The program starts where none of its segments is.
    #[error("entry point {0:#x} is not in an executable segment")]
    EntryOutside(u64),
    /// The machine contradicts itself; the text names the field.
    #[error("invalid machine: {0}")]
    Machine(String),

    /// A trap was raised and the program never set a handler.
    #[error("{0}, and the program has set no trap handler")]
    Unhandled(Trap),
    /// The trap handler raises the trap that it should handle, for ever.
    #[error("{0}, repeatedly: the trap handler never gets past it")]
    TrapLoop(Trap),
    /// Every hart waits for an interrupt, and none will come.
    #[error("deadlock: every hart waits for an interrupt, and none can occur")]
    Asleep,
    /// Somebody has stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The limit of instructions was reached.
    #[error("limit of {0} instructions reached")]
    Limit(u64),
    /// A secret is called by a name that the program does not have.
    #[error("data symbol {0:?} not found or ambiguous")]
    NoSymbol(String),
    /// The name is there, but not how long it is.
    #[error("symbol {0:?} has no size: use {0}+BYTES")]
    NoSymbolSize(String),
    /// Bytes that are said to be secret, or public, are not all memory.
    #[error("secret or public bytes at {start:#x} to {end:#x} are outside the machine's memory")]
    SecretOutside {
        /// The first byte.
        start: u64,
        /// The byte after the last.
        end: u64,
    },
    /// More secrets than can be told apart.
    #[error("too many secrets: at most {0} can be distinguished")]
    TooManySecrets(usize),
    /// Secrets are in more of the memory than can be followed.
    #[error("secret data occupies more than {0} bytes of memory, the limit")]
    SecretPages(u64),
    /// A request to the host that cannot be served.
    #[error("unknown request to the host: {0}")]
    Request(String),
    /// What the program prints cannot be written, or its input not be read.
    #[error("console: {0}")]
    Console(#[source] std::io::Error),
    /// The program asks for a character where it cannot be told that there is none.
    #[error("read beyond the end of the input: SYS_READC cannot report it")]
    NoInput,
}

/// A trap, as an error tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trap {
    /// The cause, as `mcause` has it.
    pub cause: u64,
    /// The address or instruction concerned, as `mtval` has it.
    pub value: u64,
    /// The stack pointer, where it points at no memory.
    pub lost_stack: Option<u64>,
}

/// The causes of the privileged specification's table of `mcause` that this machine raises.
pub mod cause {
    #![allow(missing_docs)]
    pub const INSTRUCTION_MISALIGNED: u64 = 0;
    pub const INSTRUCTION_ACCESS: u64 = 1;
    pub const ILLEGAL_INSTRUCTION: u64 = 2;
    pub const BREAKPOINT: u64 = 3;
    pub const LOAD_MISALIGNED: u64 = 4;
    pub const LOAD_ACCESS: u64 = 5;
    pub const STORE_MISALIGNED: u64 = 6;
    pub const STORE_ACCESS: u64 = 7;
    pub const ECALL_MACHINE: u64 = 11;
}

impl Error {
    /// An error outside of any running program.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Error {
        Error { kind, place: None }
    }

    /// The same, with the place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Error {
        self.place = Some(place);
        self
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error::new(kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match &self.place {
            Some(place) => write!(f, "; {place}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:#x}", self.pc)?;
        match &self.function {
            Some((name, 0)) => write!(f, " ({name})")?,
            Some((name, offset)) => write!(f, " ({name}+{offset:#x})")?,
            None => {}
        }
        let plural = if self.instructions == 1 { "" } else { "s" };
        write!(f, " on hart {}, after {} instruction{plural}", self.hart, self.instructions)
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        match self.cause {
            cause::INSTRUCTION_MISALIGNED => write!(f, "jump to {value:#x}, which is not a multiple of 4")?,
            cause::INSTRUCTION_ACCESS => write!(f, "instruction fetch from {value:#x}, where there is no memory")?,
            cause::ILLEGAL_INSTRUCTION => write!(f, "illegal instruction {value:#010x}")?,
            cause::BREAKPOINT => f.write_str("ebreak without a debugger")?,
            cause::LOAD_MISALIGNED => write!(f, "misaligned load from {value:#x}")?,
            cause::LOAD_ACCESS => write!(f, "load from {value:#x}, which cannot be read")?,
            cause::STORE_MISALIGNED => write!(f, "misaligned store to {value:#x}")?,
            cause::STORE_ACCESS => write!(f, "store to {value:#x}, which cannot be written")?,
            cause::ECALL_MACHINE => f.write_str("ecall without an operating system")?,
            other if other >> 31 != 0 => write!(f, "interrupt {}", other & 0xff)?,
            other => write!(f, "trap {other}")?,
        }
        match self.lost_stack {
            Some(stack) => write!(f, " (the stack pointer {stack:#x} is outside of memory)"),
            None => Ok(()),
        }
    }
}
