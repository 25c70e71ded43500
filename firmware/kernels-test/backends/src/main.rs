//! Every mode and the lanes on the backend `riscv32`, compared with `reference`, which the vectors hold on the host.
//!
//! `cargo build --release --target riscv32imac-unknown-none-elf`, then `qemu-riscv32` on the program: it makes Linux system
//! calls. Ends with 0 when all agrees, and prints what does not.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};

use tress_cipher::aes::Aes;
use tress_cipher::lanes;
use tress_cipher::modes::{cbc, ccm, ctr, ecb};
use tress_cipher::rc6::Rc6;
use tress_cipher::{Backend, Block, BlockCipher, CcmCipher};

global_asm!(
    ".globl _start",
    "_start:",
    ".option push",
    ".option norelax",
    "la gp, __global_pointer$",
    ".option pop",
    "andi sp, sp, -16",
    "call main",
    "li a7, 93",
    "ecall",
);

fn print(text: &str) {
    // SAFETY: Linux's write(1, text); it changes a0 only.
    unsafe {
        asm!("ecall", inlateout("a0") 1 => _, in("a1") text.as_ptr(), in("a2") text.len(), in("a7") 64);
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    print("panic\n");
    // SAFETY: Linux's exit(101), which does not return.
    unsafe { asm!("ecall", in("a0") 101, in("a7") 93, options(noreturn)) }
}

/// Bytes that look random (G. Marsaglia: "Xorshift RNGs", 2003).
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = (self.next() >> 11) as u8;
        }
    }
}

const MOST: usize = 700;
const MESSAGES: usize = 11;

fn same(a: &[u8], b: &[u8], what: &str, failures: &mut u32) {
    if a != b {
        *failures += 1;
        print("differs: ");
        print(what);
        print("\n");
    }
}

/// Both ciphers have the same key. `at` is how far the data are from a word's border.
fn compare<C: CcmCipher + BlockCipher>(ours: &C, reference: &C, random: &mut Random, length: usize, at: usize) -> u32 {
    let failures = &mut 0;
    let mut a = [0; MOST + 4];
    random.fill(&mut a);
    let mut b = a;
    let (a, b) = (&mut a[at..at + length], &mut b[at..at + length]);
    let mut iv: Block = [0xff; 16];
    if length % 3 != 0 {
        random.fill(&mut iv[..14]);
    }
    random.fill(&mut iv[15..]);
    let whole = length / 16 * 16;

    ecb::encrypt(ours, &mut a[..whole]).unwrap();
    ecb::encrypt(reference, &mut b[..whole]).unwrap();
    same(a, b, "ECB encryption", failures);
    ecb::decrypt(ours, &mut a[..whole]).unwrap();
    ecb::decrypt(reference, &mut b[..whole]).unwrap();
    same(a, b, "ECB decryption", failures);
    cbc::encrypt(ours, &iv, &mut a[..whole]).unwrap();
    cbc::encrypt(reference, &iv, &mut b[..whole]).unwrap();
    same(a, b, "CBC encryption", failures);
    cbc::decrypt(ours, &iv, &mut a[..whole]).unwrap();
    cbc::decrypt(reference, &iv, &mut b[..whole]).unwrap();
    same(a, b, "CBC decryption", failures);
    ctr::apply(ours, &iv, a).unwrap();
    ctr::apply(reference, &iv, b).unwrap();
    same(a, b, "CTR", failures);

    let (mut tag, mut other) = ([0; 16], [0; 16]);
    ccm::encrypt(ours, &iv[..12], &iv[3..], a, &mut tag).unwrap();
    ccm::encrypt(reference, &iv[..12], &iv[3..], b, &mut other).unwrap();
    same(a, b, "CCM encryption", failures);
    same(&tag, &other, "CCM tag", failures);
    if ccm::decrypt(ours, &iv[..12], &iv[3..], a, &tag).is_err() {
        *failures += 1;
        print("CCM does not open its own\n");
    }
    ccm::decrypt(reference, &iv[..12], &iv[3..], b, &tag).unwrap();
    same(a, b, "CCM decryption", failures);
    *failures
}

/// Messages of different keys and lengths, side by side.
fn compare_lanes<C: CcmCipher + BlockCipher>(
    ours: &[C; MESSAGES],
    reference: &[C; MESSAGES],
    random: &mut Random,
) -> u32 {
    let failures = &mut 0;
    let mut a = [[0; 300]; MESSAGES];
    let mut lengths = [0; MESSAGES];
    for (message, length) in a.iter_mut().zip(&mut lengths) {
        random.fill(message);
        *length = random.next() as usize % 300;
    }
    let mut b = a;
    let mut tags = [[0; 16]; MESSAGES];
    let nonces: [[u8; 12]; MESSAGES] = core::array::from_fn(|i| [i as u8; 12]);
    {
        let (mut data, mut tag) = (a.iter_mut(), tags.iter_mut());
        let mut jobs: [_; MESSAGES] = core::array::from_fn(|i| {
            let data = &mut data.next().unwrap()[..lengths[i]];
            lanes::ccm::Job::new(&ours[i], &nonces[i], b"lanes", data, tag.next().unwrap()).unwrap()
        });
        lanes::ccm::encrypt(&mut jobs);
    }
    let plain = b;
    for i in 0..MESSAGES {
        let mut tag = [0; 16];
        ccm::encrypt(&reference[i], &nonces[i], b"lanes", &mut b[i][..lengths[i]], &mut tag).unwrap();
        same(&a[i], &b[i], "CCM in lanes", failures);
        same(&tags[i], &tag, "tag in lanes", failures);
    }
    // One of them is forged.
    tags[3][0] ^= 1;
    let forged = {
        let (mut data, mut tag) = (a.iter_mut(), tags.iter_mut());
        let mut jobs: [_; MESSAGES] = core::array::from_fn(|i| {
            let data = &mut data.next().unwrap()[..lengths[i]];
            lanes::ccm::Job::new(&ours[i], &nonces[i], b"lanes", data, tag.next().unwrap()).unwrap()
        });
        lanes::ccm::decrypt(&mut jobs)
    };
    if forged != 1 {
        *failures += 1;
        print("a forged message is not told\n");
    }
    for i in (0..MESSAGES).filter(|i| *i != 3) {
        same(&a[i], &plain[i], "CCM decryption in lanes", failures);
    }
    let mut a = plain;
    {
        let mut data = a.iter_mut();
        let mut jobs: [_; MESSAGES] = core::array::from_fn(|i| {
            let data = &mut data.next().unwrap()[..lengths[i] / 16 * 16];
            lanes::cbc::Job::new(&ours[i], &[i as u8; 16], data).unwrap()
        });
        lanes::cbc::encrypt(&mut jobs);
    }
    for i in 0..MESSAGES {
        let mut b = plain[i];
        cbc::encrypt(&reference[i], &[i as u8; 16], &mut b[..lengths[i] / 16 * 16]).unwrap();
        same(&a[i], &b, "CBC in lanes", failures);
    }
    *failures
}

const LENGTHS: [usize; 22] =
    [0, 1, 15, 16, 17, 32, 48, 63, 64, 80, 96, 112, 127, 128, 129, 144, 160, 256, 272, 400, 513, MOST];

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let random = &mut Random(0x2545_f491);
    let mut failures = 0;
    for key_bytes in [16, 24, 32] {
        let keys: [[u8; 32]; MESSAGES] = core::array::from_fn(|_| {
            let mut key = [0; 32];
            random.fill(&mut key);
            key
        });
        let aes = |i: usize, backend| Aes::with_backend(&keys[i][..key_bytes], backend).unwrap();
        let rc6 = |i: usize, backend| Rc6::with_backend(&keys[i][..key_bytes], backend).unwrap();
        for length in LENGTHS {
            for at in 0..4 {
                failures += compare(&aes(0, Backend::Riscv32), &aes(0, Backend::Reference), random, length, at);
                failures += compare(&rc6(0, Backend::Riscv32), &rc6(0, Backend::Reference), random, length, at);
            }
        }
        let both = [Backend::Riscv32, Backend::Reference];
        let [ours, reference] = both.map(|backend| core::array::from_fn(|i| aes(i, backend)));
        failures += compare_lanes(&ours, &reference, random);
        let [ours, reference] = both.map(|backend| core::array::from_fn(|i| rc6(i, backend)));
        failures += compare_lanes(&ours, &reference, random);
    }
    let best = Backend::Riscv32;
    let chosen = Aes::new(&[0; 16]).unwrap().backend() == best && Rc6::new(&[0; 16]).unwrap().backend() == best;
    print(if failures == 0 && chosen { "the backends agree\n" } else { "FAILED\n" });
    i32::from(failures > 0 || !chosen)
}
