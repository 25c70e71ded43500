//! Measures CCM by `tress_cipher::lanes::ccm` independently of `tress bench`, for bench/independent. It prints a line
//! for each direction of the shape that its argument names, or of all shapes: shape, direction, GB/s. Shapes and
//! layout are those of `../harness/ipsec_mb.c`: messages follow each other in one buffer, each followed by its tag.
//!
//! Keys are expanded before the clock starts. The time includes all the work of a caller, which makes the jobs in every run.

use std::env;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tress_cipher::aes::Aes;
use tress_cipher::lanes::ccm;
use tress_cipher::{Aad, Error, Tag};

const TAG_BYTES: usize = 16;
const SAMPLES: usize = 31;
const SAMPLE: Duration = Duration::from_millis(2);

/// Name, number of messages, bytes of each (0: 64, 576 and 1500 in a fixed order), and whether each has a separate key.
const SHAPES: [(&str, usize, usize, bool); 7] = [
    ("32x16384,one-key", 32, 16_384, false),
    ("256x1024,key-each", 256, 1024, true),
    ("256x1024,one-key", 256, 1024, false),
    ("540-mixed,one-key", 540, 0, false),
    ("540-mixed,key-each", 540, 0, true),
    ("64x256,one-key", 64, 256, false),
    ("256x64,key-each", 256, 64, true),
];

struct MessageBatch {
    keys: Vec<Aes>,
    nonces: Vec<[u8; 12]>,
    lengths: Vec<usize>,
    buffer: Vec<u8>,
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

impl MessageBatch {
    fn new(count: usize, bytes: usize, key_each: bool) -> Result<MessageBatch, Error> {
        let key = |key: usize| Aes::new(&std::array::from_fn::<u8, 16, _>(|i| (key * 37 + i * 11 + 1) as u8));
        let mut lengths: Vec<usize> =
            (0..count).map(|i| if bytes == 0 { [64, 576, 1500][i % 3] } else { bytes }).collect();
        let mut state = 1u64;
        for last in (1..count).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            lengths.swap(last, (state >> 33) as usize % (last + 1));
        }
        let nonce = |number: u64| {
            let mut nonce = [0x5a; 12];
            nonce[4..].copy_from_slice(&number.to_be_bytes());
            nonce
        };
        Ok(MessageBatch {
            keys: (0..if key_each { count } else { 1 }).map(key).collect::<Result<_, _>>()?,
            nonces: (0..count as u64).map(nonce).collect(),
            buffer: vec![0x33; lengths.iter().sum::<usize>() + count * TAG_BYTES],
            lengths,
        })
    }

    /// Processes all messages once.
    fn run(&mut self, encrypts: bool) -> Result<(), Error> {
        let mut rest = &mut self.buffer[..];
        // Only the vector that is needed: two of them make the allocator return their pages to the system after each run.
        let count = self.lengths.len();
        let (mut seals, mut opens) =
            if encrypts { (Vec::with_capacity(count), Vec::new()) } else { (Vec::new(), Vec::with_capacity(count)) };
        for (number, (&bytes, nonce)) in self.lengths.iter().zip(&self.nonces).enumerate() {
            let (message, after) = rest.split_at_mut(bytes + TAG_BYTES);
            let (data, tag) = message.split_at_mut(bytes);
            let key = &self.keys[number % self.keys.len()];
            if encrypts {
                seals.push(ccm::Seal::new(key, nonce, Aad(b""), data, tag)?);
            } else {
                opens.push(ccm::Open::new(key, nonce, Aad(b""), data, Tag::new(tag, TAG_BYTES)?)?);
            }
            rest = after;
        }
        ccm::seal(&mut seals)?;
        Ok(ccm::open(&mut opens)?)
    }

    /// The time of several runs. Before each decryption, correct tags are made outside the timed part.
    fn timed(&mut self, encrypts: bool, runs: u32) -> Result<Duration, Error> {
        if encrypts {
            let start = now();
            (0..runs).try_for_each(|_| self.run(true))?;
            return Ok(now() - start);
        }
        let read = |_| {
            let start = now();
            now() - start
        };
        let (mut total, reading) = (Duration::ZERO, (0..8).map(read).min().unwrap_or_default());
        for _ in 0..runs {
            self.run(true)?;
            let start = now();
            self.run(false)?;
            total += (now() - start).saturating_sub(reading);
        }
        Ok(total)
    }
}

fn main() -> Result<(), Error> {
    let wanted = env::args().nth(1);
    for (name, count, bytes, key_each) in SHAPES {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let mut work = MessageBatch::new(count, bytes, key_each)?;
        for (encrypts, direction) in [(true, "encrypt"), (false, "decrypt")] {
            let mut best = Duration::MAX;
            for _ in 0..20 {
                best = best.min(work.timed(encrypts, 1)?).max(Duration::from_nanos(1));
            }
            let runs = (SAMPLE.as_nanos() / best.as_nanos()) as u32 + 1;
            let mut rates = [0.0; SAMPLES];
            for rate in &mut rates {
                let seconds = work.timed(encrypts, runs)?.as_secs_f64();
                *rate = 1e-9 * work.lengths.iter().sum::<usize>() as f64 * f64::from(runs) / seconds;
            }
            rates.sort_by(f64::total_cmp);
            println!("{name} {direction} {:.4}", rates[SAMPLES / 2]);
        }
    }
    Ok(())
}
