//! What `tress bench` is asked for.

use std::{path::PathBuf, time::Duration};

use regex::Regex;

use super::{enough::Enough, matrix::Choice, sample::Effort, work::Who};

/// What to measure, and what to do with it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Rows whose name matches; all kernel rows without one.
    pub filter: Option<Regex>,
    /// Names of peers to measure against ([`tress_peers::list`]; for commands `age`, `openssl` and `cp`), or `all`.
    pub against: Vec<String>,
    /// Write the document instead of a table.
    pub json: bool,
    /// A file to write the document to, or a folder in which to name one after the day and the machine.
    pub record: Option<PathBuf>,
    /// Go on with the unfinished record there: its rows are not measured again.
    pub resume: bool,
    /// A document whose rows and peers are added to this run's: those of a build of its own.
    pub with: Option<PathBuf>,
    /// Fewer and shorter samples, smaller files.
    pub quick: bool,
    /// These rows of ciphers rather than the usual ones.
    pub matrix: Option<Choice>,
    /// The `tress` program for the rows of whole commands. They run when a filter matches them or a record is kept.
    pub command: Option<PathBuf>,
}

impl Options {
    /// How many visits, or pairs of commands, are enough.
    pub(crate) fn enough(&self) -> Enough {
        let (least, most, half_width) = if self.quick { (11, 61, 0.03) } else { (21, 151, 0.01) };
        Enough { least, most, half_width }
    }

    /// Visits of so long.
    pub(crate) fn effort(&self, visit: Duration) -> Effort {
        let [sample, warm_up] = if self.quick { [2, 2] } else { [4, 10] }.map(Duration::from_millis);
        Effort { sample, warm_up, visit }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(name))
    }

    pub(crate) fn wants_against(&self, peer: &str) -> bool {
        self.against.iter().any(|name| name == peer || name == "all")
    }

    /// Whether it is asked for and there.
    pub(crate) fn has_peer(&self, who: Who) -> bool {
        // One of them needs a program that runs it.
        let is_possible = who != Who::OpenSslWithoutIfma || self.command.is_some();
        is_possible && who.library().is_none_or(|library| self.wants_against(library)) && who.is_available()
    }
}
