//! The conclusion.

use std::fmt::Display;

use super::super::{Findings, Verdict, text};
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

    let gain = found.row("links", "100 Mbit/s, the paper's R_comp: speed-up over sequential", "");
    let link = gain.and_then(|row| row.measured).map_or_else(
        || "No real link was available to check it.".to_string(),
        |gain| text(&super::STUDY, "conclusion-link", &[("gain", &format!("{:.2}", gain.median))]),
    );
    // Those of the reference come first.
    let claims = match found.section("strategies")?.verdicts.get(..3)? {
        claims if claims.iter().all(Verdict::holds) => "The paper's claims hold there.",
        claims if claims.iter().any(Verdict::is_refuted) => "Not all of the paper's claims hold there.",
        _ => "Whether the paper's claims hold there is unclear in this run.",
    };
    let bound = if f64::max(one, all) > 2.0 {
        ", beyond the bound"
    } else {
        ". In this run that is within the bound, because the messages are small or the machine is busy"
    };
    let values: [(&str, &dyn Display); 15] = [
        ("right", &figures.rows.len().saturating_sub(misprints)),
        ("figures", &figures.rows.len()),
        ("link", &link),
        ("plain_share", &format!("{:.0}", 100.0 * of_plain.0)),
        ("plain_split", &format!("{:.2}", of_plain.1)),
        ("model_split", &format!("{:.2}", split.model?)),
        ("plain_apart", &format!("{:.2}", of_plain.2)),
        ("model_apart", &format!("{:.2}", apart.model?)),
        ("claims", &claims),
        ("share", &format!("{:.0}", 100.0 * share)),
        ("split", &format!("{:.2}", split.measured?.median)),
        ("apart", &format!("{:.2}", apart.measured?.median)),
        ("one", &format!("{one:.2}")),
        ("all", &format!("{all:.2}")),
        ("bound", &bound),
    ];
    Some(text(&super::STUDY, "conclusion", &values))
}
