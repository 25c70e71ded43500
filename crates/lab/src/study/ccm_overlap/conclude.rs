//! The closing words.

use std::fmt::Write as _;

use super::super::{Found, Verdict};

pub(super) fn conclude(found: Found<'_>) -> Option<String> {
    let ways = |end| found.measured("strategies", end);
    let share = ways("share of the MAC")?;
    let split = found.row("strategies", "CTR split over all cores, then the MAC")?;
    let apart = found.row("strategies", "the MAC on one core beside CTR on the rest")?;
    let (one, all) = (ways("chunks in lanes, one core")?, ways("chunks in lanes, all cores")?);
    let figures = found.section("table-1")?;
    let misprints = figures.verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Fails(_))).count();

    let mut text = format!(
        "What the paper computes is right: {} of the {} figures of Table 1 follow from its two equations, and the one that \
         does not, 292 stages, is a misprint for 282",
        figures.rows.len().saturating_sub(misprints),
        figures.rows.len(),
    );
    match found.row("links", "100 Mbit/s, the paper's R_comp: speed-up over sequential").and_then(|row| row.measured) {
        Some(gain) => {
            let _ = write!(
                text,
                "; over a link of 100 Mbit/s a real transfer that computes while it communicates is {:.2} times as fast as \
                 one that does not, where Table 1 says 1.46. ",
                gain.median
            );
        }
        None => text.push_str("; no real link was there to see it on. "),
    }
    let _ = write!(
        text,
        "What it says of one message on several cores does not carry over: it takes the MAC for half of the work, and with \
         this processor's best instructions it is {:.0} %, because CTR's blocks run side by side and each of the MAC's \
         waits for the one before. So here splitting CTR gives {:.2} times the serial rate where the model has {:.2}, and \
         the MAC on a core of its own {:.2} where it has {:.2}. ",
        100.0 * share,
        split.measured?.median,
        split.model?,
        apart.measured?.median,
        apart.model?,
    );
    let _ = write!(
        text,
        "The bound \"2.0 and never more\" is one of a single message: the same bytes cut into chunks, each a message of its \
         own, come out at {one:.2} times the serial rate on one core and {all:.2} on all of them{}.",
        if f64::max(one, all) > 2.0 {
            ", which breaks it"
        } else {
            "; that does not break it in this run, whose messages are small or whose machine is busy"
        },
    );
    Some(text)
}
