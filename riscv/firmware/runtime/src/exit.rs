//! The end of a run, with an exit code of 0 to 255.

/// Ends the run for all harts. Exit code 0 means success.
pub fn exit(code: i32) -> ! {
    let code = code as u8;
    end(code);
    loop {
        // SAFETY: only puts the hart to sleep. No interrupt is enabled that would wake it.
        unsafe { core::arch::asm!("wfi", options(nomem, nostack)) };
    }
}

/// HTIF: a request with its lowest bit set ends the run.
#[cfg(not(any(feature = "uart-16550", feature = "uart-sifive")))]
fn end(code: u8) {
    crate::console::htif::send(u64::from(code) << 1 | 1);
}

/// The finisher of QEMU's `virt`: the code above 0x3333, or 0x5555 for 0.
#[cfg(feature = "uart-16550")]
fn end(code: u8) {
    let word = if code == 0 { 0x5555 } else { u32::from(code) << 16 | 0x3333 };
    // SAFETY: the feature guarantees the device.
    unsafe { (0x10_0000 as *mut u32).write_volatile(word) };
}

/// Semihosting, operation SYS_EXIT_EXTENDED (0x20) with ADP_Stopped_ApplicationExit. On RV32 only this one passes an exit code.
#[cfg(all(feature = "uart-sifive", not(feature = "uart-16550")))]
fn end(code: u8) {
    let block = [0x20026, usize::from(code)];
    // SAFETY: the three instructions are the call, which QEMU and debuggers recognise. Without them the breakpoint
    // traps, and this hart sleeps.
    unsafe {
        core::arch::asm!(
            "la {handler}, 2f",
            "csrw mtvec, {handler}",
            ".option push",
            ".option norvc",
            "slli x0, x0, 0x1f",
            "ebreak",
            "srai x0, x0, 7",
            ".option pop",
            "j 3f",
            ".balign 4",
            "2: wfi",
            "j 2b",
            "3:",
            handler = out(reg) _,
            inout("a0") 0x20usize => _,
            in("a1") block.as_ptr(),
        );
    }
}
