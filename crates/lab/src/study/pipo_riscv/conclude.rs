//! The closing words.

use std::fmt::Write as _;

use super::super::Found;

pub(super) fn conclude(found: Found<'_>) -> Option<String> {
    let cell = |row, column| found.cell("table-5", row, column);
    let (one, four) = ("one block, ECB", "four blocks, ECB, speed");
    let (holds, claims) = found.holding(&["misprints"]);
    let (near, rows) = found.holding(&["rtl"]);
    let alone = [one, "one block, CBC", "one block, CTR", "four blocks, ECB, memory"];
    let number = |row, column| cell(row, column)?.parse::<f64>().ok();
    let faster = alone
        .iter()
        .map(|row| Some(100.0 * (1.0 - number(row, "its layout, simulated")? / number(row, "paper, cycles")?)))
        .collect::<Option<Vec<f64>>>()?;
    let (least, most) = faster.iter().fold((f64::MAX, f64::MIN), |(low, high), part| (low.min(*part), high.max(*part)));
    let mut text = format!(
        "The paper's idea holds: four blocks in the bytes of one register. On the same model its layout, written anew, takes \
         {} cycles a byte where one block takes {}; the paper's own figures are {} and {}. ",
        cell(four, "its layout, a byte")?,
        cell(one, "its layout, a byte")?,
        cell(four, "paper, a byte")?,
        cell(one, "paper, a byte")?,
    );
    let _ = write!(
        text,
        "There is more in it than the paper takes out: with another order of the rows and of the instructions a call for four \
         blocks takes {} cycles rather than {}, and {} a byte where many blocks follow one another, for the paper's {}. ",
        cell(four, "ours, simulated")?,
        cell(four, "paper, cycles")?,
        cell(four, "ours in bulk, a byte")?,
        cell(four, "paper, a byte")?,
    );
    let _ = write!(
        text,
        "What does not come out is the paper's single block and its variant with little memory: our copy of the layout takes \
         {least:.0} to {most:.0} % fewer cycles than printed, and no rounds' worth of waiting explains it, so the printed code had instructions \
         that its text does not mention. How far a simulated figure can be trusted is told by the core as RTL: {near} of \
         {rows} statements about the model hold there. Of {claims} figures that can be computed again, {} are printed wrong, \
         the sizes of the round keys by a factor of two.",
        claims - holds,
    );
    Some(text)
}
