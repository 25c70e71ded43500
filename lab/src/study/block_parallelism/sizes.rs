//! Keys and blocks of all sizes that the paper names: RC6 with keys of 128, 192 and 256 bits, Rijndael with keys and
//! blocks of these lengths.

use super::super::{Claim, Effort, Error, StudyTable};
use super::{ProgramParameters, RaptorVariant, Section, SimulatedCipher, SimulatedMode, SimulatedRun, range, simulate};

/// Words of a key or block.
const WORDS: [u32; 3] = [4, 6, 8];

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let most = if effort.is_quick { 64 } else { 1024 };
    let mut section = Section::begin(&super::STUDY, "sizes", &[("most", &most)]);
    let rc6 = WORDS.map(|key| (SimulatedCipher::Rc6Sizes, key, 4));
    let rijndael = WORDS.map(|block| WORDS.map(|key| (SimulatedCipher::RijndaelSizes, key, block)));
    let sizes: Vec<(SimulatedCipher, u32, u32)> = rc6.iter().chain(rijndael.as_flattened()).copied().collect();
    let runs: Vec<SimulatedRun> = sizes
        .iter()
        .flat_map(|&(cipher, key_words, block_words)| {
            [1, most].map(|blocks| SimulatedRun {
                core: RaptorVariant::paper(8),
                work: ProgramParameters {
                    blocks,
                    key_words,
                    block_words,
                    ..ProgramParameters::new(cipher, SimulatedMode::Ecb)
                },
            })
        })
        .collect();
    let figures = simulate::all(&runs)?;
    let long_header = format!("{most} blocks, IPC");
    let header =
        ["cipher", "key, bits", "block, bits", "1 block, cycles", "1 block, IPC", &long_header, "cycles per byte"];
    let mut table = StudyTable::new("All sizes of keys and blocks, ECB, issue 8", &header);
    let mut long_ipcs = [const { Vec::new() }; 2];
    for ((cipher, key, block), pair) in sizes.iter().zip(figures.as_chunks::<2>().0) {
        let [one, long] = pair;
        let per_byte = long.encrypt_cycles as f64 / f64::from(4 * block * most);
        table.rows.push(vec![
            cipher.name().into(),
            (32 * key).to_string(),
            (32 * block).to_string(),
            one.cycles.to_string(),
            format!("{:.2}", one.ipc()),
            format!("{:.2}", long.ipc()),
            format!("{per_byte:.1}"),
        ]);
        long_ipcs[usize::from(*cipher == SimulatedCipher::RijndaelSizes)].push(long.ipc());
    }
    section.tables.push(table);
    for (name, ipcs) in ["RC6", "Rijndael"].iter().zip(long_ipcs) {
        let (low, high) = range(ipcs);
        section.verdicts.push(Claim::Ours.judge(
            format!("{name}: sizes change the IPC of {most} blocks by 10 % at most: {low:.2} to {high:.2}"),
            high <= 1.1 * low,
        ));
    }
    Ok(section)
}
