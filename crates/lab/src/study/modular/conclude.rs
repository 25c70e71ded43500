//! The closing words.

use std::fmt::Write as _;

use super::super::{Found, Verdict};

pub(super) fn conclude(found: Found<'_>) -> Option<String> {
    let (holds, claims) = found.holding(&["far-pointers", "library", "digits"]);
    let wide = found.measured("digits", "1024 bits, Montgomery power: 16 over 32")?;
    let wider = found.measured("digits", "1024 bits, Montgomery power: 32 over 64")?;
    let misprints = &found.section("misprints")?.verdicts;
    let certain = misprints.iter().filter(|verdict| matches!(verdict, Verdict::Fails(_))).count();
    let mut text = format!(
        "The paper asks three things, and of the {claims} claims that its answers make here {holds} hold. A wider digit gains \
         most, then as now: a Montgomery power of 1024 bits takes {wide:.2} times as long with digits of 16 bits as with 32, \
         and {wider:.2} times as long with 32 as with 64. A product has a quarter of the digit products when digits are \
         twice as wide, and the processor multiplies wide digits as fast; the paper's 5.32 has another compiler in it \
         as well. "
    );
    let _ = write!(
        text,
        "A far pointer cost something in every figure that the paper has of its own, and has no counterpart on a machine \
         with one range of addresses. A shared library cost several times the time under Windows 3.1{} ",
        if found.holding(&["library"]) == (4, 4) {
            " and has cost nothing since: what was slow was the way into a DLL, and products and powers spend their time \
             inside."
        } else {
            "; for later systems see the figures above, which do not all say the same."
        }
    );
    let _ = write!(
        text,
        "Tables 2 to 5 cannot all be taken as printed: {certain} figures or formulas are wrong, among them most of a column \
         of Table 5 that repeats Table 4, the two powers of UNIX that are swapped, and Algorithms 3 and 4, which as printed \
         do not give a power; with what we take for the meant text they do."
    );
    Some(text)
}
