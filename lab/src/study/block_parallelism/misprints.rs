//! Misprints, each found by comparing two places of the paper.

use super::super::{Effort, Error, Verdict};
use super::Section;

const MISPRINTS: [&str; 7] = [
    "section 2.1: a key of RC6 has 196 bits; keys have whole bytes, and the AES contest asked for 192 bits, which section 2.2 \
     prints for Rijndael",
    "reference [25] is RC5; the text cites it for Rijndael",
    "reference [26] is Rijndael; the text cites it for RC5",
    "the introduction cites [16] for parallelism in the candidates and [14, 15] for superscalar processors; [14] is Clapp's \
     article on that parallelism, and [15, 16] are about processors",
    "section 2.2, Fig. 3 and Fig. 4 refer to [27] for the details of Rijndael; it is the article on SQUARE",
    "section 3.2 calls the graphic co-processor unit GCU where it introduces it, and GCP where it says what it does",
    "introduction: DES, adopted in 1977, is more than 30 years old; in 2000 it was 23",
];

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::new(
        "Places of the paper are compared with each other. We have the text of the paper without its pictures, so its figures \
         are not checked, but for the lines of text in them.",
    );
    section.verdicts = MISPRINTS.map(|text| Verdict::Misprint(text.into())).into();
    Ok(section)
}
