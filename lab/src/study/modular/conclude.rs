//! The conclusion.

use std::fmt::Display;

use super::super::{Findings, text};

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let parts = ["far-pointers", "library", "digits"];
    found.ran(&parts)?;
    let (holds, claims) = found.holding(&parts);
    let wide = found.measured("digits", "1024 bits, Montgomery power: 16 over 32", "")?;
    let wider = found.measured("digits", "1024 bits, Montgomery power: 32 over 64", "")?;
    let misprints = &found.section("misprints")?.verdicts;
    let certain = misprints.iter().filter(|verdict| verdict.is_refuted()).count();
    let library = if found.holding(&["library"]) == (4, 4) {
        " and since then it costs nothing: the call into a DLL was slow, and products and powers spend their time inside."
    } else {
        "; for later systems see the figures above, which do not all agree."
    };
    let values: [(&str, &dyn Display); 6] = [
        ("claims", &claims),
        ("holds", &holds),
        ("wide", &format!("{wide:.2}")),
        ("wider", &format!("{wider:.2}")),
        ("library", &library),
        ("certain", &certain),
    ];
    Some(text(&super::STUDY, "conclusion", &values))
}
