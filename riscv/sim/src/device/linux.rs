//! Linux's system calls, by `ecall` in machine mode: those of newlib's libgloss. Sources: Linux's
//! include/uapi/asm-generic (`unistd.h`, `stat.h`, `errno-base.h`) and libgloss/riscv.
//!
//! Descriptors are 0 to 2, all of them character devices. Clocks count the machine's cycles, so that a run repeats.

use crate::bus::Bus;
use crate::elf::Image;
use crate::error::ErrorKind;
use crate::isa::Xlen;

/// The most bytes that one call reads or writes.
const CALL_BYTES: u64 = 1 << 16;
/// Bytes below the stack pointer that `brk` does not take.
const STACK_BYTES: u64 = 4096;
/// Seconds that the clocks show at the start. libgloss of newlib before 4.2 takes 0 for a clock that it has not read.
const FIRST_SECOND: u64 = 1;

const CLOSE: u64 = 57;
const LSEEK: u64 = 62;
const READ: u64 = 63;
const WRITE: u64 = 64;
const FSTAT: u64 = 80;
const EXIT: u64 = 93;
const EXIT_GROUP: u64 = 94;
const CLOCK_GETTIME: u64 = 113;
const GETTIMEOFDAY: u64 = 169;
const BRK: u64 = 214;
const CLOCK_GETTIME64: u64 = 403;

/// `CLOCK_TAI`.
const LAST_CLOCK: u64 = 11;

const EBADF: u64 = 9;
const EFAULT: u64 = 14;
const EINVAL: u64 = 22;
const ESPIPE: u64 = 29;
const ENOSYS: u64 = 38;

/// The heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The program's break: the end of its heap.
    end: u64,
    /// The last address of the memory that holds heap and stack.
    last: u64,
}

/// Registers that a call reads: a7, and a0 to a2 as far as it has arguments.
pub(crate) fn registers(number: u64) -> &'static [usize] {
    let arguments = match number {
        CLOSE | EXIT | EXIT_GROUP | GETTIMEOFDAY | BRK => 1,
        FSTAT | CLOCK_GETTIME | CLOCK_GETTIME64 => 2,
        LSEEK | READ | WRITE => 3,
        _ => 0,
    };
    &[17, 10, 11, 12][..=arguments]
}

/// Puts the program's arguments above a stack at the end of the memory that holds its last segment, as Linux does, and
/// returns the stack pointer. Without environment and auxiliary vector.
pub(crate) fn start(bus: &mut Bus, image: &Image, arguments: &[Vec<u8>]) -> Result<u64, ErrorKind> {
    // A segment that begins with the headers of the file may begin below memory.
    let end = |(start, bytes): (u64, u64)| {
        let end = start.checked_add(bytes)?;
        Some((end, bus.memory.last_of_ram(end - bytes.min(1))?))
    };
    let ends = image.segments.iter().filter_map(|segment| end((segment.address, segment.memory_bytes)));
    let (end, last) = ends.max().ok_or(ErrorKind::NoStack)?;
    let (top, word_bytes) = (last & !15, u64::from(image.xlen.bits() / 8));
    let mut strings = Vec::new();
    let mut table = vec![arguments.len() as u64];
    let text_bytes: u64 = arguments.iter().map(|argument| argument.len() as u64 + 1).sum();
    for argument in arguments {
        table.push(top.wrapping_sub(text_bytes).wrapping_add(strings.len() as u64));
        strings.extend([argument, b"\0".as_slice()].concat());
    }
    // The ends of arguments and environment, and of the auxiliary vector.
    table.extend([0; 4]);
    let bytes = text_bytes + word_bytes * table.len() as u64;
    let stack =
        top.checked_sub(bytes).map(|stack| stack & !15).filter(|stack| *stack > end.saturating_add(STACK_BYTES));
    let stack = stack.ok_or(ErrorKind::NoStack)?;
    let table = table.iter().flat_map(|word| word.to_le_bytes().into_iter().take(word_bytes as usize));
    if !bus.memory.load(stack, &table.collect::<Vec<_>>()) || !bus.memory.load(top - text_bytes, &strings) {
        return Err(ErrorKind::NoStack);
    }
    bus.host.linux = Some(State { end: end.next_multiple_of(16), last });
    Ok(stack)
}

/// Serves a call with the values of a0 to a2, and returns its result or the number of an error. `now` is the hart's cycle.
pub(crate) fn call(
    bus: &mut Bus,
    xlen: Xlen,
    number: u64,
    arguments: [u64; 3],
    stack: u64,
    now: u64,
) -> Result<u64, u64> {
    let [first, second, third] = arguments.map(|argument| argument & xlen.address_mask());
    if matches!(number, CLOSE | LSEEK | READ | WRITE | FSTAT) && first > 2 {
        return Err(EBADF);
    }
    let hertz = u128::from(bus.host.hertz);
    let time = |unit: u128| {
        let all = u128::from(now) * unit / hertz;
        [FIRST_SECOND + (all / unit) as u64, (all % unit) as u64].map(u64::to_le_bytes).concat()
    };
    match number {
        CLOSE => Ok(0),
        LSEEK => Err(ESPIPE),
        READ if third > 0 => {
            let is_writable = |at: &u64| bus.memory.is_writable(second.wrapping_add(*at));
            let room = (0..third.min(CALL_BYTES)).take_while(is_writable).count() as u64;
            let bytes = if room > 0 { bus.host.read(room) } else { return Err(EFAULT) };
            store(bus, second, &bytes)?;
            Ok(bytes.len() as u64)
        }
        WRITE if third > 0 => {
            let bytes = bus.memory.bytes(second, third.min(CALL_BYTES));
            match first {
                _ if bytes.is_empty() => return Err(EFAULT),
                2 => bus.host.print_error(&bytes),
                _ => bus.host.print(&bytes),
            }
            bus.host.note_read(second, bytes.len() as u64);
            Ok(bytes.len() as u64)
        }
        READ | WRITE => Ok(0),
        FSTAT => {
            // Mode and number of links at 16, the size of a block at 56. RV32 has 32-bit times.
            let mut status = vec![0; if xlen == Xlen::Rv32 { 104 } else { 128 }];
            status[16..18].copy_from_slice(&0o20_620_u16.to_le_bytes());
            status[20] = 1;
            status[56..58].copy_from_slice(&1024_u16.to_le_bytes());
            store(bus, second, &status)
        }
        EXIT | EXIT_GROUP => {
            bus.host.exit(first & 0xffff_ffff);
            Ok(0)
        }
        CLOCK_GETTIME | CLOCK_GETTIME64 if first > LAST_CLOCK => Err(EINVAL),
        CLOCK_GETTIME | CLOCK_GETTIME64 => store(bus, second, &time(1_000_000_000)),
        GETTIMEOFDAY if first == 0 => Ok(0),
        GETTIMEOFDAY => store(bus, first, &time(1_000_000)),
        BRK => {
            let heap = bus.host.linux.as_mut().ok_or(ENOSYS)?;
            // The heap does not shrink, because C libraries take new memory for zero.
            let stack = stack & xlen.address_mask();
            let limit = if (heap.end..=heap.last).contains(&stack) { stack } else { heap.last };
            if (heap.end..limit.saturating_sub(STACK_BYTES)).contains(&first) {
                heap.end = first;
            }
            Ok(heap.end)
        }
        _ => Err(ENOSYS),
    }
}

/// Stores all bytes or none.
fn store(bus: &mut Bus, start: u64, bytes: &[u8]) -> Result<u64, u64> {
    let is_writable = |at| bus.memory.is_writable(start.wrapping_add(at));
    let stored = (0..bytes.len() as u64).all(is_writable) && bus.memory.load(start, bytes);
    if stored { Ok(0) } else { Err(EFAULT) }
}
