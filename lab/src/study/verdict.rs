//! What a study says of a claim, and how it comes to that.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{Measured, busy::Looks};

/// Whether something that the paper says, or that we expected, is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Verdict {
    /// It is.
    Holds(String),
    /// What the paper prints contradicts itself, or what it follows from.
    Misprint(String),
    /// We did not find what the paper found.
    NotReproduced(String),
    /// A claim of our own is not so. Sections that older versions kept have all kinds of failures here.
    Fails(String),
    /// The samples do not agree about it, or there is no telling.
    Unclear(String),
    /// The samples do not show it, and the machine was busy when they were taken.
    Busy(String),
    /// Nobody looked, and why.
    LeftOut(String),
}

impl Verdict {
    /// Whether it says that a claim is wrong.
    pub(super) fn is_refuted(&self) -> bool {
        matches!(self, Verdict::Misprint(_) | Verdict::NotReproduced(_) | Verdict::Fails(_))
    }
}

/// A verdict in JSON: one of four texts, as versions before `kind` have it.
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
    /// How it fails, or why it is unclear. A kind that this version does not know is none.
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

/// Whose a claim is, which says what its failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// What the paper found: a failure is one of reproducing it.
    Paper,
    /// What the paper prints, checked against itself or a standard: a failure is a misprint.
    Print,
    /// Ours.
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

    /// The verdict on what was computed or simulated, which no other program changes.
    pub(super) fn judge(self, claim: String, is_so: bool) -> Verdict {
        if is_so { Verdict::Holds(claim) } else { self.fails(claim) }
    }

    /// The verdict on what was measured: `None` where the samples do not agree. On a busy machine nothing is refuted.
    pub(super) fn measured(self, claim: String, is_so: Option<bool>, looks: &Looks) -> Verdict {
        match (is_so, looks.busy()) {
            (Some(true), _) => Verdict::Holds(claim),
            (_, Some(why)) => Verdict::Busy(format!("{claim}. {why}")),
            (Some(false), None) => self.fails(claim),
            (None, None) => Verdict::Unclear(claim),
        }
    }

    /// The verdict on a claim that takes a measured figure to lie in `range`.
    pub(super) fn of(self, claim: String, measured: Measured, range: RangeInclusive<f64>, looks: &Looks) -> Verdict {
        let is_so = measured.within(&range);
        let Measured { low, high, .. } = measured;
        let claim = if is_so.is_none() { format!("{claim} ({low:.2} to {high:.2})") } else { claim };
        self.measured(claim, is_so, looks)
    }
}

impl Measured {
    /// Whether it lies in `range`: its whole interval has to say the same.
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
        let of =
            |low, high| Claim::Ours.of("c".into(), Measured { median: 1.0, low, high }, 0.9..=1.1, &Looks::default());
        assert_eq!(of(0.9, 1.1), Verdict::Holds("c".into()));
        assert_eq!(of(1.2, 1.3), Verdict::Fails("c".into()));
        assert_eq!(of(0.1, 0.2), Verdict::Fails("c".into()));
        assert!(matches!(of(1.0, 1.2), Verdict::Unclear(_)));
        assert!(matches!(of(0.5, 2.0), Verdict::Unclear(_)));
    }

    #[test]
    fn a_failure_is_what_the_claim_is() {
        let kinds = [Claim::Paper, Claim::Print, Claim::Ours].map(|claim| claim.judge("c".into(), false));
        let text = || "c".to_string();
        assert_eq!(kinds, [Verdict::NotReproduced(text()), Verdict::Misprint(text()), Verdict::Fails(text())]);
        assert_eq!(Claim::Paper.judge("c".into(), true), Verdict::Holds(text()));
    }

    /// A busy machine refutes nothing, whoever says it; what it shows all the same is shown.
    #[test]
    fn a_busy_machine_refutes_nothing() {
        let (idle, busy) = (Looks::of(&[0.99; 9]), Looks::of(&[0.4; 9]));
        for claim in [Claim::Paper, Claim::Print, Claim::Ours] {
            for (low, high) in [(0.1, 0.2), (0.5, 2.0), (3.0, 4.0)] {
                let of = |looks| claim.of("c".into(), Measured { median: 1.0, low, high }, 0.9..=1.1, looks);
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
