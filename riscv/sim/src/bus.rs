//! Memory and devices as the harts see them: loads, stores and reservations. A store can also trigger a request to the
//! host, print a character or end the program.

use std::io::{self, Read, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::device::{Devices, Htif, linux, semihosting};
use crate::elf::Image;
use crate::error::{Error, ErrorKind};
use crate::gdb::Stops;
use crate::hart::CodeCache;
use crate::machine::Machine;
use crate::memory::Memory;

/// Bytes in the aligned range that `lr` reserves around its address.
const RESERVATION_BYTES: u64 = 64;
/// The most bytes that one call can read.
const READ_BYTES: u64 = 1 << 16;
/// The most bytes of console output that are kept.
const PRINTED_BYTES: usize = 16 << 20;

/// Memory, devices and host, shared by all harts.
#[derive(Debug)]
pub struct Bus {
    /// The memory of the machine.
    pub memory: Memory,
    pub(crate) code: CodeCache,
    pub(crate) host: Host,
    pub(crate) stops: Stops,
    devices: Devices,
    htif: Option<Htif>,
    /// The address that each hart has reserved.
    reservations: Vec<Option<u64>>,
    /// Whether any hart holds a reservation.
    any_reserved: bool,
}

/// The host side of the simulation: console, input, exit code.
#[derive(Default)]
pub(crate) struct Host {
    /// Receives console output. If `None`, the output is kept in `printed`.
    console: Option<Box<dyn Write + Send>>,
    printed: Vec<u8>,
    /// Receives what programs print as errors. If `None`, the console does.
    errors: Option<Box<dyn Write + Send>>,
    /// If `None`, the input is empty.
    input: Option<Box<dyn Read + Send>>,
    /// Ranges of memory (start, bytes) that the host has read since the last instruction. `None` if nobody follows
    /// secrets.
    pub(crate) host_reads: Option<Vec<(u64, u64)>>,
    pub(crate) semihosting: semihosting::State,
    /// The heap, if `ecall` in machine mode is a system call of Linux.
    pub(crate) linux: Option<linux::State>,
    /// Cycles in a second.
    pub(crate) hertz: u64,
    /// The program's exit code, once it has ended.
    pub(crate) exit_code: Option<u64>,
    error: Option<ErrorKind>,
    /// Whether the host has work to do after this instruction.
    pub(crate) alarm: bool,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("exit_code", &self.exit_code).finish_non_exhaustive()
    }
}

impl Host {
    pub(crate) fn print(&mut self, bytes: &[u8]) {
        match &mut self.console {
            Some(console) => {
                if let Err(error) = console.write_all(bytes) {
                    self.fail(ErrorKind::Console(error));
                }
            }
            None => self.printed.extend(&bytes[..bytes.len().min(PRINTED_BYTES - self.printed.len())]),
        }
    }

    /// Prints errors, behind all earlier output.
    pub(crate) fn print_error(&mut self, bytes: &[u8]) {
        let flushed = self.flush();
        let Some(errors) = &mut self.errors else {
            return self.print(bytes);
        };
        if let Err(error) = flushed.and_then(|()| errors.write_all(bytes)) {
            self.fail(ErrorKind::Console(error));
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.console.as_mut().map_or(Ok(()), |console| console.flush())
    }

    /// Reads up to `most` bytes of the program's input, after flushing the console. Empty at the end of the input.
    pub(crate) fn read(&mut self, most: u64) -> Vec<u8> {
        let mut bytes = vec![0; most.min(READ_BYTES) as usize];
        let read = self.flush().and_then(|()| self.input.as_mut().map_or(Ok(0), |input| input.read(&mut bytes)));
        match read {
            Ok(read) => bytes.truncate(read),
            Err(error) => {
                bytes.clear();
                self.fail(match error.kind() {
                    io::ErrorKind::Interrupted => ErrorKind::Interrupted,
                    _ => ErrorKind::Console(error),
                });
            }
        }
        bytes
    }

    /// Notes that the host has read this range of memory to serve a request.
    pub(crate) fn note_read(&mut self, start: u64, bytes: u64) {
        if let Some(host_reads) = &mut self.host_reads {
            host_reads.push((start, bytes));
        }
    }

    /// Ends the program. Only the first call sets the exit code.
    pub(crate) fn exit(&mut self, code: u64) {
        self.exit_code.get_or_insert(code);
        self.alarm = true;
    }

    pub(crate) fn fail(&mut self, error: ErrorKind) {
        self.error.get_or_insert(error);
        self.alarm = true;
    }
}

impl Bus {
    /// The memory and devices of a machine, with no program loaded.
    #[must_use]
    pub fn new(machine: &Machine) -> Bus {
        Bus {
            memory: Memory::new(&machine.region),
            code: CodeCache::new(),
            host: Host { hertz: machine.hertz, ..Host::default() },
            stops: Stops::default(),
            devices: Devices::new(machine),
            htif: None,
            reservations: vec![None; machine.harts],
            any_reserved: false,
        }
    }

    /// Sets the input that programs read from now on. By default the input is empty.
    pub fn set_input(&mut self, input: Box<dyn Read + Send>) {
        self.host.input = Some(input);
    }

    /// Sends console output to `console` from now on, and stops keeping it.
    pub fn set_console(&mut self, console: Box<dyn Write + Send>) {
        self.host.console = Some(console);
    }

    /// Sends what programs print as errors (semihosting's `:tt` for appending, descriptor 2) to `errors` from now on, and
    /// not to the console.
    pub fn set_errors(&mut self, errors: Box<dyn Write + Send>) {
        self.host.errors = Some(errors);
    }

    /// Lets programs use the files in a folder by semihosting. By default they see no files.
    pub fn set_files(&mut self, folder: &Path) -> io::Result<()> {
        self.host.semihosting.folder = Some(Dir::open_ambient_dir(folder, ambient_authority())?);
        Ok(())
    }

    /// Sets the command line that programs get by semihosting: the program's name and its arguments, with a space
    /// between. By default it is empty.
    pub fn set_command_line(&mut self, line: Vec<u8>) {
        self.host.semihosting.command_line = line;
    }

    /// The first 16 MiB of console output. Empty after [`set_console`](Self::set_console).
    #[must_use]
    pub fn console(&self) -> &[u8] {
        &self.host.printed
    }

    /// Reads bytes of memory and devices until the first that cannot be read, without an effect on devices.
    pub(crate) fn peek(&mut self, address: u64, bytes: &mut [u8], now: u64) -> usize {
        let start = self.memory.bytes(address, bytes.len() as u64);
        bytes[..start.len()].copy_from_slice(&start);
        if !start.is_empty() {
            return start.len();
        }
        let mut register = |at, bytes| self.devices.peek(at, bytes, now, &mut self.host);
        let read = |(offset, byte): (u64, &mut u8)| {
            let at = address.wrapping_add(offset);
            // Registers have one byte or four.
            let value = match register(at, 1) {
                Some(value) => value,
                None => register(at & !3, 4)? >> (8 * (at & 3)),
            };
            *byte = value as u8;
            Some(())
        };
        (0..).zip(bytes).map_while(read).count()
    }

    /// Whether there is memory or a device at an address.
    pub(crate) fn is_there(&self, address: u64) -> bool {
        self.memory.contains(address) || self.devices.contain(address, 1)
    }

    /// Whether an access touches `tohost`.
    pub(crate) fn is_host_request(&self, address: u64, bytes: u64) -> bool {
        self.htif.as_ref().is_some_and(|htif| htif.covers(address, bytes))
    }

    /// Loads the segments of a program and watches its `tohost`, if it has one.
    pub(crate) fn load_image(&mut self, image: &Image) -> Result<(), Error> {
        for segment in &image.segments {
            let fits = self.memory.contains_range(segment.address, segment.memory_bytes)
                && self.memory.contains_range(segment.load_address, segment.bytes.len() as u64);
            let without_headers;
            let segment = match fits || segment.header_bytes == 0 {
                true => segment,
                false => {
                    without_headers = segment.without_headers();
                    &without_headers
                }
            };
            let outside = |memory: &Memory, start: u64, bytes: u64| {
                let (end, memory) = (start.saturating_add(bytes), memory.ranges());
                Error::new(ErrorKind::SegmentOutside { start, end, memory })
            };
            // Registers of a device may be a section that is not loaded.
            let is_device = segment.bytes.is_empty() && self.devices.contain(segment.address, segment.memory_bytes);
            if !is_device && !self.memory.contains_range(segment.address, segment.memory_bytes) {
                return Err(outside(&self.memory, segment.address, segment.memory_bytes));
            }
            if !self.memory.load(segment.load_address, &segment.bytes) {
                return Err(outside(&self.memory, segment.load_address, segment.bytes.len() as u64));
            }
        }
        self.htif = image.tohost.map(|tohost| Htif::new(tohost, image.fromhost));
        self.code.flush();
        Ok(())
    }

    /// The program's exit code, once it has ended.
    #[must_use]
    pub fn exit_code(&self) -> Option<u64> {
        self.host.exit_code
    }

    /// Loads `N` bytes, zero-extended, or `None` if they cannot be read. `now` is the hart's cycle.
    #[inline]
    pub(crate) fn load<const N: usize>(&mut self, address: u64, now: u64) -> Option<u64> {
        match self.memory.read::<N>(address) {
            Some(bytes) => Some(widen(bytes)),
            None => self.devices.read(address, N, now, &mut self.host),
        }
    }

    /// Stores the low `N` bytes of a value, or returns `None` if they cannot be written.
    #[inline]
    pub(crate) fn store<const N: usize>(&mut self, address: u64, value: u64, hart: usize, now: u64) -> Option<()> {
        let bytes: [u8; N] = narrow(value);
        if self.memory.write(address, bytes).is_none() {
            return self.devices.write(address, N, value, now, &mut self.host);
        }
        if self.any_reserved {
            self.break_reservations(address, N as u64, hart);
        }
        if let Some(htif) = &mut self.htif
            && htif.covers(address, N as u64)
        {
            htif.stored(address, N as u64, &mut self.memory, &mut self.host);
        }
        Some(())
    }

    /// The interrupts pending for a hart, as `mip` has them.
    pub(crate) fn pending(&self, hart: usize, now: u64) -> u64 {
        self.devices.pending(hart, now)
    }

    /// The value of `mtime`.
    pub(crate) fn time(&self, now: u64) -> u64 {
        self.devices.time(now)
    }

    /// The first cycle from `now` on at which one of the interrupts in `enabled` may become pending for a hart, if no
    /// program does anything.
    pub(crate) fn due(&self, hart: usize, enabled: u64, now: u64) -> Option<u64> {
        self.devices.due(hart, enabled, now)
    }

    /// Lets devices receive what has arrived.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64) {
        self.devices.advance(now, &mut self.host);
    }

    /// Handles the effects of the last store, and returns whether the program has ended. Called while `host.alarm` is
    /// set.
    pub(crate) fn attend(&mut self) -> Result<bool, Error> {
        self.host.alarm = false;
        if let Some(htif) = &mut self.htif {
            htif.attend(&mut self.memory, &mut self.host);
        }
        if let Some(error) = self.host.error.take() {
            return Err(error.into());
        }
        Ok(self.host.exit_code.is_some())
    }

    /// Serves a half-written request to the host, because every hart sleeps. Returns whether there was one.
    pub(crate) fn settle(&mut self) -> Result<bool, Error> {
        let asked = self.htif.as_mut().is_some_and(|htif| htif.settle(&mut self.memory, &mut self.host));
        if asked || self.host.alarm {
            self.attend()?;
        }
        Ok(asked)
    }

    pub(crate) fn reserve(&mut self, hart: usize, address: u64) {
        self.reservations[hart] = Some(address);
        self.any_reserved = true;
    }

    /// Removes a hart's reservation, and returns whether it held for this address.
    pub(crate) fn take_reservation(&mut self, hart: usize, address: u64) -> bool {
        let held = self.reservations[hart].take() == Some(address);
        self.any_reserved = self.reservations.iter().any(Option::is_some);
        held
    }

    /// Ends the reservations of other harts that a store touches.
    #[cold]
    fn break_reservations(&mut self, address: u64, bytes: u64, hart: usize) {
        let (first, last) = (address / RESERVATION_BYTES, address.wrapping_add(bytes - 1) / RESERVATION_BYTES);
        for (other, reservation) in self.reservations.iter_mut().enumerate() {
            let range = reservation.map(|reserved| reserved / RESERVATION_BYTES);
            if other != hart && (range == Some(first) || range == Some(last)) {
                *reservation = None;
            }
        }
    }

    /// Flushes the console output.
    pub fn flush_console(&mut self) -> Result<(), Error> {
        self.host.flush().map_err(|error| ErrorKind::Console(error).into())
    }
}

/// A number from its little-endian bytes.
#[inline]
fn widen<const N: usize>(bytes: [u8; N]) -> u64 {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(&bytes);
    u64::from_le_bytes(wide)
}

#[inline]
fn narrow<const N: usize>(value: u64) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&value.to_le_bytes()[..N]);
    bytes
}
