//! The paper's tables 2 to 5 on a system that has Rust's standard library:
//!
//!   tress-times [SAMPLES] [COUNT]
//!
//! Writes lines of digit bits, number bits, operation, runs, elapsed. Elapsed is in nanoseconds, the least of SAMPLES
//! samples; or in instructions, if COUNT is a file in which an emulator counts them (lab/systems/instructions).

#[cfg(any(feature = "static", feature = "shared"))]
mod linked;

use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::process::ExitCode;
use std::time::Instant;

use tress_arithmetic::Limb;
#[cfg(not(any(feature = "static", feature = "shared")))]
use tress_modular_times::Inlined as Chosen;
use tress_modular_times::{BITS, Calls, Clock, Operation, agrees, table};

#[cfg(any(feature = "static", feature = "shared"))]
use linked::Linked as Chosen;

/// The processor time of this thread, or the time since the start on systems without that clock.
struct Nanoseconds(Instant);

impl Clock for Nanoseconds {
    const UNIT: &'static str = "ns";
    const ENOUGH: u64 = 1_000_000;

    fn now(&mut self) -> u64 {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        if let Some(time) = thread_time() {
            return time;
        }
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn thread_time() -> Option<u64> {
    /// From the C library, with which Rust's standard library is linked. `struct timespec` has two words there.
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;

    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the call writes to the struct that the pointer is valid for.
    let code = unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    (code == 0).then(|| time.seconds.unsigned_abs() * 1_000_000_000 + time.nanoseconds.unsigned_abs())
}

/// The count that an emulator keeps in the first eight bytes of a file.
struct Instructions(File);

impl Clock for Instructions {
    const UNIT: &'static str = "instructions";
    // Reading the count takes some hundred instructions.
    const ENOUGH: u64 = 1_000_000;

    fn now(&mut self) -> u64 {
        let mut count = [0; 8];
        let read = self.0.rewind().and_then(|()| self.0.read_exact(&mut count));
        // An error must end the program: the measurement would wait forever for a count that stands still.
        read.expect("the emulator's count can be read");
        u64::from_le_bytes(count)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tress-times: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let samples = arguments.next().map_or(Ok(1), |samples| samples.parse())?;
    match arguments.next() {
        None => all(samples, &mut Nanoseconds(Instant::now())),
        Some(path) => {
            let mut clock = Instructions(File::open(path)?);
            if clock.now() == clock.now() {
                return Err("COUNT does not change: start this program under the emulator's counter".into());
            }
            all(samples, &mut clock)
        }
    }
}

fn all(samples: u32, clock: &mut impl Clock) -> Result<(), Box<dyn Error>> {
    one::<u16>(samples, clock)?;
    one::<u32>(samples, clock)?;
    one::<u64>(samples, clock)
}

fn one<L: Limb>(samples: u32, clock: &mut impl Clock) -> Result<(), Box<dyn Error>>
where
    Chosen: Calls<L>,
{
    if !agrees::<L, Chosen>() {
        return Err(format!("digits of {} bits: a wrong result", L::BITS).into());
    }
    let mut out = Vec::new();
    let mut memory = [L::ZERO; 2048];
    let refused = |error| format!("digits of {} bits: {error}", L::BITS);
    table::<L, Chosen>(&Operation::PAPER, &BITS, samples, clock, &mut memory, &mut |line| {
        line.write(&mut |byte| out.push(byte));
    })
    .map_err(refused)?;
    Ok(io::stdout().write_all(&out)?)
}
