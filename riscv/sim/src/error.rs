//! The error type of this crate: what went wrong, in which instruction and after how many. Programs and tests match
//! [`ErrorKind`]; the text is for people.

use std::fmt;

use crate::lines::SourceLine;

/// What went wrong, and where in the program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Where the program was, if it was running.
    pub place: Option<Box<Place>>,
}

/// The state of a program when an error occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Number of the hart.
    pub hart: usize,
    /// The address of the instruction.
    pub pc: u64,
    /// The function that contains `pc` and the offset in it, if the program has symbols.
    pub function: Option<(String, u64)>,
    /// The line of the source, if the program has debug information.
    pub source: Option<SourceLine>,
    /// Instructions that this hart had completed.
    pub instructions: u64,
}

/// Why a program cannot be loaded, or cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file does not have the ELF magic bytes.
    #[error("not an ELF file")]
    NotElf,
    /// The ELF file is for another processor, or big-endian.
    #[error("the ELF file is not for little-endian RISC-V")]
    NotRiscv,
    /// The file is an object file or a shared library, not linked to fixed addresses.
    #[error("not an executable: link the program to fixed addresses")]
    NotExecutable,
    /// A header, table or segment refers to data outside the file.
    #[error("damaged ELF file: {0}")]
    DamagedElf(&'static str),
    /// The program's register width differs from the machine's.
    #[error("the program is for RV{program}, but the machine is RV{machine}")]
    WrongXlen {
        /// Bits of the program's registers.
        program: u32,
        /// Bits of the machine's registers.
        machine: u32,
    },
    /// The file has no segment to load.
    #[error("the file has no segment to load")]
    NoSegments,
    /// A segment is partly or fully outside the machine's memory.
    #[error("segment at {start:#x} to {end:#x} is outside the machine's memory, which is {memory}")]
    SegmentOutside {
        /// Its first byte.
        start: u64,
        /// The byte after its last.
        end: u64,
        /// The machine's memory, as text for people.
        memory: String,
    },
    /// There is no memory for a stack and the program's arguments.
    #[error("no RAM above the program's last segment for a stack and the program's arguments")]
    NoStack,
    /// Two segments are loaded at the same address.
    #[error("segments overlap at {0:#x}: both are loaded there")]
    SegmentsOverlap(u64),
    /// The entry point is outside all executable segments.
    #[error("entry point {0:#x} is not in an executable segment")]
    EntryOutside(u64),
    /// The entry point is not a multiple of the size of the shortest instruction.
    #[error("entry point {0:#x} is not a multiple of {1}")]
    EntryMisaligned(u64, u64),
    /// The program is compiled for an extension that the machine does not have. The second text is the part of the file
    /// that says so.
    #[error("the program is compiled for {0} ({1} says so), which the machine does not have")]
    MissingExtension(String, &'static str),
    /// The machine description is invalid. The text names the field.
    #[error("invalid machine: {0}")]
    Machine(String),

    /// A trap was raised, and the program never set a handler.
    #[error("{0}, and the program has set no trap handler")]
    Unhandled(Trap),
    /// The trap handler raises the same trap again and again.
    #[error("{0}, repeatedly: the trap handler never gets past it")]
    TrapLoop(Trap),
    /// Every hart waits for an interrupt, and none will come.
    #[error("deadlock: every hart waits for an interrupt, and none can occur")]
    Asleep,
    /// The program continues in user mode after it has protected memory.
    #[error("user mode with protected memory (pmpcfg) is not simulated")]
    Protection,
    /// The simulation was stopped from outside.
    #[error("interrupted")]
    Interrupted,
    /// The limit of instructions was reached.
    #[error("limit of {0} instructions reached")]
    Limit(u64),
    /// The program has no data symbol of this name, or several.
    #[error("data symbol {0:?} not found or ambiguous")]
    NoSymbol(String),
    /// The symbol exists, but its size is unknown.
    #[error("symbol {0:?} has no size: use {0}+BYTES")]
    NoSymbolSize(String),
    /// Bytes marked as secret or public are not all in memory.
    #[error("secret or public bytes at {start:#x} to {end:#x} are outside the machine's memory")]
    SecretOutside {
        /// The first byte.
        start: u64,
        /// The byte after the last.
        end: u64,
    },
    /// There are more secrets than labels.
    #[error("too many secrets: at most {0} can be distinguished")]
    TooManySecrets(usize),
    /// Secrets occupy more memory than can be tracked.
    #[error("secret data occupies more than {0} bytes of memory, the limit")]
    SecretPages(u64),
    /// A debugger's session failed, or ended the program.
    #[error("debugger: {0}")]
    Debugger(String),
    /// The program made a request to the host that cannot be served.
    #[error("unknown request to the host: {0}")]
    Request(String),
    /// Console output cannot be written, or console input cannot be read.
    #[error("console: {0}")]
    Console(#[source] std::io::Error),
    /// The program reads on, character by character, although the host has told it often that the input has ended.
    #[error("read beyond the end of the input: the program ignores that SYS_READC returns -1")]
    NoInput,
}

/// A trap, as errors describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trap {
    /// The cause, as `mcause` has it.
    pub cause: u64,
    /// The address or instruction, as `mtval` has it.
    pub value: u64,
    /// The stack pointer, if it points outside memory.
    pub lost_stack: Option<u64>,
    /// Why the machine raises it, where cause and value do not say so.
    pub reason: Option<Reason>,
}

/// Why a machine raises a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The instruction is of this extension, which the machine does not have.
    Extension(&'static str),
    /// The machine has no control and status register of this number.
    NoRegister(u32),
    /// The control and status register of this number is read-only.
    ReadOnly(u32),
    /// The floating-point unit is off.
    FloatOff,
    /// The instruction needs machine mode, and the hart is in user mode.
    UserMode,
    /// `lr` and `sc` do not work at the address.
    NoReservation,
}

/// The values of `mcause` that this machine raises, from the privileged specification.
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
    pub const ECALL_USER: u64 = 8;
    pub const ECALL_MACHINE: u64 = 11;
}

impl Error {
    /// An error without a place, for failures outside a running program.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Error {
        Error { kind, place: None }
    }

    /// Adds the place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Error {
        self.place = Some(Box::new(place));
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
        if let Some(line) = &self.source {
            write!(f, " in {line}")?;
        }
        let plural = if self.instructions == 1 { "" } else { "s" };
        write!(f, " on hart {}, after {} instruction{plural}", self.hart, self.instructions)
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        // Bit 31 or 63 marks an interrupt.
        let is_interrupt = self.cause >> 31 != 0;
        match self.cause & 0xff {
            3 if is_interrupt => f.write_str("software interrupt")?,
            7 if is_interrupt => f.write_str("timer interrupt")?,
            other if is_interrupt => write!(f, "interrupt {other}")?,
            _ if self.reason == Some(Reason::NoReservation) => {
                write!(f, "lr or sc at {value:#x}, where only amo instructions work")?;
            }
            cause::INSTRUCTION_MISALIGNED => write!(f, "jump to {value:#x}, which is not a multiple of 4")?,
            cause::INSTRUCTION_ACCESS => write!(f, "instruction fetch from {value:#x}, where there is no memory")?,
            cause::ILLEGAL_INSTRUCTION => write!(f, "illegal instruction {value:#010x}")?,
            cause::BREAKPOINT => f.write_str("ebreak without a debugger")?,
            cause::LOAD_MISALIGNED => write!(f, "misaligned load from {value:#x}")?,
            cause::LOAD_ACCESS => write!(f, "load from {value:#x}, which cannot be read")?,
            cause::STORE_MISALIGNED => write!(f, "misaligned store to {value:#x}")?,
            cause::STORE_ACCESS => write!(f, "store to {value:#x}, which cannot be written")?,
            cause::ECALL_USER | cause::ECALL_MACHINE => f.write_str("ecall without an operating system")?,
            other => write!(f, "trap {other}")?,
        }
        match self.reason {
            Some(Reason::Extension(name)) => write!(f, " of {name}, which the machine does not have")?,
            Some(Reason::NoRegister(number)) => write!(f, " of CSR {number:#x}, which the machine does not have")?,
            Some(Reason::ReadOnly(number)) => write!(f, " that writes CSR {number:#x}, which is read-only")?,
            Some(Reason::FloatOff) => f.write_str(" while the floating-point unit is off (mstatus.FS is 0)")?,
            Some(Reason::UserMode) => f.write_str(" in user mode")?,
            Some(Reason::NoReservation) | None => {}
        }
        match self.lost_stack {
            Some(stack) => write!(f, " (the stack pointer {stack:#x} is outside of memory)"),
            None => Ok(()),
        }
    }
}
