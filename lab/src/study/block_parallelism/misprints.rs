//! Misprints, each found by comparing two places of the paper.

use super::super::verdict::misprints;
use super::super::{Effort, Error};
use super::Section;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::new(
        "Places of the paper are compared with each other. We have the text of the paper without its pictures, so its figures \
         are not checked, but for the lines of text in them.",
    );
    section.verdicts = misprints(include_str!("misprints.txt")).collect();
    Ok(section)
}
