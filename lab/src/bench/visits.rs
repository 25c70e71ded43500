//! Visits all rows again and again.
//!
//! Samples that are taken one right after the other meet the same conditions: the same neighbours on the machine, the
//! same clock, the same pages under their buffers. Their interval describes that minute, not the next run. So a row
//! is visited many times over the whole run, for a few samples each time, in buffers at different addresses. A visit
//! counts as one observation, by its median, and intervals are those of visits.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::Error;
use super::enough::{Stopped, StoppingRule};
use super::keep::RecordWriter;
use super::options::Options;
use super::record::{BenchRow, Document};
use super::sample::SampleEffort;
use crate::timing::time_left;

/// The longest visit of a comparison. More time would only add samples that are alike.
const VISIT: Duration = Duration::from_millis(60);

/// A row that is measured in visits.
pub(crate) trait VisitedRow {
    fn title(&self) -> String;
    /// Number of comparisons, or 1 for a row without peers.
    fn comparisons(&self) -> usize;
    /// Whether a row of an earlier run is this one, with all its peers.
    fn has_same_peers(&self, row: &BenchRow) -> bool;
    /// Whether a row of an earlier run is this one, with any peers.
    fn is_same_row(&self, row: &BenchRow) -> bool;
    /// How many visits are enough.
    fn stopping_rule(&self, options: &Options) -> StoppingRule;
    /// Time for each comparison, over all visits.
    fn time(&self) -> Duration;
    /// Whether it takes part in this visit.
    fn is_due(&self, visit: usize) -> bool;
    /// Adds samples to `row`, or makes a new row.
    fn visit(&mut self, effort: SampleEffort, is_first: bool, row: Option<BenchRow>) -> Result<BenchRow, Error>;
}

/// A row that is not sure yet, and its index in the document once it is there.
struct OpenRow<'a> {
    item: Box<dyn VisitedRow + 'a>,
    row: Option<usize>,
}

/// Adds all rows to the document, which is written as it grows. Rows that are already in the document get more
/// visits, unless they are sure.
pub(crate) fn measure(
    options: &Options,
    rows: Vec<Box<dyn VisitedRow + '_>>,
    document: &mut Document,
    writer: &mut Option<RecordWriter>,
) -> Result<(), Error> {
    let mut open: Vec<OpenRow<'_>> = Vec::new();
    for item in rows {
        let row = document.rows.iter().position(|row| item.has_same_peers(row));
        if row.is_none_or(|row| !is_sure(&document.rows[row])) {
            open.push(OpenRow { item, row });
        }
    }
    let least = options.stopping_rule().least;
    let comparisons = |open: &[OpenRow<'_>]| open.iter().map(|open| open.item.comparisons()).sum::<usize>();
    let of = |open: &OpenRow<'_>| open.item.time() * u32::try_from(open.item.comparisons()).unwrap_or(u32::MAX);
    let time = open.iter().map(of).sum::<Duration>();
    let (start, mut slice) = (Instant::now(), VISIT);
    let progress = time_left((least * comparisons(&open)) as u64);
    for visit in 0.. {
        let left = time.saturating_sub(start.elapsed());
        if visit < least {
            slice = visit_time(left, comparisons(&open) * (least - visit));
        } else {
            progress.inc_length(comparisons(&open) as u64);
        }
        // A little more time, if every row then gets the visits that a comparison of records needs.
        let is_over = |visit: usize| {
            let time = if visit < least { time + time / 4 } else { time };
            visit > 0 && start.elapsed() >= time
        };
        for open in &mut open {
            if is_over(visit) {
                break;
            }
            if open.item.is_due(visit) {
                progress.set_message(open.item.title());
                let row = open.row.map(|row| std::mem::take(&mut document.rows[row]));
                visit_item(open, options.effort(slice), visit, row, document)?;
            }
            progress.inc(open.item.comparisons() as u64);
            if let Some(writer) = writer {
                writer.write_if_due(document)?;
            }
        }
        let time_is_up = is_over(visit + 1);
        open.retain(|open| match open.row {
            Some(row) => !judge_row(&mut document.rows[row], open.item.stopping_rule(options), time_is_up),
            None => true,
        });
        if open.is_empty() || time_is_up {
            break;
        }
        let behind = least.saturating_sub(visit + 1) * comparisons(&open);
        finish_early(&progress, behind);
    }
    progress.finish_and_clear();
    Ok(())
}

/// Length of one visit, when this many are still to come.
fn visit_time(left: Duration, visits: usize) -> Duration {
    (left / u32::try_from(visits.max(1)).unwrap_or(u32::MAX)).min(VISIT)
}

/// Takes the visits of rows that were sure early out of the progress bar.
fn finish_early(progress: &ProgressBar, to_come: usize) {
    progress.set_length(progress.position() + to_come as u64);
}

fn visit_item(
    open: &mut OpenRow<'_>,
    effort: SampleEffort,
    visit: usize,
    row: Option<BenchRow>,
    document: &mut Document,
) -> Result<(), Error> {
    // Moves later allocations to other addresses than at the visit before, in memory and in the sets of the caches.
    let elsewhere = std::hint::black_box(vec![1_u8; visit * 37 % 61 * 4096 + visit % 64 * 64 + 1]);
    let before = row.clone();
    let row = match open.item.visit(effort, visit == 0, row) {
        Ok(row) => row,
        Err(error) => {
            // An error leaves the row as it was.
            if let (Some(place), Some(before)) = (open.row, before) {
                document.rows[place] = before;
            }
            return Err(error);
        }
    };
    match open.row {
        Some(place) => document.rows[place] = row,
        None => {
            open.row = Some(document.rows.len());
            document.rows.push(row);
        }
    }
    drop(elsewhere);
    Ok(())
}

/// Whether every comparison has been stopped.
pub(crate) fn is_sure(row: &BenchRow) -> bool {
    let all = || row.against.values().map(|against| against.stopped);
    if row.against.is_empty() { row.stopped.is_some() } else { all().all(|stopped| stopped.is_some()) }
}

/// If all comparisons of the row can stop, stores the reason in each of them, and returns `true`.
fn judge_row(row: &mut BenchRow, stopping_rule: StoppingRule, time_is_up: bool) -> bool {
    let judged = |figures: &[f64]| stopping_rule.stop(figures, time_is_up);
    // If the time is up before there are enough visits, that is the reason.
    let last = |stopped: Option<Stopped>| stopped.or(time_is_up.then_some(Stopped::Time));
    if row.against.is_empty() {
        row.stopped = last(judged(&row.visits()));
        return row.stopped.is_some();
    }
    let stopped: Vec<_> = row.against.values().map(|against| last(judged(&against.visits()))).collect();
    let is_sure = stopped.iter().all(Option::is_some);
    if is_sure {
        row.against.values_mut().zip(stopped).for_each(|(against, stopped)| against.stopped = stopped);
    }
    is_sure
}

#[cfg(test)]
mod tests {
    use super::super::record::Against;
    use super::*;

    #[test]
    fn time_is_divided_among_what_is_left() {
        assert_eq!(visit_time(Duration::from_secs(48), 11 * 120), Duration::from_nanos(36_363_636));
        assert_eq!(visit_time(Duration::from_secs(48), 11), VISIT);
        assert_eq!(visit_time(Duration::ZERO, 0), Duration::ZERO);
    }

    const ENOUGH: StoppingRule = StoppingRule { least: 11, most: 20, half_width: 0.01 };

    fn against(ratio: impl Fn(usize) -> f64, visits: usize) -> Against {
        // Two pairs a visit, the second far off in the first half of them, and its median with it.
        let pairs = (0..2 * visits).map(|pair| [ratio(pair / 2), 1.0]).collect();
        Against { pairs, per_visit: 2, ..Against::default() }
    }

    #[test]
    fn a_row_ends_when_its_last_comparison_does() {
        let loud = |visit| if visit % 2 == 0 { 1.0 } else { 2.0 };
        let of = |visits| {
            let mut row = BenchRow::default();
            row.against.insert("steady".into(), against(|_| 3.0, visits));
            row.against.insert("loud".into(), against(loud, visits));
            row
        };
        let mut row = of(11);
        assert!(!judge_row(&mut row, ENOUGH, false) && !is_sure(&row));
        assert!(judge_row(&mut row, ENOUGH, true) && is_sure(&row));
        let stopped = |row: &BenchRow| ["steady", "loud"].map(|peer| row.against[peer].stopped);
        assert_eq!(stopped(&row), [Some(Stopped::Narrow), Some(Stopped::Time)]);
        let mut row = of(20);
        assert!(judge_row(&mut row, ENOUGH, false));
        assert_eq!(stopped(&row), [Some(Stopped::Narrow), Some(Stopped::Limit)]);
        // Few visits are no reason but the end.
        let mut row = of(3);
        assert!(!judge_row(&mut row, ENOUGH, false) && judge_row(&mut row, ENOUGH, true));
        assert_eq!(stopped(&row), [Some(Stopped::Time); 2]);
    }

    #[test]
    fn a_row_without_a_peer_is_judged_by_its_rate() {
        let mut row = BenchRow { samples: vec![5.0; 33], per_visit: 3, ..BenchRow::default() };
        assert!(judge_row(&mut row, ENOUGH, false) && row.stopped == Some(Stopped::Narrow));
        let mut row = BenchRow { samples: vec![5.0; 30], per_visit: 3, ..BenchRow::default() };
        assert!(!judge_row(&mut row, ENOUGH, false) && !is_sure(&row));
    }
}
