//! Options of `tress bench`.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use super::enough::StoppingRule;
use super::matrix::Choice;
use super::sample::SampleEffort;
use super::work::Contender;

/// What to measure, and where to write the result.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Measure the rows whose name matches; without a filter, all rows of kernels.
    pub filter: Option<Regex>,
    /// Names of peers to measure against ([`tress_peers::list`]; for commands `age`, `openssl` and `cp`), or `all`.
    pub against: Vec<String>,
    pub json: bool,
    /// A file for the document, or a folder, in which the file is named after the day and the machine.
    pub record: Option<PathBuf>,
    /// Write a record even if other programs use the machine.
    pub force: bool,
    /// Resume the unfinished record there: its finished rows are not measured again.
    pub resume: bool,
    /// A document of another build. Its rows and peers are added to this run's.
    pub with: Option<PathBuf>,
    /// Take fewer and shorter samples, and use smaller files.
    pub quick: bool,
    /// Measure these rows of ciphers in place of the default ones.
    pub matrix: Option<Choice>,
    /// The `tress` program for the rows of whole commands. They run if a filter matches them or a record is written.
    pub command: Option<PathBuf>,
}

impl Options {
    /// How many visits, or pairs of commands, are enough.
    pub(crate) fn stopping_rule(&self) -> StoppingRule {
        let (least, most, half_width) = if self.quick { (11, 61, 0.03) } else { (21, 151, 0.01) };
        StoppingRule { least, most, half_width }
    }

    /// The lengths of samples, for visits of this length.
    pub(crate) fn effort(&self, visit: Duration) -> SampleEffort {
        let [sample, warm_up] = if self.quick { [2, 2] } else { [4, 10] }.map(Duration::from_millis);
        SampleEffort { sample, warm_up, visit }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(name))
    }

    pub(crate) fn wants_against(&self, peer: &str) -> bool {
        self.against.iter().any(|name| name == peer || name == "all")
    }

    /// Whether the peer is asked for and installed.
    pub(crate) fn has_peer(&self, contender: Contender) -> bool {
        // This contender runs in another process, which needs the program.
        let is_possible = contender != Contender::OpenSslWithoutIfma || self.command.is_some();
        is_possible && contender.library().is_none_or(|library| self.wants_against(library)) && contender.is_available()
    }
}
