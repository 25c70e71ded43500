//! Section 2.2 on real cores: one CCM message serially, with CTR split over the cores, and with the MAC on one core
//! beside CTR on the rest. Then the method of Tress, which needs more than one message: chunks in lanes.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;
use tress_cipher::{Aad, Backend, lanes};
use tress_container::format::LAYOUT;
use tress_container::threads::start;

use tress_plan::Strategy;

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Measured, Section, StudyRow};
use super::message::CcmMessage;
use super::{alternate, by_size, cores, paper};
use crate::timing::thread_time;

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const BLOCK: usize = 16;
const NONCE: &[u8; 12] = b"twelve bytes";
/// Largest relative difference to the model at which a figure agrees with it.
const CLOSE: f64 = 0.1;
/// Least time of the serial passes over a message, some hundred times the time to start threads.
const LONG: Duration = Duration::from_millis(20);
/// Bytes of the shortest message.
const SHORT: usize = (1 << 16) - 1;
/// Bytes of the longest message: a nonce of twelve bytes leaves three bytes for the length.
const MOST: usize = (1 << 24) - 1;

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let cores = cores();
    let mut section = Section::begin(&super::STUDY, "strategies", &[("cores", &cores), ("ms", &LONG.as_millis())]);
    let mut monitor = BusyMonitor::default();
    for backend in [Backend::Reference].into_iter().chain(by_size::backends()) {
        one_backend(&mut section, effort, backend, cores, &mut monitor)?;
    }
    section.text.push('.');
    section.rows.extend(monitor.row());
    Ok(section)
}

/// The methods that are compared with the serial one, in the order of their rows; the paper's have a model and figures.
pub(super) const METHODS: [(&str, Option<(Strategy, &str)>); 5] = [
    ("CTR split over all cores, then the MAC", Some((Strategy::CtrSplit, paper::CTR_SPLIT))),
    ("the MAC on one core beside CTR on the rest", Some((Strategy::MacApart, paper::MAC_APART))),
    ("`modes::ccm`, one core", None),
    ("chunks in lanes, one core", None),
    ("chunks in lanes, all cores", None),
];

fn one_backend(
    section: &mut Section,
    effort: &Effort,
    backend: Backend,
    cores: usize,
    monitor: &mut BusyMonitor,
) -> Result<(), Error> {
    let cipher = Aes::with_backend(&[7; 16], backend)?;
    let message = CcmMessage { cipher: &cipher, nonce: *NONCE };
    // The reference takes some 60 ns per byte for each pass.
    let first = if backend == Backend::Reference { SHORT } else { effort.message_bytes() - 1 };
    let bytes = measurable_length(first, |bytes| {
        let (plain, mut out) = (vec![0x33; bytes], vec![0; bytes]);
        let begin = thread_time();
        serial(&message, &plain, &mut out)?;
        Ok(thread_time() - begin)
    })?;
    let is_first = section.rows.is_empty();
    section.text += &format!("{} {} KiB with {}", if is_first { "" } else { "," }, (bytes + 1) >> 10, backend.name());
    let plain: Vec<u8> = (0..bytes).map(|byte| (byte * 167) as u8).collect();
    let plain = &plain[..];
    check_equal_outputs(&message, plain, cores)?;

    let buffer = || vec![0; plain.len()];
    let mut buffers = [buffer(), buffer(), buffer(), buffer(), buffer(), buffer()];
    let [a, b, c, d, e, f] = &mut buffers;
    // Processor time, which other programs disturb little: both are on this thread.
    let (mut whole, mut mac) = (Vec::new(), Vec::new());
    let timed = |times: &mut Vec<f64>, work: &mut dyn FnMut() -> Result<[u8; BLOCK], Error>| {
        let begin = thread_time();
        black_box(work()?);
        times.push((thread_time() - begin).as_secs_f64());
        Ok(())
    };
    let seconds = alternate(
        effort.samples(),
        monitor,
        &mut [
            &mut || timed(&mut whole, &mut || serial(&message, plain, a)),
            &mut || timed(&mut mac, &mut || Ok(message.mac(plain)?)),
            &mut || ctr_split(&message, plain, b, cores).map(drop),
            &mut || mac_apart(&message, plain, c, cores).map(drop),
            &mut || {
                d.copy_from_slice(plain);
                Ok(ccm::seal(&cipher, NONCE, Aad(b""), d, &mut [0; 16])?)
            },
            &mut || chunks(&cipher, plain, e, 1),
            &mut || chunks(&cipher, plain, f, cores),
        ],
    )?;

    // The share of the MAC, for which the paper assumes a half.
    let share = Measured::ratio(&mac, &whole);
    let name = backend.name();
    section.rows.push(StudyRow {
        paper: Some(paper::MAC_SHARE.into()),
        model: Some(0.5),
        ..StudyRow::measured(format!("{name}: share of the MAC"), "", share)
    });
    for ((label, of_paper), of_way) in METHODS.into_iter().zip(&seconds[2..]) {
        section.rows.push(StudyRow {
            paper: of_paper.map(|(_, figure)| figure.into()),
            model: of_paper.map(|(strategy, _)| strategy.speedup(cores)),
            ..StudyRow::measured(format!("{name}: {label}"), "", Measured::ratio(&seconds[0], of_way))
        });
    }
    section.verdicts.push(Claim::Paper.of(
        format!("{name}: the MAC is half of the work; measured {:.0} %", share.median * 100.0),
        share,
        0.5 - CLOSE / 2.0..=0.5 + CLOSE / 2.0,
        monitor,
    ));
    for (what, way, strategy) in [("CTR split", 2, Strategy::CtrSplit), ("the MAC apart", 3, Strategy::MacApart)] {
        let (measured, model) = (Measured::ratio(&seconds[0], &seconds[way]), strategy.speedup(cores));
        let found = measured.median;
        section.verdicts.push(Claim::Paper.of(
            format!(
                "{name}: {what} on {cores} cores is within 10 % of {model:.2} times the serial rate; measured {found:.2}"
            ),
            measured,
            model * (1.0 - CLOSE)..=model * (1.0 + CLOSE),
            monitor,
        ));
    }
    let lanes = Measured::ratio(&seconds[0], &seconds[6]);
    // One block at a time, lanes gain nothing, and chunks only spread over the cores.
    let (claim, range) = if backend == Backend::Reference {
        let n = cores as f64;
        (
            format!("chunks on {cores} cores are within 10 % of {cores} times the serial rate"),
            n * (1.0 - CLOSE)..=n * (1.0 + CLOSE),
        )
    } else {
        ("chunks in lanes exceed the paper's bound, \"2.0 and never more\"".into(), 2.0..=f64::INFINITY)
    };
    let claim = format!("{name}: {claim}; measured {:.2}", lanes.median);
    section.verdicts.push(Claim::Ours.of(claim, lanes, range, monitor));
    Ok(())
}

/// A length from `first` on that is long enough to be measured. `serially` times the serial passes.
fn measurable_length(first: usize, mut serially: impl FnMut(usize) -> Result<Duration, Error>) -> Result<usize, Error> {
    let mut bytes = first.min(MOST);
    while bytes < MOST && serially(bytes)? < LONG {
        bytes = (2 * bytes + 1).min(MOST);
    }
    Ok(bytes)
}

/// Checks that all methods for one message give the same bytes, before anything is timed.
fn check_equal_outputs(message: &CcmMessage<'_>, plain: &[u8], cores: usize) -> Result<(), Error> {
    let (mut expected, mut tag) = (plain.to_vec(), [0; 16]);
    ccm::seal(message.cipher, NONCE, Aad(b""), &mut expected, &mut tag)?;
    let mut out = vec![0; plain.len()];
    for (name, way) in [("serial", 0), ("CTR split", 1), ("the MAC apart", 2)] {
        let found = match way {
            0 => serial(message, plain, &mut out)?,
            1 => ctr_split(message, plain, &mut out, cores)?,
            _ => mac_apart(message, plain, &mut out, cores)?,
        };
        if found != tag || out != expected {
            return Err(Error::Disagreement(name.into()));
        }
    }
    Ok(())
}

type Tagged = Result<[u8; BLOCK], Error>;

fn serial(message: &CcmMessage<'_>, plain: &[u8], out: &mut [u8]) -> Tagged {
    out.copy_from_slice(plain);
    message.ctr(0, out)?;
    Ok(message.tag(message.mac(plain)?)?)
}

fn ctr_split(message: &CcmMessage<'_>, plain: &[u8], out: &mut [u8], cores: usize) -> Tagged {
    ctr_on(message, plain, out, cores)?;
    Ok(message.tag(message.mac(plain)?)?)
}

fn mac_apart(message: &CcmMessage<'_>, plain: &[u8], out: &mut [u8], cores: usize) -> Tagged {
    thread::scope(|scope| {
        let ctr = start(scope, || ctr_on(message, plain, out, (cores - 1).max(1)))?;
        let mac = message.mac(plain)?;
        ctr.join().expect("CTR does not panic")?;
        Ok(message.tag(mac)?)
    })
}

/// CTR in one segment per thread.
fn ctr_on(message: &CcmMessage<'_>, plain: &[u8], out: &mut [u8], threads: usize) -> Result<(), Error> {
    let piece = plain.len().div_ceil(threads).next_multiple_of(BLOCK).max(BLOCK);
    on_threads(plain, out, piece, |from, plain, out| {
        out.copy_from_slice(plain);
        message.ctr(from / BLOCK, out)
    })
}

/// The same bytes as messages of 16 KiB, in lanes, equally many on each thread. A container's payload is encrypted in
/// this way, but always by the best backend.
fn chunks(cipher: &Aes, plain: &[u8], out: &mut [u8], threads: usize) -> Result<(), Error> {
    let batch = 32 * CHUNK_BYTES;
    let share = plain.len().div_ceil(threads).next_multiple_of(CHUNK_BYTES);
    on_threads(plain, out, share, |from, plain, out| {
        let mut number = (from / CHUNK_BYTES) as u64;
        for (plain, out) in plain.chunks(batch).zip(out.chunks_mut(batch)) {
            out.copy_from_slice(plain);
            let mut tags = [[0; 16]; 32];
            let mut jobs = Vec::with_capacity(32);
            for (data, tag) in out.chunks_mut(CHUNK_BYTES).zip(&mut tags) {
                let mut nonce = [0; 12];
                nonce[4..].copy_from_slice(&number.to_be_bytes());
                jobs.push(lanes::ccm::Seal::new(cipher, &nonce, Aad(b""), data, tag)?);
                number += 1;
            }
            lanes::ccm::seal(&mut jobs)?;
        }
        Ok(())
    })
}

/// Calls `work` with the offset of each segment and the segment itself, each on a separate thread; the first segment
/// is on this thread.
fn on_threads(
    plain: &[u8],
    out: &mut [u8],
    piece: usize,
    work: impl Fn(usize, &[u8], &mut [u8]) -> Result<(), tress_cipher::Error> + Sync,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let work = &work;
        let mut pieces = (0..).step_by(piece).zip(plain.chunks(piece).zip(out.chunks_mut(piece)));
        let first = pieces.next();
        let others = pieces.map(|(from, (plain, out))| start(scope, move || work(from, plain, out)));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        if let Some((from, (plain, out))) = first {
            work(from, plain, out)?;
        }
        others.into_iter().try_for_each(|other| Ok(other.join().expect("ciphers do not panic")?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: at a nanosecond per byte 20 ms are 20 million bytes, more than the longest message; at 4 ns per byte 5 million.
    #[test]
    fn a_message_is_as_long_as_it_has_to_be() {
        let at = |ns_per_byte: u64| {
            measurable_length((1 << 20) - 1, |bytes| Ok(Duration::from_nanos(bytes as u64 * ns_per_byte)))
        };
        assert_eq!([1, 4, 100].map(|ns| at(ns).expect("a length")), [MOST, (1 << 23) - 1, (1 << 20) - 1]);
        let fails = measurable_length(1, |_| Err(Error::Program("no".into())));
        assert!(matches!(fails, Err(Error::Program(_))));
    }

    #[test]
    fn every_number_of_cores_makes_the_same_message() {
        let cipher = Aes::new(&[7; 16]).expect("a key");
        let message = CcmMessage { cipher: &cipher, nonce: *NONCE };
        for length in [0, 1, 16, 17, 1000, 100_000] {
            let plain: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            for cores in [1, 2, 3, 7] {
                check_equal_outputs(&message, &plain, cores).expect("agreement");
            }
        }
    }

    #[test]
    fn a_thread_that_cannot_start_is_an_error() {
        let cipher = Aes::new(&[7; 16]).expect("a key");
        let message = CcmMessage { cipher: &cipher, nonce: *NONCE };
        // Enough for a share of each thread, because shares are whole chunks.
        let (plain, mut out) = (vec![1; 3_000_000], vec![0; 3_000_000]);
        let refused = |left, result: &mut dyn FnMut() -> Result<(), Error>| {
            tress_container::threads::LEFT.set(left);
            assert!(matches!(result(), Err(Error::Threads(_))), "{left}");
        };
        for left in [0, 1] {
            refused(left, &mut || ctr_split(&message, &plain, &mut out, 3).map(drop));
            refused(left, &mut || chunks(&cipher, &plain, &mut out, 3));
        }
        refused(0, &mut || mac_apart(&message, &plain, &mut out, 3).map(drop));
        tress_container::threads::LEFT.set(usize::MAX);
    }

    /// Each chunk is the message that `modes::ccm` makes from it with the chunk's number in the nonce.
    #[test]
    fn chunks_are_messages() {
        let cipher = Aes::new(&[7; 16]).expect("a key");
        let plain: Vec<u8> = (0..70 * CHUNK_BYTES + 5).map(|byte| byte as u8).collect();
        let mut expected = plain.clone();
        for (number, chunk) in expected.chunks_mut(CHUNK_BYTES).enumerate() {
            let mut nonce = [0; 12];
            nonce[4..].copy_from_slice(&(number as u64).to_be_bytes());
            ccm::seal(&cipher, &nonce, Aad(b""), chunk, &mut [0; 16]).expect("a message");
        }
        for threads in [1, 2, 3] {
            let mut out = vec![0; plain.len()];
            chunks(&cipher, &plain, &mut out, threads).expect("chunks");
            assert!(out == expected, "{threads}");
        }
    }
}
