//! Which roof limits a row, and how much of that roof the row reaches.

use super::bounds;
use crate::bench::{BenchRow, Document};
use crate::roofs::Roofline;

#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    pub roof: String,
    /// The row's rate as a fraction of the rate at the roof.
    pub share: f64,
}

/// Sets `bound` and `share` of every row that has a bound, from the document's rooflines.
pub fn fill(document: &mut Document) {
    let Some(roofs) = &document.roofs else { return };
    for row in &mut document.rows {
        if let Some(Share { roof, share }) = Share::of(row, roofs) {
            (row.bound, row.share) = (Some(roof), Some(share));
        }
    }
}

impl Share {
    /// The bound that the row comes closest to. `None` if no bound is known, or the roof was not measured.
    pub fn of(row: &BenchRow, roofs: &Roofline) -> Option<Share> {
        let shares = bounds::bounds_of_row(row, roofs).into_iter().filter_map(|bound| {
            let roof = roofs.find(&bound.roof)?;
            let threads = if bound.of_each_thread { row.threads.max(1) as f64 } else { 1.0 };
            // By cycles where both have them, because the clock rate may have changed since the roof was measured.
            let share = match (row.cycles_per_byte, roof.per_cycle) {
                (Some(cycles), Some(per_cycle)) if row.threads <= 1 => bound.per_unit / (per_cycle * cycles),
                _ => row.bytes_per_s.or(row.per_s)? * bound.per_unit / (roof.per_s * threads),
            };
            share.is_finite().then_some(Share { roof: bound.roof, share })
        });
        shares.max_by(|a, b| a.share.total_cmp(&b.share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofs::Roof;

    fn roofs() -> Roofline {
        let roof = |name: &str, per_s, per_cycle| Roof { name: name.into(), per_s, per_cycle, ..Roof::default() };
        Roofline {
            roofs: vec![
                roof("aes-512", 12e9, Some(4.0)),
                roof("aes-chain", 1e9, Some(1.0 / 3.0)),
                roof("l1-update", 100e9, Some(32.0)),
                roof("memory-read-all", 8e9, None),
            ],
            missing: Vec::new(),
            cache_bytes: vec![32 << 10],
        }
    }

    fn ctr() -> BenchRow {
        let (name, direction, backend) = ("aes-128-ctr".into(), "encrypt".into(), "vaes512".into());
        BenchRow { name, direction, backend, lanes: 1, threads: 1, message_bytes: 16_384, ..BenchRow::default() }
    }

    /// By hand: 0.625 rounds a byte at 4 rounds a cycle are 0.15625 cycles; a row of 0.3125 cycles reaches half.
    #[test]
    fn by_cycles() {
        let row = BenchRow { cycles_per_byte: Some(0.3125), bytes_per_s: Some(1.0), ..ctr() };
        assert_eq!(Share::of(&row, &roofs()), Some(Share { roof: "aes-512".into(), share: 0.5 }));
    }

    /// By hand: 12e9 rounds a second are 19.2e9 bytes.
    #[test]
    fn by_time() {
        let row = BenchRow { bytes_per_s: Some(4.8e9), ..ctr() };
        assert_eq!(Share::of(&row, &roofs()), Some(Share { roof: "aes-512".into(), share: 0.25 }));
    }

    /// By hand: one chain of AES-128 is 10 rounds of 3 cycles for 16 bytes, 1.875 cycles a byte.
    #[test]
    fn a_chain_is_bound_by_its_latency() {
        let row =
            BenchRow { name: "aes-128-cbc".into(), cycles_per_byte: Some(2.5), bytes_per_s: Some(1.2e9), ..ctr() };
        let share = Share::of(&row, &roofs()).expect("a bound");
        assert_eq!(share.roof, "aes-chain");
        assert!((share.share - 0.75).abs() < 1e-12, "{share:?}");
    }

    /// By hand: two threads have two times 12e9 rounds, 19.2e9 bytes of CCM; memory is 8e9 for both together.
    #[test]
    fn threads_share_memory_and_nothing_else() {
        let mut row = BenchRow { name: "encrypt-file".into(), message_bytes: 2 << 30, threads: 2, lanes: 0, ..ctr() };
        row.bytes_per_s = Some(4e9);
        assert_eq!(Share::of(&row, &roofs()), Some(Share { roof: "memory-read-all".into(), share: 0.5 }));
        let mut without = roofs();
        without.roofs.pop();
        let share = Share::of(&row, &without).expect("a bound");
        assert_eq!((share.roof.as_str(), share.share), ("aes-512", 4e9 * 1.25 / 24e9));
    }

    #[test]
    fn no_model_no_share() {
        for row in [
            BenchRow { name: "encrypt-start".into(), ..ctr() },
            BenchRow { backend: "portable".into(), ..ctr() },
            ctr(),
        ] {
            assert_eq!(Share::of(&row, &roofs()), None, "{row:?}");
        }
        assert_eq!(Share::of(&BenchRow { bytes_per_s: Some(1e9), ..ctr() }, &Roofline::default()), None);
    }
}
