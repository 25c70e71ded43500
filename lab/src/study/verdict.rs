//! The verdict on a claim, and how it is reached.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::Measured;
use super::busy::BusyMonitor;

/// Whether a claim of the paper, or ours, holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Verdict {
    /// The claim holds.
    Holds(String),
    /// The paper contradicts itself, or a standard that it refers to.
    Misprint(String),
    /// We did not find what the paper found.
    NotReproduced(String),
    /// A claim of ours does not hold. In sections of older versions this can be any kind of failure.
    Fails(String),
    /// The samples do not decide it, or it cannot be decided.
    Unclear(String),
    /// The samples do not show it, and the machine was busy when they were taken.
    Busy(String),
    /// It was not checked; the text has the reason.
    LeftOut(String),
}

impl Verdict {
    /// Whether the claim is wrong.
    pub(super) fn is_refuted(&self) -> bool {
        matches!(self, Verdict::Misprint(_) | Verdict::NotReproduced(_) | Verdict::Fails(_))
    }
}

/// Misprints that reading finds, a line for each.
pub(super) fn misprints(lines: &str) -> impl Iterator<Item = Verdict> {
    lines.lines().map(|text| Verdict::Misprint(text.into()))
}

/// A verdict in JSON: one of four texts, as in versions before `kind`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fails: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unclear: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
    /// How it fails, or why it is unclear. An unknown kind is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

const MISPRINT: &str = "misprint";
const NOT_REPRODUCED: &str = "not-reproduced";
const BUSY: &str = "busy";

impl From<Verdict> for Written {
    fn from(verdict: Verdict) -> Written {
        let fails = |text, kind: Option<&str>| Written {
            fails: Some(text),
            kind: kind.map(String::from),
            ..Written::default()
        };
        match verdict {
            Verdict::Holds(text) => Written { holds: Some(text), ..Written::default() },
            Verdict::Misprint(text) => fails(text, Some(MISPRINT)),
            Verdict::NotReproduced(text) => fails(text, Some(NOT_REPRODUCED)),
            Verdict::Fails(text) => fails(text, None),
            Verdict::Unclear(text) => Written { unclear: Some(text), ..Written::default() },
            Verdict::Busy(text) => Written { unclear: Some(text), kind: Some(BUSY.into()), ..Written::default() },
            Verdict::LeftOut(text) => Written { left_out: Some(text), ..Written::default() },
        }
    }
}

impl TryFrom<Written> for Verdict {
    type Error = &'static str;

    fn try_from(Written { holds, fails, unclear, left_out, kind }: Written) -> Result<Verdict, &'static str> {
        match (holds, fails, unclear, left_out, kind.as_deref()) {
            (Some(text), None, None, None, _) => Ok(Verdict::Holds(text)),
            (None, Some(text), None, None, Some(MISPRINT)) => Ok(Verdict::Misprint(text)),
            (None, Some(text), None, None, Some(NOT_REPRODUCED)) => Ok(Verdict::NotReproduced(text)),
            (None, Some(text), None, None, _) => Ok(Verdict::Fails(text)),
            (None, None, Some(text), None, Some(BUSY)) => Ok(Verdict::Busy(text)),
            (None, None, Some(text), None, _) => Ok(Verdict::Unclear(text)),
            (None, None, None, Some(text), _) => Ok(Verdict::LeftOut(text)),
            _ => Err("a verdict is one of holds, fails, unclear and left-out"),
        }
    }
}

/// The author of a claim, which decides what its failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A result of the paper; a failure is "not reproduced".
    Paper,
    /// A printed text or figure of the paper, checked against itself or a standard; a failure is a misprint.
    Print,
    /// Our own claim.
    Ours,
}

impl Claim {
    fn fails(self, claim: String) -> Verdict {
        match self {
            Claim::Paper => Verdict::NotReproduced(claim),
            Claim::Print => Verdict::Misprint(claim),
            Claim::Ours => Verdict::Fails(claim),
        }
    }

    /// The verdict on something that was computed or simulated, which other programs cannot disturb.
    pub(super) fn judge(self, claim: String, is_so: bool) -> Verdict {
        if is_so { Verdict::Holds(claim) } else { self.fails(claim) }
    }

    /// The verdict on something that was measured; `None` if the samples do not agree. On a busy machine nothing is refuted.
    pub(super) fn measured(self, claim: String, is_so: Option<bool>, monitor: &BusyMonitor) -> Verdict {
        match (is_so, monitor.busy()) {
            (Some(true), _) => Verdict::Holds(claim),
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
        assert_eq!(of(0.9, 1.1), Verdict::Holds("c".into()));
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
            assert_eq!(claim.measured("c".into(), Some(true), &busy), Verdict::Holds("c".into()));
        }
    }

    #[test]
    fn json_keeps_its_keys() {
        let t = || "t".to_string();
        for (verdict, json) in [
            (Verdict::Holds(t()), r#"{"holds":"t"}"#),
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
