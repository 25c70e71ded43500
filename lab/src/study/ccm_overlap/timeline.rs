//! A picture of a real transfer: the work of every worker and every connection over time, from the trace that `tress
//! send` writes. First computing and then sending, then both overlapped, and then at full speed.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Measured, Picture, Section, StudyRow, Verdict, text};
use super::links::transfer::{Transfers, no_disturbance};
use super::links::wire::Wire;
use crate::picture::timeline::{Span, Timeline, Track};

/// Small enough that every batch is visible.
const BYTES: usize = 8 << 20;
const STAGE: &str = "512KiB";
/// Rates to which both sides are limited: slow enough for a busy machine, and the link is the slower one.
const COMPUTE: &str = "100MB";
const LINK: &str = "50MB";
/// Largest number of spans in a picture.
const MOST_SPANS: usize = 5000;

/// Names of work in a trace, in the order of their colours.
const KINDS: [&str; 4] = ["read", "seal", "write", "held to the rate"];

/// Transfers to draw: name and title of the picture, and options of the sender.
const TRANSFERS: [(&str, &str, &[&str]); 3] = [
    (
        "timeline-sequential",
        "8 MiB, computing at 100 MB/s and then sending at 50 MB/s",
        &["--rate", LINK, "--compute-rate", COMPUTE, "--threads", "1", "--sequential"],
    ),
    (
        "timeline-overlapped",
        "8 MiB, sending at 50 MB/s while computing at 100 MB/s",
        &["--rate", LINK, "--compute-rate", COMPUTE, "--threads", "1", "--stage", STAGE],
    ),
    ("timeline-free", "8 MiB at full speed", &[]),
];

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::default();
    if let Err(why) = measure(effort, &mut section) {
        section.verdicts.push(Verdict::LeftOut(format!("timeline of a transfer: {why}")));
    }
    Ok(section)
}

fn measure(effort: &Effort, section: &mut Section) -> Result<(), String> {
    let mut wire = Wire::loopback();
    let mut transfers = Transfers::new(effort, &wire, BYTES)?;
    section.text = text(&super::STUDY, "timeline", &[]);
    let count = if effort.is_quick { 3 } else { 7 };
    let mut shares = Vec::new();
    let mut monitor = BusyMonitor::default();
    for (name, title, options) in TRANSFERS {
        let (mut seconds, mut overlaps, mut last) = (Vec::new(), Vec::new(), None);
        for number in 0..count {
            let path = transfers.path(&format!("{name}-{number}.json"));
            let file = path.to_str().ok_or("the name of the temporary folder is not valid text")?.to_string();
            let options = [options, &["--trace", &file]].concat();
            monitor.check();
            seconds.push(transfers.send(&mut wire, &options, no_disturbance)?.elapsed_s);
            let tracks = read(&path)?;
            overlaps.push(overlap(&tracks));
            last = Some(tracks);
        }
        let mut row = |what: &str, unit: &str, figures: &[f64]| {
            let measured = Measured::of(figures);
            section.rows.push(StudyRow::measured(format!("{title}: {what}"), unit, measured));
            measured
        };
        row("time", "s", &seconds);
        shares.push(row("share of computing time with data being sent", "", &overlaps));
        if let Some(tracks) = last {
            let kinds = KINDS.map(String::from).into();
            section.pictures.push(Picture::new(name, Timeline { title: title.into(), tracks, kinds }));
        }
    }
    section.rows.extend(monitor.row());
    let [before, during, _] = shares[..] else { return Ok(()) };
    let percent = |share: Measured| share.median * 100.0;
    let claim =
        format!("batches are sent while others are computed: during {:.0} % of the computing time", percent(during));
    // All but the first of 16 batches, with some room.
    section.verdicts.push(Claim::Ours.of(claim, during, 0.85..=1.0, &monitor));
    let claim = format!("computing before sending never overlaps the two: {:.0} %", percent(before));
    section.verdicts.push(Claim::Ours.of(claim, before, 0.0..=0.05, &monitor));
    Ok(())
}

/// An event of a trace.
#[derive(Deserialize)]
struct Event {
    name: String,
    ph: String,
    tid: u64,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    args: Args,
}

#[derive(Default, Deserialize)]
struct Args {
    #[serde(default)]
    name: String,
}

fn read(path: &Path) -> Result<Vec<Track>, String> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    tracks(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The rows of workers and links, with their work. Waiting is not drawn.
fn tracks(trace: &[u8]) -> Result<Vec<Track>, serde_json::Error> {
    let mut events: Vec<Event> = serde_json::from_slice(trace)?;
    events.sort_by(|one, other| one.ts.total_cmp(&other.ts));
    let mut rows: Vec<(u64, Track)> = events
        .iter()
        .filter(|event| event.ph == "M" && event.args.name != "session")
        .map(|event| (event.tid, Track { name: event.args.name.clone(), spans: Vec::new() }))
        .collect();
    rows.sort_by_key(|(row, _)| *row);
    let work = events.iter().filter(|event| event.ph == "X" && !event.name.starts_with("wait"));
    for Event { name, tid, ts, dur, .. } in work.take(MOST_SPANS) {
        if let Some((_, track)) = rows.iter_mut().find(|(row, _)| row == tid) {
            track.spans.push(Span { name: name.clone(), from_s: ts * 1e-6, to_s: (ts + dur) * 1e-6 });
        }
    }
    Ok(rows.into_iter().map(|(_, track)| track).filter(|track| !track.spans.is_empty()).collect())
}

/// The part of the time with any worker computing in which any link is writing.
fn overlap(tracks: &[Track]) -> f64 {
    let spans = |is_writing: bool| {
        let spans =
            tracks.iter().flat_map(|track| &track.spans).filter(move |span| (span.name == "write") == is_writing);
        union(spans.map(|span| (span.from_s, span.to_s)).collect())
    };
    let (writing, computing) = (spans(true), spans(false));
    let length = |spans: &[(f64, f64)]| spans.iter().map(|(from, to)| to - from).sum::<f64>();
    let both: f64 = writing
        .iter()
        .flat_map(|(from, to)| computing.iter().map(move |(start, end)| (to.min(*end) - from.max(*start)).max(0.0)))
        .sum();
    let share = both / length(&computing);
    if share.is_finite() { share } else { 0.0 }
}

/// The same time as spans that do not overlap.
fn union(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut union: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans {
        match union.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => union.push((from, to)),
        }
    }
    union
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In Chrome's format, by hand: two workers that compute for 8 µs, and a link that writes for 4 µs, 3 of which
    /// overlap with the computing.
    const TRACE: &str = r#"[
        {"name":"thread_name","ph":"M","pid":1,"tid":2000,"args":{"name":"link 0"}},
        {"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"session"}},
        {"name":"thread_name","ph":"M","pid":1,"tid":1000,"args":{"name":"worker 0"}},
        {"name":"thread_name","ph":"M","pid":1,"tid":1001,"args":{"name":"worker 1"}},
        {"name":"file","ph":"X","pid":1,"tid":1,"ts":0,"dur":20},
        {"name":"plan","ph":"i","s":"p","pid":1,"tid":1,"ts":1,"args":{"stages":2}},
        {"name":"seal","ph":"X","pid":1,"tid":1000,"ts":0,"dur":6,"args":{"first_chunk":0}},
        {"name":"wait for a buffer","ph":"X","pid":1,"tid":1000,"ts":6,"dur":9},
        {"name":"read","ph":"X","pid":1,"tid":1001,"ts":5,"dur":3},
        {"name":"write","ph":"X","pid":1,"tid":2000,"ts":5,"dur":4}
    ]"#;

    #[test]
    fn a_trace_as_rows() {
        let tracks = tracks(TRACE.as_bytes()).expect("a trace");
        let names: Vec<&str> = tracks.iter().map(|track| track.name.as_str()).collect();
        assert_eq!(names, ["worker 0", "worker 1", "link 0"]);
        assert_eq!(tracks[0].spans.len(), 1);
        assert!((tracks[1].spans[0].from_s - 5e-6).abs() < 1e-12 && (tracks[1].spans[0].to_s - 8e-6).abs() < 1e-12);
        assert!((overlap(&tracks) - 0.375).abs() < 1e-9, "{}", overlap(&tracks));
    }

    #[test]
    fn an_empty_trace_does_not_panic() {
        assert!(tracks(b"{").is_err() && tracks(b"[1]").is_err());
        assert_eq!(overlap(&tracks(b"[]").expect("empty")), 0.0);
    }
}
