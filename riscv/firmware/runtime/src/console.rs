//! The console, for one hart at a time. The features of this crate select HTIF, a 16550 or the SiFive UART.

use core::fmt;

/// Writes a text.
pub fn write(text: &str) {
    write_bytes(text.as_bytes());
}

/// Writes a number.
pub fn write_number(number: usize) {
    let (mut digits, mut first, mut rest) = ([b'0'; 20], 20, number);
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    write_bytes(&digits[first..]);
}

/// Writes a number with `0x` and all its digits.
pub fn write_hexadecimal(number: usize) {
    write("0x");
    for digit in (0..usize::BITS / 4).rev() {
        write_bytes(&[b"0123456789abcdef"[number >> (4 * digit) & 15]]);
    }
}

/// Writes bytes.
#[inline(never)]
#[cfg(not(any(feature = "uart-16550", feature = "uart-sifive")))]
pub fn write_bytes(bytes: &[u8]) {
    htif::write(bytes);
}

/// Writes bytes.
#[inline(never)]
#[cfg(feature = "uart-16550")]
pub fn write_bytes(bytes: &[u8]) {
    const BASE: *mut u8 = 0x1000_0000 as *mut u8;
    for byte in bytes {
        // SAFETY: the feature guarantees the device. Bit 5 of the line status means that there is room for a byte.
        unsafe {
            while BASE.add(5).read_volatile() & 0x20 == 0 {}
            BASE.write_volatile(*byte);
        }
    }
}

/// Writes bytes.
#[inline(never)]
#[cfg(all(feature = "uart-sifive", not(feature = "uart-16550")))]
pub fn write_bytes(bytes: &[u8]) {
    const BASE: *mut u32 = 0x1001_3000 as *mut u32;
    // SAFETY: the feature guarantees the device. Bit 0 of txctrl turns the transmitter on; the top bit of txdata means
    // that the queue is full.
    unsafe {
        BASE.add(2).write_volatile(1);
        for byte in bytes {
            while BASE.read_volatile() >> 31 != 0 {}
            BASE.write_volatile(u32::from(*byte));
        }
    }
}

/// The console as a `core::fmt` writer.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(text);
        Ok(())
    }
}

/// Writes a formatted line to the console.
#[macro_export]
macro_rules! println {
    ($($argument:tt)*) => {{
        use core::fmt::Write as _;
        let _ = writeln!($crate::console::Console, $($argument)*);
    }};
}

/// The host-target interface of Spike: two words in memory, whose symbols the host looks up.
#[cfg(not(any(feature = "uart-16550", feature = "uart-sifive")))]
pub(crate) mod htif {
    use core::sync::atomic::{AtomicUsize, Ordering};

    /// A word of 64 bits, in two halves on 32-bit registers.
    #[repr(C, align(8))]
    struct Word([AtomicUsize; 64 / usize::BITS as usize]);

    impl Word {
        const fn zero() -> Word {
            Word([const { AtomicUsize::new(0) }; 64 / usize::BITS as usize])
        }

        fn store(&self, value: u64) {
            for (part, half) in self.0.iter().enumerate() {
                half.store((value >> (part as u32 * (usize::BITS % 64))) as usize, Ordering::SeqCst);
            }
        }

        fn is_zero(&self) -> bool {
            self.0.iter().all(|half| half.load(Ordering::SeqCst) == 0)
        }
    }

    #[unsafe(no_mangle)]
    #[unsafe(link_section = ".htif")]
    #[allow(non_upper_case_globals)]
    static tohost: Word = Word::zero();

    #[unsafe(no_mangle)]
    #[unsafe(link_section = ".htif")]
    #[allow(non_upper_case_globals)]
    static fromhost: Word = Word::zero();

    pub(crate) fn send(command: u64) {
        tohost.store(command);
    }

    /// Device 1, command 1: one request for each byte.
    #[cfg(target_pointer_width = "64")]
    pub(super) fn write(bytes: &[u8]) {
        for byte in bytes {
            send(1 << 56 | 1 << 48 | u64::from(*byte));
            while !tohost.is_zero() {}
            fromhost.store(0);
        }
    }

    /// A word written in halves cannot name a device in one store, so RV32 uses only the system call `write`. The
    /// request is the address of four 64-bit words: number 64, file 1, address, length.
    #[cfg(target_pointer_width = "32")]
    pub(super) fn write(bytes: &[u8]) {
        #[repr(C, align(64))]
        struct Call([u64; 8]);
        let call = Call([64, 1, bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64, 0, 0, 0, 0]);
        // Otherwise the compiler would see no reader of these bytes and leave them out.
        // SAFETY: the assembly is empty. It may only read its operands.
        unsafe { core::arch::asm!("/* {0} {1} */", in(reg) bytes.as_ptr(), in(reg) &raw const call, options(nostack)) };
        send((&raw const call).expose_provenance() as u64);
        // QEMU before 8.0 does not support this call and never answers.
        for _ in 0..10_000 {
            if !fromhost.is_zero() {
                break;
            }
        }
        fromhost.store(0);
    }
}
