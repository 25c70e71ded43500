//! Fig. 4: one CCM message on one core, by its size.

use tress_cipher::aes::Aes;
use tress_cipher::modes::ccm;
use tress_cipher::{Aad, Backend, BlockCipher};

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, chart, range};
use super::alternate;
use super::paper::R_COMP;
use crate::picture::{Chart, Level, Line, Scale};

const SMALLEST: usize = 1 << 10;
/// A nonce of eleven bytes leaves four for the message's length; 16 MiB do not fit into three.
const NONCE: &[u8; 11] = b"elevenbytes";

/// The slowest backend in use, the one with the paper's instructions, and the best of this machine.
pub(super) fn backends() -> Vec<Backend> {
    let best = Backend::best_of(Aes::BACKENDS);
    let mut backends = vec![Backend::Portable, Backend::AesNi];
    if !backends.contains(&best) {
        backends.push(best);
    }
    backends.retain(|backend| Aes::BACKENDS.contains(backend) && backend.is_available());
    backends
}

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "by-size", &[("ns", &(R_COMP * 1e9))]);
    let mut sizes = Vec::new();
    let mut size = SMALLEST;
    while size <= effort.message_bytes() {
        sizes.push(size);
        size *= 4;
    }
    let mut lines = Vec::new();
    let mut worst = 0.0f64;
    let mut monitor = BusyMonitor::default();
    for backend in backends() {
        let cipher = Aes::with_backend(&[7; 16], backend)?;
        let mut points = Vec::new();
        for &bytes in &sizes {
            let (mut data, mut tag) = (vec![0x33; bytes], [0; 16]);
            // Small messages are repeated so that the clock can time them.
            let times = (1 << 16) / bytes.min(1 << 16);
            let seconds = alternate(
                effort.samples(),
                &mut monitor,
                &mut [&mut || {
                    for _ in 0..times {
                        ccm::seal(&cipher, NONCE, Aad(b""), &mut data, &mut tag)?;
                    }
                    Ok(())
                }],
            )?;
            let ns: Vec<f64> = seconds[0].iter().map(|seconds| seconds * 1e9 / (times * bytes) as f64).collect();
            let measured = Measured::of(&ns);
            points.push((bytes as f64, measured.median));
            section.rows.push(StudyRow {
                paper: Some(format!("{:.0}", R_COMP * 1e9)),
                ..StudyRow::measured(format!("{}, {} KiB", backend.name(), bytes >> 10), "ns/byte", measured)
            });
        }
        let of_large = points.iter().filter(|point| point.0 >= 65536.0).map(|point| point.1);
        let (low, high) = range(of_large);
        if high > 0.0 {
            worst = worst.max(high / low);
        }
        lines.push(Line { name: backend.name().into(), points });
    }
    let paper = R_COMP * 1e9;
    let costs = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let (lowest, highest) = range(costs.chain([paper]));
    let x = ("message length in bytes", SMALLEST as f64, effort.message_bytes() as f64, Scale::Logarithmic);
    let y = ("ns per byte", lowest / 2.0, highest * 2.0, Scale::Logarithmic);
    let levels = vec![Level { name: "the paper, 37".into(), at: paper }];
    let chart = Chart { levels, ..chart("One AES-128-CCM message on one core", x, y, lines) };
    section.pictures.push(Picture::new("by-size", chart));
    let claim = format!(
        "one figure is enough for all sizes, as the paper assumes: from 64 KiB on the cost per byte changes by a factor of \
         {worst:.2} at most"
    );
    section.verdicts.push(Claim::Paper.measured(claim, Some(worst <= 1.25), &monitor));
    section.rows.extend(monitor.row());
    Ok(section)
}
