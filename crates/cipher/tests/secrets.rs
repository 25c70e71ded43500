//! No branch and no address depends on a secret: keys and data are marked as undefined, and Valgrind's memcheck reports
//! every jump and every address that is made of undefined bytes.
//!
//! Needs a build with `--cfg tress_secrets` (`make secrets`). The test runs itself again under Valgrind, which knows no
//! AVX-512, VAES and GFNI: so this is about the backends `portable`, `aesni` and `avx2`; for the others there is
//! `machine_code.rs`. `reference`, which looks up tables, is the planted leak: it has to be found.
#![cfg(all(tress_secrets, target_arch = "x86_64"))]

use std::process::Command;

use tress_cipher::aes::Aes;
use tress_cipher::modes::{cbc, ccm, ctr, ecb, pkcs7};
use tress_cipher::pipo::Pipo;
use tress_cipher::rc6::Rc6;
use tress_cipher::rijndael::Rijndael;
use tress_cipher::{Backend, BlockCipher, CcmCipher, Error, lanes};

/// Set for the run under Valgrind.
const INSIDE: &str = "TRESS_SECRETS_INSIDE";

/// A client request (valgrind.h).
fn request(code: u64, address: *const u8, length: usize) -> u64 {
    let request: [u64; 6] = [code, address.addr() as u64, length as u64, 0, 0, 0];
    let mut result = 0;
    // SAFETY: outside of Valgrind the rotations add up to nothing and the exchange is with itself; inside, the requests
    // used here only change or read memcheck's notes.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const request, inout("rdx") result,
        );
    }
    result
}

fn is_on_valgrind() -> bool {
    request(0x1001, std::ptr::null(), 0) != 0
}

fn errors() -> u64 {
    request(0x1201, std::ptr::null(), 0)
}

/// Makes the bytes secret.
fn hide(bytes: &mut [u8]) {
    request(0x4d43_0001, bytes.as_ptr(), bytes.len());
}

/// Ends the secret.
fn show(bytes: &mut [u8]) {
    request(0x4d43_0002, bytes.as_ptr(), bytes.len());
}

/// Runs work and says what memcheck found in it.
fn watch(what: &str, backend: Backend, work: impl FnOnce()) {
    let before = errors();
    work();
    println!("secrets: {} {what}: {}", backend.name(), errors() - before);
}

/// Enough for every path: several vectors, and a rest.
const LENGTH: usize = 64 * 41 + 24;

fn secret(bytes: usize, seed: u8) -> Vec<u8> {
    let mut secret: Vec<u8> = (0..bytes).map(|i| (i as u8).wrapping_mul(29).wrapping_add(seed)).collect();
    hide(&mut secret);
    secret
}

fn block_modes<C: BlockCipher>(
    name: &str,
    backend: Backend,
    key_bytes: usize,
    make: fn(&[u8], Backend) -> Result<C, Error>,
) {
    let mut key = secret(key_bytes, 1);
    let mut cipher = None;
    watch(&format!("{name} key setup"), backend, || cipher = make(&key, backend).ok());
    let cipher = cipher.expect("an available backend");
    show(&mut key);
    let whole = LENGTH - LENGTH % C::BLOCK_BYTES;
    // PIPO's counter has to have values left.
    let iv = vec![7; C::BLOCK_BYTES];
    let mut data = secret(whole, 2);
    watch(&format!("{name} ecb encrypt"), backend, || ecb::encrypt(&cipher, &mut data).unwrap());
    watch(&format!("{name} ecb decrypt"), backend, || ecb::decrypt(&cipher, &mut data).unwrap());
    watch(&format!("{name} cbc encrypt"), backend, || cbc::encrypt(&cipher, &iv, &mut data).unwrap());
    watch(&format!("{name} cbc decrypt"), backend, || cbc::decrypt(&cipher, &iv, &mut data).unwrap());
    let mut data = secret(LENGTH, 3);
    watch(&format!("{name} ctr"), backend, || ctr::apply(&cipher, &iv, &mut data).unwrap());
    let other = make(&secret(key_bytes, 4), backend).expect("an available backend");
    for keys in [[&cipher, &cipher], [&cipher, &other]] {
        let mut messages: Vec<Vec<u8>> = (0..9).map(|i| secret(C::BLOCK_BYTES * (3 * i + 1), i as u8)).collect();
        let mut jobs: Vec<_> = messages
            .iter_mut()
            .enumerate()
            .map(|(i, data)| lanes::cbc::Job::new(keys[i % 2], &iv, data).unwrap())
            .collect();
        watch(&format!("{name} cbc lanes"), backend, || lanes::cbc::encrypt(&mut jobs));
    }
}

fn ccm_modes<C: CcmCipher>(
    name: &str,
    backend: Backend,
    key_bytes: usize,
    make: fn(&[u8], Backend) -> Result<C, Error>,
) {
    let (one, other) = (make(&secret(key_bytes, 5), backend).unwrap(), make(&secret(key_bytes, 6), backend).unwrap());
    for tag_bytes in [16, 6] {
        let (mut data, mut aad, mut tag) = (secret(LENGTH, 7), secret(40, 8), vec![0; tag_bytes]);
        watch(&format!("{name} ccm encrypt"), backend, || {
            ccm::encrypt(&one, &[1; 12], &aad, &mut data, &mut tag).unwrap()
        });
        watch(&format!("{name} ccm decrypt"), backend, || ccm::decrypt(&one, &[1; 12], &aad, &mut data, &tag).unwrap());
        watch(&format!("{name} ccm forged"), backend, || {
            assert!(ccm::decrypt(&one, &[1; 12], &aad, &mut data, &tag).is_err());
        });
        show(&mut aad);
        for keys in [[&one, &one], [&one, &other]] {
            let mut messages: Vec<_> =
                (0..9).map(|i| (secret(100 * i, i as u8), secret(5 * i, 9), vec![0; tag_bytes])).collect();
            let mut jobs: Vec<_> = messages
                .iter_mut()
                .enumerate()
                .map(|(i, (data, aad, tag))| lanes::ccm::Job::new(keys[i % 2], &[i as u8; 13], aad, data, tag).unwrap())
                .collect();
            watch(&format!("{name} ccm lanes encrypt"), backend, || lanes::ccm::encrypt(&mut jobs));
            // The second time only the message without data is still what its tag says.
            for forged in [0, 8] {
                let mut jobs: Vec<_> = messages
                    .iter_mut()
                    .enumerate()
                    .map(|(i, (data, aad, tag))| {
                        lanes::ccm::Job::new(keys[i % 2], &[i as u8; 13], aad, data, tag).unwrap()
                    })
                    .collect();
                watch(&format!("{name} ccm lanes decrypt"), backend, || {
                    assert_eq!(lanes::ccm::decrypt(&mut jobs), forged);
                });
            }
        }
    }
}

fn everything(backend: Backend) {
    /// Each cipher with each of its key lengths.
    macro_rules! ciphers {
        ($($modes:ident $name:literal $cipher:ty: $($key_bytes:literal)*;)*) => {
            $(if <$cipher>::BACKENDS.contains(&backend) {
                $(ciphers!(@ $modes $name $cipher, $key_bytes);)*
            })*
        };
        (@ ccm $name:literal $cipher:ty, $key_bytes:literal) => {
            ciphers!(@ block $name $cipher, $key_bytes);
            ccm_modes::<$cipher>(&format!("{}-{}", $name, 8 * $key_bytes), backend, $key_bytes, <$cipher>::with_backend);
        };
        (@ block $name:literal $cipher:ty, $key_bytes:literal) => {
            block_modes::<$cipher>(&format!("{}-{}", $name, 8 * $key_bytes), backend, $key_bytes, <$cipher>::with_backend);
        };
    }
    ciphers! {
        ccm "aes" Aes: 16 24 32;
        ccm "rijndael-128" Rijndael<16>: 20 28;
        block "rijndael-160" Rijndael<20>: 16 32;
        block "rijndael-192" Rijndael<24>: 24;
        block "rijndael-224" Rijndael<28>: 20;
        block "rijndael-256" Rijndael<32>: 16 32;
        ccm "rc6" Rc6: 16 24 32;
        block "pipo" Pipo: 16 32;
    }
}

/// The run under Valgrind; elsewhere nothing.
#[test]
fn inside() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    assert!(is_on_valgrind());
    for backend in Backend::ALL {
        if backend.is_available() {
            everything(backend);
        }
    }
    for last in [1, 16, 0, 17] {
        let mut data = [9; 32];
        data[31] = last;
        hide(&mut data);
        watch("pkcs7 unpad", Backend::Portable, || {
            let _ = pkcs7::unpad(&data, 16);
        });
    }
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    if std::env::var_os(INSIDE).is_some() {
        return;
    }
    let output = Command::new("valgrind")
        .args(["--quiet", "--error-limit=no", "--num-callers=12"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "inside", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .output()
        .expect("valgrind (Debian's package of that name)");
    let (found, report) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{found}\n{report}");
    let (mut watched, mut planted) = (0, 0);
    for line in found.lines().filter_map(|line| line.strip_prefix("secrets: ")) {
        let (what, count) = line.rsplit_once(": ").expect("a count");
        let count: u64 = count.parse().expect("a number");
        if what.starts_with("reference ") {
            planted += count;
            continue;
        }
        watched += 1;
        assert_eq!(count, 0, "{what} depends on a secret\n{report}");
    }
    println!("{watched} operations watched; {planted} leaks of `reference` found");
    assert!(planted > 1000, "the planted leak was not found");
    for backend in ["portable ", "aesni ", "avx2 "] {
        assert!(found.contains(&format!("secrets: {backend}")), "{backend} did not run");
    }
}
