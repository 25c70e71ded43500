//! A gateway: opens the packets of many devices (riscv/firmware/devices/src/node) in lanes, each with the device's
//! key. It reports and drops packets that are forged, replayed, damaged, truncated, or of unknown devices.
//! docs/reference/formats/node.md specifies the format.
//!
//! ```text
//! gateway simulate                     a thousand simulated devices, and an attacker between them and us
//! gateway simulate --out FOLDER        keeps what was received, and the keys, in FOLDER
//! gateway read KEYS [CAPTURE]          what a UART has brought: a file, or standard input
//! ```
//!
//! A line of KEYS has the identifier and the key of a device in hexadecimal. This example keeps no state between two
//! runs. A real gateway must store the last counter of every device; otherwise it accepts replays after a restart.

mod attacker;
mod nodes;
mod receiver;
#[cfg(test)]
mod tests;
mod wire;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use base16ct::HexDisplay;
use clap::Parser;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use nodes::{Identity, Nodes};
use receiver::{Receiver, Summary};
use wire::{Frames, KEY, Packet};

/// Packets in one batch.
const BATCH: usize = 1024;

/// Opens the packets of many devices, each with its own key.
#[derive(Parser)]
#[command(name = "gateway")]
enum Command {
    /// Runs devices on the simulator, puts an attacker between them and the gateway, and says what came of it.
    Simulate {
        /// How many devices.
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        devices: u32,
        /// Packets that each of them sends.
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
        packets: u32,
        /// A folder for `keys` and `capture`, which `gateway read` takes.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Opens what a UART has brought: a line for each packet that is genuine, and a summary to standard error.
    Read {
        /// A line for each device: its identifier and its key, in hexadecimal.
        keys: PathBuf,
        /// The received bytes; without it, standard input.
        capture: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Simulate { devices, packets, out } => simulate(devices, packets, out.as_deref()),
        Command::Read { keys, capture } => read(&keys, capture.as_deref()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gateway: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Devices with the numbers 0 to `count` − 1. Keys are derived from the numbers, so that every run is the same. Keys
/// of real devices must come from a random number generator.
fn provision(count: u32) -> Vec<Identity> {
    let device = |number: u32| {
        let mut identifier = *b"node\0\0\0\0";
        identifier[4..].copy_from_slice(&number.to_be_bytes());
        let hash = Zeroizing::new(Sha256::digest([b"gateway example key ".as_slice(), &identifier].concat()));
        let mut key = Zeroizing::new([0; KEY]);
        key.copy_from_slice(&hash[..KEY]);
        (identifier, key)
    };
    (0..count).map(device).collect()
}

fn simulate(devices: u32, packets: u32, out: Option<&Path>) -> Result<(), String> {
    let devices = provision(devices);
    let progress = indicatif::ProgressBar::new(devices.len() as u64)
        .with_style(indicatif::ProgressStyle::with_template("{bar:40} {pos} of {len} devices").expect("a template"));
    let outputs = Nodes::new()?.run_all(&devices, packets, || progress.inc(1));
    progress.finish_and_clear();
    let (received, planted) = attacker::add_attacks(&outputs?, packets)?;
    if let Some(folder) = out {
        keep(folder, &devices, &received)?;
    }
    let (summary, time) = open(&mut Receiver::new(&devices), &received[..], |_| Ok(()))?;
    println!("{summary}");
    let frames = summary.opened + summary.dropped.values().sum::<u64>();
    println!("{frames} frames opened in {:.1} ms, each with its device's own key", 1e3 * time.as_secs_f64());
    let sent = devices.len() as u64 * u64::from(packets);
    if summary.opened != sent || summary.dropped != planted {
        return Err(format!("the gateway's counts differ: {sent} packets were sent, the attacker added {planted:?}"));
    }
    Ok(())
}

fn read(keys: &Path, capture: Option<&Path>) -> Result<(), String> {
    let mut receiver = Receiver::new(&read_keys(keys)?);
    let mut out = BufWriter::new(io::stdout().lock());
    let print = |packet: &Packet| writeln!(out, "{packet}").and_then(|()| out.flush());
    let input: Box<dyn Read> = match capture {
        None => Box::new(io::stdin().lock()),
        Some(path) => Box::new(File::open(path).map_err(|error| format!("{}: {error}", path.display()))?),
    };
    let (summary, _) = open(&mut receiver, input, print)?;
    eprintln!("{summary}");
    Ok(())
}

/// Opens all packets of the input, in batches of at most [`BATCH`] frames, and without waiting when the input pauses.
/// Also returns the time spent in opening.
fn open(
    receiver: &mut Receiver,
    mut input: impl Read,
    mut taken: impl FnMut(&Packet) -> io::Result<()>,
) -> Result<(Summary, Duration), String> {
    let (mut summary, mut time) = (Summary::default(), Duration::ZERO);
    let (mut frames, mut waiting, mut bytes) = (Frames::default(), Vec::new(), vec![0; 1 << 16]);
    loop {
        let count = match input.read(&mut bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("reading: {error}")),
        };
        frames.feed(&bytes[..count], &mut waiting);
        if count == 0 {
            frames.end(&mut waiting);
        }
        for batch in waiting.chunks_mut(BATCH) {
            let start = Instant::now();
            receiver.open(batch);
            time += start.elapsed();
            for received in &*batch {
                summary.count(received);
                if let Ok(packet) = received {
                    taken(packet).map_err(|error| format!("writing: {error}"))?;
                }
            }
        }
        waiting.clear();
        if count == 0 {
            return Ok((summary, time));
        }
    }
}

/// Reads lines of identifier and key in hexadecimal. Skips empty lines and lines that begin with #.
fn read_keys(path: &Path) -> Result<Vec<Identity>, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let text = Zeroizing::new(fs::read_to_string(path).map_err(|error| failed(&error))?);
    let mut devices = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let device = (words.next().and_then(hexadecimal), words.next().and_then(hexadecimal).map(Zeroizing::new));
        let ((Some(identifier), Some(key)), None) = (device, words.next()) else {
            return Err(failed(&format_args!("line {}: not an identifier and a key", number + 1)));
        };
        devices.push((identifier, key));
    }
    let mut identifiers: Vec<_> = devices.iter().map(|(identifier, _)| *identifier).collect();
    identifiers.sort_unstable();
    if let Some(twice) = identifiers.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(failed(&format_args!("{:x} twice", HexDisplay(&twice[0]))));
    }
    Ok(devices)
}

fn hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    (base16ct::mixed::decode(text, &mut bytes).ok()?.len() == N).then_some(bytes)
}

/// Writes the input files of `gateway read`.
fn keep(folder: &Path, devices: &[Identity], received: &[u8]) -> Result<(), String> {
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut text = String::from("# identifier, key\n");
    for (identifier, key) in devices {
        text += &format!("{:x} {:x}\n", HexDisplay(identifier), HexDisplay(&**key));
    }
    for (name, bytes) in [("keys", text.as_bytes()), ("capture", received)] {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}
