//! The runtime of programs for bare RISC-V harts: start code with a stack for every hart, functions on other harts,
//! barriers, a console, the exit code, and marks for the simulator.
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//!
//! use tress_runtime::{entry, harts, println};
//!
//! entry!(main);
//!
//! fn main() -> i32 {
//!     harts::each(4, |hart| do_something(hart));
//!     println!("done");
//!     0
//! }
//! ```
//!
//! All harts begin at `_start`. Hart 0 clears `.bss`, copies `.data` and calls the program's function, whose result is the exit
//! code. The others wait until [`harts::spawn`] starts a function on them. The link scripts are in `link/`. A program's build
//! script reads the name of one in `DEP_TRESS_RUNTIME_SCRIPT` and passes it to the linker. Programs in C use `tress_runtime.h`.
#![no_std]

#[cfg(feature = "hifive1-revb")]
mod board;
pub mod console;
pub mod counters;
mod exit;
pub mod harts;
pub mod region;
pub mod secret;
mod start;
mod trap;

pub use exit::exit;

/// Declares the program's function, `fn() -> i32`. Hart 0 calls it, and its result is the exit code.
#[macro_export]
macro_rules! entry {
    ($function:path) => {
        const _: () = {
            #[unsafe(export_name = "main")]
            extern "C" fn entry() -> i32 {
                let function: fn() -> i32 = $function;
                function()
            }
        };
    };
}

/// Writes the place of the panic to the console, and ends the run with exit code 101.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // The message is not formatted, because `core::fmt` is larger than most programs.
    console::write("panic");
    if let Some(place) = info.location() {
        console::write(" at ");
        console::write(place.file());
        console::write(":");
        console::write_number(place.line() as usize);
    }
    if let Some(text) = info.message().as_str() {
        console::write(": ");
        console::write(text);
    }
    console::write("\n");
    exit(101)
}
