//! The conclusion.

use std::fmt::Write as _;

use super::super::Findings;

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let ways = |end| found.measured("strategies", end, "");
    let share = ways("share of the MAC")?;
    let split = found.row("strategies", "CTR split over all cores, then the MAC", "")?;
    let apart = found.row("strategies", "the MAC on one core beside CTR on the rest", "")?;
    let (one, all) = (ways("chunks in lanes, one core")?, ways("chunks in lanes, all cores")?);
    let figures = found.section("table-1")?;
    let misprints = figures.verdicts.iter().filter(|verdict| verdict.is_refuted()).count();

    let mut text = format!(
        "The paper's computations are right: {} of the {} figures of Table 1 follow from its two equations. The exception, 292 \
         stages, is a misprint for 282",
        figures.rows.len().saturating_sub(misprints),
        figures.rows.len(),
    );
    match found
        .row("links", "100 Mbit/s, the paper's R_comp: speed-up over sequential", "")
        .and_then(|row| row.measured)
    {
        Some(gain) => {
            let _ = write!(
                text,
                ". Over a link of 100 Mbit/s, a real transfer that overlaps computation and communication is {:.2} times as \
                 fast as one that does not; Table 1 says 1.46. ",
                gain.median
            );
        }
        None => text.push_str(". No real link was available to check it. "),
    }
    let _ = write!(
        text,
        "{} The paper assumes that the MAC is half of the work. \
         With the best instructions of this processor it is {:.0} %, because the blocks of CTR are independent, while each \
         block of the MAC waits for the previous one. So splitting CTR gives {:.2} times the serial rate (model: {:.2}), and \
         a separate core for the MAC {:.2} (model: {:.2}). ",
        if found.busy("strategies") > 0 {
            "Whether the claims about one message on several cores hold is unclear in this run, because the machine was busy."
        } else {
            "The claims about one message on several cores do not hold here."
        },
        100.0 * share,
        split.measured?.median,
        split.model?,
        apart.measured?.median,
        apart.model?,
    );
    let _ = write!(
        text,
        "The bound \"2.0 and never more\" applies to a single message. The same bytes cut into chunks, each a separate message, \
         reach {one:.2} times the serial rate on one core and {all:.2} on all cores{}.",
        if f64::max(one, all) > 2.0 {
            ", beyond the bound"
        } else {
            ". In this run that is within the bound, because the messages are small or the machine is busy"
        },
    );
    Some(text)
}
