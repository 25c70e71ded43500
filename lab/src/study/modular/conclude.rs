//! The conclusion.

use super::super::Findings;

pub(super) fn conclude(found: Findings<'_>) -> Option<String> {
    let parts = ["far-pointers", "library", "digits"];
    found.ran(&parts)?;
    let (holds, claims) = found.holding(&parts);
    let wide = found.measured("digits", "1024 bits, Montgomery power: 16 over 32", "")?;
    let wider = found.measured("digits", "1024 bits, Montgomery power: 32 over 64", "")?;
    let misprints = &found.section("misprints")?.verdicts;
    let certain = misprints.iter().filter(|verdict| verdict.is_refuted()).count();
    let mut text = format!(
        "The paper asks three questions; of the {claims} claims in its answers, {holds} hold here. A wider digit gained most \
         then and gains most now: a Montgomery power of 1024 bits takes {wide:.2} times as long with 16-bit digits as with 32-bit digits, and \
         {wider:.2} times as long with 32-bit as with 64-bit digits. Doubling the digit width divides the number of digit \
         products by four, and the processor multiplies wide digits as fast as narrow ones. The paper's factor of 5.32 also \
         includes a change of compiler. "
    );
    text += &format!(
        "In every figure of the paper that is not a copy, far pointers cost time; they have no counterpart on a machine with \
         one flat address space. Under Windows 3.1 a shared library took several times as long{} ",
        if found.holding(&["library"]) == (4, 4) {
            " and since then it costs nothing: the call into a DLL was slow, and products and powers spend their time \
             inside."
        } else {
            "; for later systems see the figures above, which do not all agree."
        }
    );
    text += &format!(
        "Tables 2 to 5 have misprints: {certain} figures or formulas are wrong. Most of a column of Table 5 repeats Table 4, \
         the two powers of UNIX are swapped, and Algorithms 3 and 4 do not compute a power as printed; with our corrections \
         they do."
    );
    Some(text)
}
