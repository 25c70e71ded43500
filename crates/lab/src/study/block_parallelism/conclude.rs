//! The closing words.

use std::fmt::Write as _;

use super::super::Found;

pub(super) fn conclude(found: Found<'_>) -> Option<String> {
    let parts = ["width", "blocks", "messages", "harts"];
    let (holds, claims) = found.holding(&parts);
    let one = found.simulated("width", "RC6, ECB, issue 16")?;
    let divided = found.simulated("open", "RC6, indexes by division, ECB, 1 block")?;
    let (alone, four) = ("Rijndael, ECB, 256 blocks, 1 thread", "Rijndael, ECB, 256 blocks, 4 threads");
    let threads = found.simulated("harts", four)? / found.simulated("harts", alone)?;
    let (wide, narrow) =
        (found.simulated("lanes", "RC6, issue 16")?, found.simulated("lanes", "RC6, two lanes, issue 4")?);
    let mut text = format!(
        "Of {claims} things that the paper's four figures say, {holds} hold on the machine built from its Table 2. One block \
         has little for a wide processor, more blocks of one message have more, and several messages on several processors \
         gain nearly as much as there are processors ({threads:.2} times with four): the parallelism is between blocks and \
         messages, not inside a block, and ECB and CBC are alike since a window of instructions does not \
         reach as far as the next block. "
    );
    let _ = write!(
        text,
        "One figure does not come out: one block of RC6, {one:.2} instructions a cycle for the paper's 0.9, and with it the \
         order of the ciphers in Fig. 6 and how soon the curves of RC6 rise. If the program's key schedule finds its places by \
         division, as C of that time would, it is {divided:.2}; that is a guess at a program that nobody has printed. "
    );
    let _ = write!(
        text,
        "For today: two lanes of RC6 in software on a processor of issue 4 take {narrow:.0} cycles a block, one chain at \
         issue 16 {wide:.0}. Independent work buys more than width. No figure of the paper is misprinted as far as we can \
         tell; its curves are pictures, and only their ends are printed in words."
    );
    Some(text)
}
