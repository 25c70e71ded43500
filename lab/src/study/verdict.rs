//! The verdict on a claim, and how it is reached.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::Measured;
use super::busy::BusyMonitor;

/// Whether a claim of the paper, or ours, holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, Value>")]
pub enum Verdict {
    /// A claim of the paper holds, or any claim in sections of older versions.
    Holds(String),
    /// What we expected is so.
    Expected(String),
    /// The paper contradicts itself, or a standard that it refers to.
    Misprint(String),
    /// We did not find what the paper found.
    NotReproduced(String),
    /// What we expected is not so. In sections of older versions this can be any kind of failure.
    Fails(String),
    /// The samples do not decide it, or it cannot be decided.
    Unclear(String),
    /// The samples do not show it, and the machine was busy when they were taken.
    Busy(String),
    /// It was not checked; the text has the reason.
    LeftOut(String),
}

impl Verdict {
    pub(super) fn holds(&self) -> bool {
        matches!(self, Verdict::Holds(_) | Verdict::Expected(_))
    }

    pub(super) fn is_refuted(&self) -> bool {
        matches!(self, Verdict::Misprint(_) | Verdict::NotReproduced(_) | Verdict::Fails(_))
    }
}

/// What contradicts itself in a paper, a line for each: misprints, and after "holds: " and "unclear: " what follows and what is open.
pub(super) fn misprints(lines: &str) -> impl Iterator<Item = Verdict> {
    lines.lines().map(|line| match line.split_once(": ") {
        Some(("holds", text)) => Verdict::Holds(text.into()),
        Some(("unclear", text)) => Verdict::Unclear(text.into()),
        _ => Verdict::Misprint(line.into()),
    })
}

/// A verdict in JSON has one of four texts, as in versions before `kind`. An unknown kind is ignored.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, text, kind) = match self {
            Verdict::Holds(text) => ("holds", text, None),
            Verdict::Expected(text) => ("holds", text, Some("ours")),
            Verdict::Misprint(text) => ("fails", text, Some("misprint")),
            Verdict::NotReproduced(text) => ("fails", text, Some("not-reproduced")),
            Verdict::Fails(text) => ("fails", text, None),
            Verdict::Unclear(text) => ("unclear", text, None),
            Verdict::Busy(text) => ("unclear", text, Some("busy")),
            Verdict::LeftOut(text) => ("left-out", text, None),
        };
        serializer.collect_map([(key, text.as_str())].into_iter().chain(kind.map(|kind| ("kind", kind))))
    }
}

impl TryFrom<BTreeMap<String, Value>> for Verdict {
    type Error = &'static str;

    fn try_from(object: BTreeMap<String, Value>) -> Result<Verdict, &'static str> {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let mut texts = ["holds", "fails", "unclear", "left-out"].into_iter().filter_map(|key| Some((key, text(key)?)));
        let (Some((key, claim)), None) = (texts.next(), texts.next()) else {
            return Err("a verdict is one of holds, fails, unclear and left-out");
        };
        Ok(match (key, text("kind")) {
            ("holds", Some("ours")) => Verdict::Expected,
            ("holds", _) => Verdict::Holds,
            ("fails", Some("misprint")) => Verdict::Misprint,
            ("fails", Some("not-reproduced")) => Verdict::NotReproduced,
            ("fails", _) => Verdict::Fails,
            ("unclear", Some("busy")) => Verdict::Busy,
            ("unclear", _) => Verdict::Unclear,
            _ => Verdict::LeftOut,
        }(claim.into()))
    }
}

/// The author of a claim, which decides what its failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A result of the paper; a failure is "not reproduced".
    Paper,
    /// A printed text or figure of the paper, checked against itself or a standard; a failure is a misprint.
    Print,
    /// What we expect; a failure is that we were wrong.
    Ours,
}

impl Claim {
    fn holds(self, claim: String) -> Verdict {
        if self == Claim::Ours { Verdict::Expected(claim) } else { Verdict::Holds(claim) }
    }

    fn fails(self, claim: String) -> Verdict {
        match self {
            Claim::Paper => Verdict::NotReproduced(claim),
            Claim::Print => Verdict::Misprint(claim),
            Claim::Ours => Verdict::Fails(claim),
        }
    }

    /// The verdict on something that was computed or simulated, which other programs cannot disturb.
    pub(super) fn judge(self, claim: String, is_so: bool) -> Verdict {
        if is_so { self.holds(claim) } else { self.fails(claim) }
    }

    /// The verdict on something that was measured; `None` if the samples do not agree. On a busy machine nothing is refuted.
    pub(super) fn measured(self, claim: String, is_so: Option<bool>, monitor: &BusyMonitor) -> Verdict {
        match (is_so, monitor.busy()) {
            (Some(true), _) => self.holds(claim),
            (_, Some(why)) => Verdict::Busy(format!("{claim}. {why}")),
            (Some(false), None) => self.fails(claim),
            (None, None) => Verdict::Unclear(claim),
        }
    }

    /// The verdict on a claim that a measured figure is in `range`.
    pub(super) fn of(
        self,
        claim: String,
        measured: Measured,
        range: RangeInclusive<f64>,
        monitor: &BusyMonitor,
    ) -> Verdict {
        let is_so = measured.within(&range);
        let Measured { low, high, .. } = measured;
        let claim = if is_so.is_none() { format!("{claim} ({low:.2} to {high:.2})") } else { claim };
        self.measured(claim, is_so, monitor)
    }
}

impl Measured {
    /// Whether the whole interval is inside `range`, or the whole interval outside. `None` if it is partly inside.
    pub(super) fn within(&self, range: &RangeInclusive<f64>) -> Option<bool> {
        let Measured { low, high, .. } = *self;
        if range.contains(&low) && range.contains(&high) {
            Some(true)
        } else if high < *range.start() || low > *range.end() {
            Some(false)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_takes_the_whole_interval() {
        let of = |low, high| {
            Claim::Ours.of("c".into(), Measured { median: 1.0, low, high }, 0.9..=1.1, &BusyMonitor::default())
        };
        assert_eq!(of(0.9, 1.1), Verdict::Expected("c".into()));
        assert_eq!(of(1.2, 1.3), Verdict::Fails("c".into()));
        assert_eq!(of(0.1, 0.2), Verdict::Fails("c".into()));
        assert!(matches!(of(1.0, 1.2), Verdict::Unclear(_)));
        assert!(matches!(of(0.5, 2.0), Verdict::Unclear(_)));
    }

    #[test]
    fn the_kind_of_a_failure_follows_from_the_claim() {
        let kinds = [Claim::Paper, Claim::Print, Claim::Ours].map(|claim| claim.judge("c".into(), false));
        let text = || "c".to_string();
        assert_eq!(kinds, [Verdict::NotReproduced(text()), Verdict::Misprint(text()), Verdict::Fails(text())]);
        assert_eq!(Claim::Paper.judge("c".into(), true), Verdict::Holds(text()));
        assert_eq!(Claim::Ours.judge("c".into(), true), Verdict::Expected(text()));
    }

    /// On a busy machine nothing is refuted, but a claim that the samples show holds.
    #[test]
    fn a_busy_machine_refutes_nothing() {
        let (idle, busy) = (BusyMonitor::of(&[0.99; 9]), BusyMonitor::of(&[0.4; 9]));
        for claim in [Claim::Paper, Claim::Print, Claim::Ours] {
            for (low, high) in [(0.1, 0.2), (0.5, 2.0), (3.0, 4.0)] {
                let of = |monitor| claim.of("c".into(), Measured { median: 1.0, low, high }, 0.9..=1.1, monitor);
                assert!(!matches!(of(&idle), Verdict::Busy(_)), "{:?}", of(&idle));
                assert!(matches!(of(&busy), Verdict::Busy(text) if text.contains("40 %")), "{:?}", of(&busy));
            }
            assert!(claim.measured("c".into(), Some(true), &busy).holds());
        }
    }

    #[test]
    fn json_keeps_its_keys() {
        let t = || "t".to_string();
        for (verdict, json) in [
            (Verdict::Holds(t()), r#"{"holds":"t"}"#),
            (Verdict::Expected(t()), r#"{"holds":"t","kind":"ours"}"#),
            (Verdict::Misprint(t()), r#"{"fails":"t","kind":"misprint"}"#),
            (Verdict::NotReproduced(t()), r#"{"fails":"t","kind":"not-reproduced"}"#),
            (Verdict::Fails(t()), r#"{"fails":"t"}"#),
            (Verdict::Unclear(t()), r#"{"unclear":"t"}"#),
            (Verdict::Busy(t()), r#"{"unclear":"t","kind":"busy"}"#),
            (Verdict::LeftOut(t()), r#"{"left-out":"t"}"#),
        ] {
            assert_eq!(serde_json::to_string(&verdict).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Verdict>(json).expect("a verdict"), verdict);
        }
        let later = serde_json::from_str::<Verdict>(r#"{"fails":"t","kind":"later"}"#).expect("a verdict");
        assert_eq!(later, Verdict::Fails(t()));
        for wrong in [r#"{}"#, r#"{"kind":"busy"}"#, r#"{"holds":"t","fails":"t"}"#, r#"{"holds":1}"#] {
            assert!(serde_json::from_str::<Verdict>(wrong).is_err(), "{wrong}");
        }
    }
}
