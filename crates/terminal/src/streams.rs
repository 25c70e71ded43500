//! What the parent process decided: standard input and output that were closed when the program started stay unusable, and ignored
//! signals are known.
//!
//! Before `main` the standard library opens `/dev/null` in place of a closed standard stream, and its own handles ignore errors of such a
//! stream: output would vanish, and the program would report success. So this file runs before it, and opens `/dev/null` for the other
//! direction: reading from standard input and writing to standard output then fail with EBADF, and no file that the program opens gets
//! the number. A closed standard error stays the standard library's.
#![allow(unsafe_code)]

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::{stdin, stdout};

#[used]
// SAFETY: the system calls each function pointer of this section once, before `main`, while the process has one thread. The function
// makes system calls only, and ignores the arguments that some systems pass.
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = occupy_closed_streams;

/// Whether a signal is ignored.
pub(crate) fn is_ignored(signal: i32) -> bool {
    // SAFETY: zeros are a valid value of this structure, and without a new action the call only writes the old one to it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

extern "C" fn occupy_closed_streams() {
    for (stream, direction) in [(stdin(), OFlags::WRONLY), (stdout(), OFlags::RDONLY)] {
        // The new descriptor has the lowest free number, which is this stream's.
        if fcntl_getfd(stream) == Err(Errno::BADF)
            && let Ok(null) = open("/dev/null", direction, Mode::empty())
        {
            std::mem::forget(null);
        }
    }
}
