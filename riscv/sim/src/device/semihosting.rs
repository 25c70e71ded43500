//! Semihosting: a program calls the host by `ebreak` between two shifts of x0. Sources: Arm's "Semihosting for AArch32
//! and AArch64" and the RISC-V Semihosting specification 1.0.
//!
//! Files are the console, the features file, which lists the extensions, and those of one folder. Clocks count the
//! machine's cycles, so that a run repeats: the time of day is the time since the start.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use cap_std::fs::{Dir, File, OpenOptions};

use crate::bus::Bus;
use crate::error::ErrorKind;
use crate::isa::Xlen;

/// `slli x0, x0, 0x1f` before and `srai x0, x0, 7` after the `ebreak`.
pub(crate) const BEFORE: u32 = 0x01f0_1013;
pub(crate) const AFTER: u32 = 0x4070_5013;

/// The most bytes that one call reads or writes, except for WRITE0, which has no way to say how many are left.
const CALL_BYTES: u64 = 1 << 16;
const NAME_BYTES: u64 = 4096;
const MAX_OPEN: usize = 64;
/// The most characters that a program may read past the end of its input. picolibc 1.8 takes each end for a byte 0xff, so
/// that a loop of `getchar` never ends.
const MAX_ENDS: u32 = 100;
/// `ADP_Stopped_ApplicationExit`.
const APPLICATION_EXIT: u64 = 0x20026;
const FAILED: u64 = u64::MAX;

/// Handles of the console. picolibc reads from 0 if a program does.
const STDIN: u64 = 1;
const STDOUT: u64 = 2;
const STDERR: u64 = 3;
/// Handle of the features file. Its contents are four magic bytes and one bit for each extension:
/// `SH_EXT_EXIT_EXTENDED` and `SH_EXT_STDOUT_STDERR`.
const FEATURES: u64 = 4;
const FEATURE_BYTES: &[u8] = b"SHFB\x03";
/// Handle of the first file.
const FIRST_FILE: u64 = 5;

// Values of `errno`.
const ENOENT: u64 = 2;
const EIO: u64 = 5;
const EBADF: u64 = 9;
const EACCES: u64 = 13;
const EFAULT: u64 = 14;
const EINVAL: u64 = 22;

/// What the host keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The number of the last error.
    errno: u64,
    /// Characters read past the end of the input.
    ends: u32,
    /// Number of bytes of the features file that the program has read.
    features_read: usize,
    /// The folder in which the program may use files.
    pub(crate) folder: Option<Dir>,
    open: Vec<Option<File>>,
    pub(crate) command_line: Vec<u8>,
}

impl State {
    fn slot(&mut self, handle: u64) -> Option<&mut Option<File>> {
        self.open.get_mut(usize::try_from(handle.checked_sub(FIRST_FILE)?).ok()?)
    }

    fn file(&mut self, handle: u64) -> Result<&mut File, u64> {
        self.slot(handle).and_then(Option::as_mut).ok_or(EBADF)
    }
}

/// Serves a call and returns its result for a0. `now` is the hart's cycle.
pub(crate) fn call(bus: &mut Bus, xlen: Xlen, operation: u64, parameter: u64, now: u64) -> u64 {
    let parameter = parameter & xlen.address_mask();
    Call { bus, xlen, parameter, now }.serve(operation).unwrap_or_else(|error| {
        bus.host.semihosting.errno = error;
        FAILED
    })
}

struct Call<'a> {
    bus: &'a mut Bus,
    xlen: Xlen,
    /// Usually the address of a block of words.
    parameter: u64,
    now: u64,
}

impl Call<'_> {
    /// The arms are OPEN, CLOSE, WRITEC, WRITE0, WRITE and READ, READC, ISERROR, ISTTY, SEEK, FLEN, REMOVE, RENAME, CLOCK,
    /// TIME, ERRNO, GET_CMDLINE, ELAPSED, TICKFREQ, EXIT, EXIT_EXTENDED.
    fn serve(&mut self, operation: u64) -> Result<u64, u64> {
        let hertz = u128::from(self.bus.host.hertz);
        match operation {
            0x01 => {
                let name = self.name(0, 2)?;
                let mode = self.word(1)?;
                self.open(&name, mode)
            }
            0x02 => match self.word(0)? {
                0..FIRST_FILE => Ok(0),
                handle => self.state().slot(handle).and_then(Option::take).map(|_| 0).ok_or(EBADF),
            },
            0x03 => {
                if let Some([byte]) = self.bus.memory.read(self.parameter) {
                    self.bus.host.note_read(self.parameter, 1);
                    self.bus.host.print(&[byte]);
                }
                Ok(0)
            }
            0x04 => {
                let mut bytes = 0;
                loop {
                    let mut piece = self.bus.memory.bytes(self.parameter.wrapping_add(bytes), CALL_BYTES);
                    piece.truncate(piece.iter().position(|byte| *byte == 0).unwrap_or(piece.len()));
                    self.bus.host.print(&piece);
                    bytes += piece.len() as u64;
                    // The end of the string or of memory.
                    if (piece.len() as u64) < CALL_BYTES {
                        break;
                    }
                }
                // Includes the terminating zero byte, which tells the length.
                self.bus.host.note_read(self.parameter, bytes + 1);
                Ok(0)
            }
            // WRITE and READ return the number of bytes that were not written or read: all of them after an error.
            0x05 | 0x06 => {
                let (handle, start, length) = (self.word(0)?, self.word(1)?, self.word(2)?);
                let done = match operation {
                    0x05 => self.write(handle, start, length),
                    _ => self.read(handle, start, length),
                };
                self.state().errno = done.err().unwrap_or(self.state().errno);
                Ok(length - done.unwrap_or(0))
            }
            0x07 => {
                let byte = self.bus.host.read(1).first().copied();
                self.state().ends += u32::from(byte.is_none());
                if self.state().ends > MAX_ENDS {
                    self.bus.host.fail(ErrorKind::NoInput);
                }
                Ok(byte.map_or(FAILED, u64::from))
            }
            0x08 => Ok(self.word(0)? >> (self.xlen.bits() - 1)),
            0x09 => match self.word(0)? {
                0..=STDERR => Ok(1),
                FEATURES => Ok(0),
                handle => self.state().file(handle).map(|_| 0),
            },
            0x0a => match (self.word(0)?, self.word(1)?) {
                (FEATURES, place) if place <= FEATURE_BYTES.len() as u64 => {
                    self.state().features_read = place as usize;
                    Ok(0)
                }
                (FEATURES, _) => Err(EINVAL),
                (handle, place) => self.state().file(handle)?.seek(SeekFrom::Start(place)).map(|_| 0).map_err(number),
            },
            0x0c => match self.word(0)? {
                FEATURES => Ok(FEATURE_BYTES.len() as u64),
                handle => self.state().file(handle)?.metadata().map(|data| data.len()).map_err(number),
            },
            0x0e => {
                let name = self.name(0, 1)?;
                self.folder()?.remove_file(name).map(|()| 0).map_err(number)
            }
            0x0f => {
                let (from, to) = (self.name(0, 1)?, self.name(2, 3)?);
                let folder = self.folder()?;
                folder.rename(from, folder, to).map(|()| 0).map_err(number)
            }
            0x10 => Ok((u128::from(self.now) * 100 / hertz) as u64),
            0x11 => Ok((u128::from(self.now) / hertz) as u64),
            0x13 => Ok(self.state().errno),
            0x15 => {
                let (start, room) = (self.word(0)?, self.word(1)?);
                let text = [self.bus.host.semihosting.command_line.as_slice(), b"\0"].concat();
                if text.len() as u64 > room {
                    return Err(EINVAL);
                }
                self.store(start, &text)?;
                let bytes = u64::from(self.xlen.bits() / 8);
                self.store(
                    self.parameter.wrapping_add(bytes),
                    &(text.len() as u64 - 1).to_le_bytes()[..bytes as usize],
                )?;
                Ok(0)
            }
            0x30 => self.store(self.parameter, &self.now.to_le_bytes()).map(|()| 0),
            0x31 if hertz > self.xlen.address_mask().into() => Err(EINVAL),
            0x31 => Ok(hertz as u64),
            0x18 if self.xlen == Xlen::Rv32 => {
                self.bus.host.exit(u64::from(self.parameter != APPLICATION_EXIT));
                Ok(0)
            }
            0x18 | 0x20 => {
                let code = match (self.word(0), self.word(1)) {
                    (Ok(APPLICATION_EXIT), Ok(code)) => code & 0xffff_ffff,
                    _ => 1,
                };
                self.bus.host.exit(code);
                Ok(0)
            }
            _ => Err(EINVAL),
        }
    }

    fn state(&mut self) -> &mut State {
        &mut self.bus.host.semihosting
    }

    fn folder(&self) -> Result<&Dir, u64> {
        self.bus.host.semihosting.folder.as_ref().ok_or(EACCES)
    }

    /// A word of the block.
    fn word(&mut self, index: u64) -> Result<u64, u64> {
        let bytes = u64::from(self.xlen.bits() / 8);
        let place = self.parameter.wrapping_add(index * bytes) & self.xlen.address_mask();
        self.bus.host.note_read(place, bytes);
        match self.xlen {
            Xlen::Rv32 => self.bus.memory.read(place).map(|word| u32::from_le_bytes(word).into()),
            Xlen::Rv64 => self.bus.memory.read(place).map(u64::from_le_bytes),
        }
        .ok_or(EFAULT)
    }

    fn store(&mut self, start: u64, bytes: &[u8]) -> Result<(), u64> {
        let mut places = (0..).map(|at| start.wrapping_add(at) & self.xlen.address_mask());
        bytes.iter().zip(&mut places).try_for_each(|(byte, at)| self.bus.memory.write(at, [*byte])).ok_or(EFAULT)
    }

    /// The name at the address in one word, with the length in another.
    fn name(&mut self, address: u64, length: u64) -> Result<String, u64> {
        let (address, length) = (self.word(address)?, self.word(length)?);
        let bytes = self.bus.memory.bytes(address, length.min(NAME_BYTES));
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        // Includes a zero byte, which ends the name.
        self.bus.host.note_read(address, bytes.len().min(end + 1) as u64);
        String::from_utf8(bytes[..end].to_vec()).map_err(|_| ENOENT)
    }

    /// Opens a file, the features file, or the console, `:tt`: standard input for reading, output for writing, errors
    /// for appending.
    fn open(&mut self, name: &str, mode: u64) -> Result<u64, u64> {
        match name {
            ":semihosting-features" if mode < 4 => {
                self.state().features_read = 0;
                return Ok(FEATURES);
            }
            ":tt" if mode < 12 => return Ok([STDIN, STDOUT, STDERR][mode as usize / 4]),
            _ if mode >= 12 => return Err(EINVAL),
            // It would be a file of the folder.
            ":semihosting-features" => return Err(EACCES),
            _ => {}
        }
        // A FIFO or a device could stop the run.
        if self.folder()?.metadata(name).is_ok_and(|there| !there.is_file()) {
            return Err(EACCES);
        }
        // Before the file is opened, which may empty it.
        let open = &self.state().open;
        let free = open.iter().position(Option::is_none).unwrap_or(open.len());
        if free == MAX_OPEN {
            return Err(EACCES);
        }
        // Modes are those of `fopen`: r, w, a, each with b in odd numbers and with + in the upper half.
        let (reads, appends, both) = (mode < 4, mode >= 8, mode & 2 != 0);
        let mut options = OpenOptions::new();
        options.read(reads || both).write(!reads || both).append(appends).create(!reads).truncate(!reads && !appends);
        let file = self.folder()?.open_with(name, &options).map_err(number)?;
        let open = &mut self.state().open;
        open.resize_with(open.len().max(free + 1), || None);
        open[free] = Some(file);
        Ok(FIRST_FILE + free as u64)
    }

    /// Writes to the console or a file. Returns the number of bytes written.
    fn write(&mut self, handle: u64, start: u64, length: u64) -> Result<u64, u64> {
        let bytes = self.bus.memory.bytes(start, length.min(CALL_BYTES));
        match handle {
            STDOUT => self.bus.host.print(&bytes),
            STDERR => self.bus.host.print_error(&bytes),
            _ => self.state().file(handle)?.write_all(&bytes).map_err(number)?,
        }
        self.bus.host.note_read(start, bytes.len() as u64);
        Ok(bytes.len() as u64)
    }

    /// Reads from the console, the features file or a file. Returns the number of bytes read.
    fn read(&mut self, handle: u64, start: u64, length: u64) -> Result<u64, u64> {
        // Counted before the read, whose bytes would be lost otherwise.
        let is_writable = |at: &u64| self.bus.memory.is_writable(start.wrapping_add(*at) & self.xlen.address_mask());
        let room = (0..length.min(CALL_BYTES)).take_while(is_writable).count() as u64;
        if room == 0 && length > 0 {
            return Err(EFAULT);
        }
        let mut bytes = Vec::new();
        match handle {
            0 | STDIN => bytes = self.bus.host.read(room),
            FEATURES => {
                let read = self.state().features_read;
                bytes.extend(FEATURE_BYTES[read..].iter().take(room as usize));
                self.state().features_read += bytes.len();
            }
            _ => {
                let file = self.state().file(handle)?;
                file.take(room).read_to_end(&mut bytes).map_err(number)?;
            }
        }
        self.store(start, &bytes)?;
        Ok(bytes.len() as u64)
    }
}

/// The number of an error of the host.
fn number(error: io::Error) -> u64 {
    match error.kind() {
        io::ErrorKind::NotFound => ENOENT,
        io::ErrorKind::PermissionDenied => EACCES,
        _ if cfg!(unix) => error.raw_os_error().map_or(EIO, |number| number as u64),
        _ => EIO,
    }
}
