//! Misprints in the paper, each found by something that can be computed.

use super::super::{Claim, Effort, Error, Section, Verdict};
use super::paper::{GAINS, PAPER, ROUND_KEYS_BYTES};

/// Round keys of PIPO-64/128 and their bytes.
const ROUND_KEYS: u32 = 14;
const ROUND_KEY_BYTES: u32 = 8;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut verdicts: Vec<Verdict> = Vec::new();
    let bytes = ROUND_KEYS * ROUND_KEY_BYTES;
    verdicts.push(Claim::Print.judge(
        format!(
            "section 3.2: 14 round keys of 64 bits take {} bytes, widened four times {}. They take {bytes}, widened {}",
            ROUND_KEYS_BYTES[0],
            ROUND_KEYS_BYTES[1],
            4 * bytes
        ),
        [bytes, 4 * bytes] == ROUND_KEYS_BYTES,
    ));
    for row in &PAPER.table_5 {
        let exact = f64::from(row.cycles) / f64::from(row.bytes);
        let how = how_printed(exact, row.per_byte);
        verdicts.push(Claim::Print.judge(
            format!(
                "Table 5, {}: {} cycles are {exact} per byte, printed {} ({how})",
                row.name, row.cycles, row.per_byte
            ),
            how != OTHER,
        ));
    }
    // Gains in the text, computed from the table.
    let [one, _, _, memory, speed, ..] = &PAPER.table_5;
    let gains = [
        ("one block, compared with Kwak, Kim and Seo", PAPER.kwak[0].per_byte() / one.per_byte()),
        (
            "four blocks with little memory, compared with Kwak, Kim and Seo",
            PAPER.kwak[1].per_byte() / memory.per_byte(),
        ),
        ("four blocks with speed, compared with Kwak, Kim and Seo", PAPER.kwak[1].per_byte() / speed.per_byte()),
        ("four blocks with little memory, compared with one", one.per_byte() / memory.per_byte()),
        ("four blocks with speed, compared with one", one.per_byte() / speed.per_byte()),
    ];
    for ((what, exact), text) in gains.into_iter().zip(GAINS) {
        let how = how_printed(exact, text);
        verdicts.push(
            Claim::Print
                .judge(format!("section 4, {what}: {exact:.4} times as fast, printed {text} ({how})"), how != OTHER),
        );
    }
    Ok(Section { verdicts, ..Section::begin(&super::STUDY, "misprints", &[]) })
}

const OTHER: &str = "neither rounded nor truncated";

/// The way in which a figure was shortened to its printed form.
fn how_printed(exact: f64, text: &str) -> &'static str {
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let scale = 10f64.powi(digits as i32);
    let value: f64 = text.parse().unwrap_or(f64::NAN);
    let is = |scaled: f64| (scaled / scale - value).abs() < 1e-9;
    match (is((exact * scale).round()), is((exact * scale).floor())) {
        (true, true) => "rounded or truncated",
        (true, false) => "rounded",
        (false, true) => "truncated",
        (false, false) => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_figure_was_printed() {
        assert_eq!(how_printed(59.9375, "59.93"), "truncated");
        assert_eq!(how_printed(59.9375, "59.94"), "rounded");
        assert_eq!(how_printed(155.25, "155.25"), "rounded or truncated");
        assert_eq!(how_printed(2.3, "2"), "rounded or truncated");
        assert_eq!(how_printed(2.3, "3"), OTHER);
    }
}
