//! tress-cipher's own interface on 32-bit RISC-V, behind one C function: `test/backend.c` runs the vectors through it.

#![no_std]

use core::panic::PanicInfo;
use core::slice;

use tress_cipher::modes::{cbc, ctr, ecb};
use tress_cipher::pipo::Pipo;
use tress_cipher::riscv32::pipo::{Aligned, Group, Key, Lanes};
use tress_cipher::{Backend, Error, lanes};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // A trap to nowhere: QEMU's time limit ends the test.
    loop {}
}

fn run(backend: &[u8], mode: u32, decrypt: bool, key: &[u8], iv: &[u8; 8], data: &mut [u8]) -> Result<(), Error> {
    let backend = core::str::from_utf8(backend).ok().and_then(Backend::from_name).unwrap_or(Backend::Reference);
    let cipher = Pipo::with_backend(key, backend)?;
    match (mode, decrypt) {
        (0, false) => ecb::encrypt(&cipher, data),
        (0, true) => ecb::decrypt(&cipher, data),
        (1, false) => cbc::encrypt(&cipher, iv, data),
        (1, true) => cbc::decrypt(&cipher, iv, data),
        (2, _) => ctr::apply(&cipher, iv, data),
        // One message alone in the lanes.
        _ => {
            lanes::cbc::encrypt(&mut [lanes::cbc::Job::new(&cipher, iv, data)?]);
            Ok(())
        }
    }
}

/// More messages than lanes, of several lengths and keys, through `lanes` on this backend and through `reference`.
fn many() -> Result<bool, Error> {
    const MESSAGES: usize = 21;
    let key = |m: usize| -> [u8; 16] { core::array::from_fn(|i| (31 * m + 7 * i) as u8) };
    let mut data: [[u8; 96]; MESSAGES] = core::array::from_fn(|m| [m as u8; 96]);
    let mut wanted = data;
    let mut ciphers: [Option<Pipo>; MESSAGES] = [const { None }; MESSAGES];
    for m in 0..MESSAGES {
        ciphers[m] = Some(Pipo::with_backend(&key(m), Backend::Riscv32)?);
        let length = 8 * (m % 13);
        cbc::encrypt(&Pipo::with_backend(&key(m), Backend::Reference)?, &[m as u8; 8], &mut wanted[m][..length])?;
    }
    let mut iter = data.iter_mut().zip(&ciphers).enumerate();
    let mut jobs: [Option<lanes::cbc::Job<'_, Pipo>>; MESSAGES] = core::array::from_fn(|_| {
        let (m, (data, cipher)) = iter.next()?;
        lanes::cbc::Job::new(cipher.as_ref()?, &[m as u8; 8], &mut data[..8 * (m % 13)]).ok()
    });
    let mut jobs = jobs.each_mut().map(|job| job.take().expect("a job"));
    lanes::cbc::encrypt(&mut jobs);
    Ok(data == wanted)
}

/// 0, or 1 where the library refuses.
///
/// # Safety
/// The pointers are good for the lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rust_pipo(
    backend: *const u8,
    backend_bytes: usize,
    mode: u32,
    key: *const u8,
    key_bytes: usize,
    iv: &[u8; 8],
    data: *mut u8,
    length: usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointers.
    let (backend, key, data) = unsafe {
        (
            slice::from_raw_parts(backend, backend_bytes),
            slice::from_raw_parts(key, key_bytes),
            slice::from_raw_parts_mut(data, length),
        )
    };
    run(backend, mode & 3, mode & 4 != 0, key, iv, data).is_err().into()
}

/// The kernels by themselves: four messages of two blocks under four keys, and CTR of two groups; 0 if they agree with the
/// modes.
#[unsafe(no_mangle)]
pub extern "C" fn rust_pipo_kernels() -> i32 {
    let keys: [[u8; 16]; 4] = core::array::from_fn(|m| core::array::from_fn(|i| (31 * m + 7 * i) as u8));
    let mut chains = Group(core::array::from_fn(|i| i as u8));
    let mut messages: [[Aligned; 2]; 4] =
        core::array::from_fn(|m| core::array::from_fn(|b| Aligned([(16 * m + b) as u8; 8])));
    let mut wanted = messages.map(|message| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&message[0].0);
        bytes[8..].copy_from_slice(&message[1].0);
        bytes
    });
    for m in 0..4 {
        let cipher = Pipo::with_backend(&keys[m], Backend::Reference).expect("a key");
        cbc::encrypt(&cipher, &chains.0[8 * m..8 * m + 8], &mut wanted[m]).expect("whole blocks");
    }
    let lanes = Lanes::new([&keys[0], &keys[1], &keys[2], &keys[3]]).expect("keys");
    let [a, b, c, d] = &mut messages;
    lanes.cbc_encrypt(&mut chains, [a, b, c, d]).expect("equal lengths");
    let same = (0..4).all(|m| messages[m][0].0 == wanted[m][..8] && messages[m][1].0 == wanted[m][8..]);

    let key = Key::new(&keys[1]).expect("a key");
    let mut data = [Group([0x5a; 32]); 2];
    let mut bytes = [0x5a; 64];
    key.ctr(&key.nonce(b"nonces"), 63, &mut data).expect("counters");
    let cipher = Pipo::with_backend(&keys[1], Backend::Portable).expect("a key");
    ctr::apply(&cipher, b"nonces\x00\xfc", &mut bytes).expect("counters");
    let ctr = data[0].0 == bytes[..32] && data[1].0 == bytes[32..];
    let refused = key.ctr(&key.nonce(b"nonces"), (1 << 14) - 1, &mut data) == Err(Error::CounterExhausted);
    i32::from(!(same && ctr && refused && many() == Ok(true)))
}
