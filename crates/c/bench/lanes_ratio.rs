//! Compares the rate of the lanes through `tress.h` with the same call in Rust. Both run alternating in one process; the
//! result is the median of the ratios of pairs. Fails if a median is below one half: then the call does not use lanes.
//!
//!     cargo run --release -p tress-c --example lanes_ratio

use std::ptr;
use std::time::Instant;

use ::tress_cipher::Aad;
use ::tress_cipher::aes::Aes;
use ::tress_cipher::lanes::ccm::{self, Open, Seal};
use tress_c::tress_status::TRESS_OK;
use tress_c::{tress_ccm_decrypt_jobs, tress_ccm_encrypt_jobs, tress_ccm_job, tress_cipher, tress_cipher_new};

const MESSAGES: usize = 1000;
const PAIRS: usize = 101;
const LEAST: f64 = 0.5;

/// Input and output of both calls.
struct Messages {
    nonces: Vec<[u8; 12]>,
    data: Vec<Vec<u8>>,
    tags: Vec<[u8; 16]>,
}

impl Messages {
    fn new(bytes: usize) -> Self {
        let nonces = (0..MESSAGES as u32).map(|number| {
            let mut nonce = [0; 12];
            nonce[..4].copy_from_slice(&number.to_be_bytes());
            nonce
        });
        Self { nonces: nonces.collect(), data: vec![vec![7; bytes]; MESSAGES], tags: vec![[0; 16]; MESSAGES] }
    }

    fn rust(&mut self, ciphers: &[Aes], encrypt: bool) {
        let parts = self.data.iter_mut().zip(&mut self.tags).zip(&self.nonces).enumerate();
        let parts = parts.map(|(i, ((data, tag), nonce))| (&ciphers[i % ciphers.len()], nonce, data, tag));
        if encrypt {
            let jobs = parts.map(|(cipher, nonce, data, tag)| Seal::new(cipher, nonce, Aad(b""), data, tag));
            let mut jobs: Vec<_> = jobs.collect::<Result<_, _>>().expect("lengths are CCM's");
            ccm::seal(&mut jobs).expect("different nonces");
        } else {
            let jobs = parts.map(|(cipher, nonce, data, tag)| Open::new(cipher, nonce, Aad(b""), data, &*tag));
            let mut jobs: Vec<_> = jobs.collect::<Result<_, _>>().expect("lengths are CCM's");
            ccm::open(&mut jobs).expect("its own tags");
        }
    }

    /// `jobs` is reused memory, like the array of a caller in C.
    fn c(&mut self, ciphers: &[*const tress_cipher], encrypt: bool, jobs: &mut Vec<tress_ccm_job>) {
        jobs.clear();
        let filled = self.data.iter_mut().zip(&mut self.tags).zip(&self.nonces).enumerate().map(
            |(number, ((data, tag), nonce))| tress_ccm_job {
                cipher: ciphers[number % ciphers.len()],
                nonce: nonce.as_ptr(),
                nonce_length: nonce.len(),
                aad: ptr::null(),
                aad_length: 0,
                input: data.as_ptr(),
                output: data.as_mut_ptr(),
                length: data.len(),
                tag: tag.as_ptr(),
                tag_output: tag.as_mut_ptr(),
                tag_length: tag.len(),
                reserved: 0,
                status: TRESS_OK,
            },
        );
        jobs.extend(filled);
        let call = if encrypt { tress_ccm_encrypt_jobs } else { tress_ccm_decrypt_jobs };
        // SAFETY: every pointer is to separate memory that outlives the call, and the ciphers are valid handles.
        assert_eq!(unsafe { call(jobs.as_mut_ptr(), jobs.len(), ptr::null_mut()) }, TRESS_OK);
    }
}

fn handle(key: &[u8]) -> *const tress_cipher {
    let mut cipher = ptr::null_mut();
    // SAFETY: the name ends with NUL, the key has the given length, and `cipher` is writable.
    assert_eq!(unsafe { tress_cipher_new(c"aes-128".as_ptr(), key.as_ptr(), key.len(), &raw mut cipher) }, TRESS_OK);
    cipher
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

fn main() {
    let mut least = f64::INFINITY;
    println!("bytes  keys  direction  C/Rust, median (quartiles)  ns a message in C");
    for bytes in [64, 1024, 16384] {
        for keys in [1, MESSAGES] {
            let keys: Vec<[u8; 16]> = (0..keys as u128).map(|number| number.to_le_bytes()).collect();
            let rust: Vec<Aes> = keys.iter().map(|key| Aes::new(key).expect("16 bytes")).collect();
            let c: Vec<*const tress_cipher> = keys.iter().map(|key| handle(key)).collect();
            // Each pass encrypts and decrypts, so that the next pass starts with the same data. Each side has separate
            // buffers.
            let (mut of_rust, mut of_c) = (Messages::new(bytes), Messages::new(bytes));
            let mut jobs = Vec::with_capacity(MESSAGES);
            let repeat = (1 << 20) / (bytes * MESSAGES) + 1;
            let mut ratios = [Vec::new(), Vec::new()];
            let mut times = [Vec::new(), Vec::new()];
            for pair in 0..PAIRS {
                // The order alternates from pair to pair.
                let mut spent = [[0.0; 2]; 2];
                for turn in [pair % 2, 1 - pair % 2] {
                    for _ in 0..repeat {
                        for (direction, spent) in spent[turn].iter_mut().enumerate() {
                            *spent += if turn == 0 {
                                seconds(|| of_rust.rust(&rust, direction == 0))
                            } else {
                                seconds(|| of_c.c(&c, direction == 0, &mut jobs))
                            };
                        }
                    }
                }
                for direction in 0..2 {
                    ratios[direction].push(spent[0][direction] / spent[1][direction]);
                    times[direction].push(spent[1][direction] / (repeat * MESSAGES) as f64 * 1e9);
                }
            }
            for (direction, name) in ["encrypt", "decrypt"].into_iter().enumerate() {
                ratios[direction].sort_by(f64::total_cmp);
                times[direction].sort_by(f64::total_cmp);
                let [low, middle, high] = [0.25, 0.5, 0.75].map(|part| quantile(&ratios[direction], part));
                least = least.min(middle);
                println!(
                    "{bytes:5}  {:4}  {name:9}  {middle:.3} ({low:.3}-{high:.3})  {:.1}",
                    keys.len(),
                    quantile(&times[direction], 0.5)
                );
            }
        }
    }
    assert!(least >= LEAST, "a call through tress.h has {least:.2} of the Rust call's rate");
}
