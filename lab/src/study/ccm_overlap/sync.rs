//! T_syn as the paper measured it: a barrier of POSIX threads between two threads and between four. Beside it the barrier
//! of the standard library, and the alternative that the paper names: counters, point to point.

use tress_plan::measure::{SyncKind, sync_samples};

use super::super::busy::BusyMonitor;
use super::super::{Claim, Effort, Error, Measured, Section, StudyRow};
use super::{cores, paper};

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "sync", &[("cores", &cores())]);
    let mut monitor = BusyMonitor::default();
    let (mut figures, mut posix) = (Vec::new(), Vec::new());
    #[cfg(target_os = "linux")]
    for (threads, paper_us) in paper::BARRIERS_US {
        monitor.check();
        let rounds = if effort.is_quick { 500 } else { 5000 };
        let sample = |_| tress_peers::pthread::barrier_seconds(threads as u32, rounds).map(|seconds| seconds * 1e6);
        let Some(us) = (0..effort.samples()).map(sample).collect::<Option<Vec<f64>>>() else { continue };
        posix.push(Measured::of(&us));
        section.rows.push(StudyRow {
            paper: Some(paper_us.to_string()),
            ..StudyRow::measured(format!("pthread barrier, {threads} threads"), "µs", Measured::of(&us))
        });
    }
    for kind in [SyncKind::Barrier, SyncKind::Counter] {
        for (threads, paper_us) in paper::BARRIERS_US {
            monitor.check();
            let us: Vec<f64> = sync_samples(kind, threads)?.into_iter().map(|seconds| seconds * 1e6).collect();
            figures.push(Measured::of(&us));
            // Where there is no pthread barrier, this one is the closest.
            let is_closest = kind == SyncKind::Barrier && !cfg!(target_os = "linux");
            section.rows.push(StudyRow {
                paper: is_closest.then(|| paper_us.to_string()),
                ..StudyRow::measured(format!("{}, {threads} threads", kind.name()), "µs", Measured::of(&us))
            });
        }
    }
    monitor.check();
    if let [two, four, counter, _] = figures[..] {
        // The paper's claim is on the barrier that it had.
        let paper = <[Measured; 2]>::try_from(posix).unwrap_or([two, four]);
        judge(&mut section, paper, [two, counter], &monitor);
    }
    section.rows.extend(monitor.row());
    Ok(section)
}

fn judge(section: &mut Section, [two, four]: [Measured; 2], [barrier, counter]: [Measured; 2], monitor: &BusyMonitor) {
    let [(_, paper_two), (_, paper_four)] = paper::BARRIERS_US;
    let gain = ratio(four, two);
    let claim = format!(
        "a barrier between four threads costs at least twice as much as between two; the paper {:.1} times, measured {:.1}",
        paper_four / paper_two,
        gain.median
    );
    section.verdicts.push(Claim::Paper.of(claim, gain, 2.0..=f64::INFINITY, monitor));
    let gain = ratio(barrier, counter);
    let claim =
        format!("the library's barrier between two threads costs more than counters: {:.1} times as much", gain.median);
    section.verdicts.push(Claim::Ours.of(claim, gain, 1.0..=f64::INFINITY, monitor));
}

/// The ratio of figures that were not measured alternately: its interval has the most distant ends.
fn ratio(over: Measured, under: Measured) -> Measured {
    Measured { median: over.median / under.median, low: over.low / under.high, high: over.high / under.low }
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict;
    use super::*;

    /// By hand: 20 to 30 over 4 to 5 is 4 to 7.5.
    #[test]
    fn verdicts_follow_the_figures() {
        let at = |median, low, high| Measured { median, low, high };
        let Measured { low, high, .. } = ratio(at(25.0, 20.0, 30.0), at(4.5, 4.0, 5.0));
        assert_eq!((low, high), (4.0, 7.5));
        for (four, counter, had_cores, expected) in
            [(25.0, 0.1, 1.0, (2, 0)), (5.0, 9.0, 1.0, (0, 2)), (5.0, 9.0, 0.5, (0, 0))]
        {
            let mut section = Section::default();
            let [two, four, counter] = [5.0, four, counter].map(|figure| at(figure, figure, figure));
            judge(&mut section, [two, four], [two, counter], &BusyMonitor::of(&[had_cores; 4]));
            let count = |is: fn(&Verdict) -> bool| section.verdicts.iter().filter(|verdict| is(verdict)).count();
            assert_eq!((count(Verdict::holds), count(Verdict::is_refuted)), expected);
        }
    }
}
