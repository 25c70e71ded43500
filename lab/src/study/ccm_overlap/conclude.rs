//! The conclusion.

use super::super::{Findings, Verdict};
use super::strategies::METHODS;

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let ways = |end| found.measured("strategies", end, "");
    let share = ways("share of the MAC")?;
    let plain = |end: &str| found.measured("strategies", &format!("reference: {end}"), "");
    let of_plain = (plain("share of the MAC")?, plain(METHODS[0].0)?, plain(METHODS[1].0)?);
    let split = found.row("strategies", METHODS[0].0, "")?;
    let apart = found.row("strategies", METHODS[1].0, "")?;
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
            text += &format!(
                ". Over a link of 100 Mbit/s, a real transfer that overlaps computation and communication is {:.2} times as \
                 fast as one that does not; Table 1 says 1.46. ",
                gain.median
            );
        }
        None => text.push_str(". No real link was available to check it. "),
    }
    let (model_split, model_apart) = (split.model?, apart.model?);
    text += &format!(
        "The paper assumes that the MAC is half of the work. With an AES that computes one block at a time, it is \
         {:.0} %: splitting CTR gives {:.2} times the serial rate (model: {model_split:.2}), and a separate core for the MAC {:.2} (model: \
         {model_apart:.2}). {} With the best instructions of this processor the MAC is {:.0} %, because the blocks of CTR are \
         independent, while each block of the MAC waits for the previous one. So splitting CTR gives {:.2} there, and a separate core \
         {:.2}. ",
        100.0 * of_plain.0,
        of_plain.1,
        of_plain.2,
        // Those of the reference come first.
        match found.section("strategies")?.verdicts.get(..3)? {
            claims if claims.iter().all(|verdict| matches!(verdict, Verdict::Holds(_))) =>
                "The paper's claims hold there.",
            claims if claims.iter().any(Verdict::is_refuted) => "Not all of the paper's claims hold there.",
            _ => "Whether the paper's claims hold there is unclear in this run.",
        },
        100.0 * share,
        split.measured?.median,
        apart.measured?.median,
    );
    text += &format!(
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
