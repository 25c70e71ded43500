//! The figures that the paper prints, in instructions per cycle. They are in its text, which gives the ends of curves. Our copy has no
//! page numbers.

use super::program::SimulatedCipher;

/// The paper's value for each cipher.
#[derive(Clone, Copy)]
pub(super) struct PaperValues {
    pub(super) rijndael: f64,
    pub(super) rc6: f64,
}

impl PaperValues {
    pub(super) fn of(self, cipher: SimulatedCipher) -> f64 {
        if cipher.is_rc6() { self.rc6 } else { self.rijndael }
    }
}

/// One block, issue 8 and more (section IV, text on Fig. 6): the paper says "does not exceed", and its curve is flat from issue 8 on.
pub(super) const PAPER_ONE_BLOCK: PaperValues = PaperValues { rijndael: 1.4, rc6: 0.9 };
/// 1024 blocks per message, issue 8 (text on Fig. 7).
pub(super) const PAPER_BLOCKS: PaperValues = PaperValues { rijndael: 2.8, rc6: 2.3 };
/// 128 messages of one block, issue 8 (text on Fig. 8).
pub(super) const PAPER_MESSAGES: PaperValues = PaperValues { rijndael: 2.7, rc6: 2.2 };
/// Four threads on four processors of issue 2 (text on Fig. 10): the paper says "above".
pub(super) const PAPER_HARTS: PaperValues = PaperValues { rijndael: 5.5, rc6: 4.1 };
