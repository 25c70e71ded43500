//! What the paper's table leaves open, and what of it matters: the ends of Fig. 7 with other choices.

use super::super::{Effort, Error};
use super::{
    Cipher, Core, Mode, PAPER_BLOCKS, PAPER_ONE_BLOCK, Run, Section, Work, beside_paper, count, kind_name, row,
    simulate,
};

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let blocks = if effort.is_quick { 64 } else { 1024 };
    let base = Core::paper(8);
    let choices: [(&str, Core); 11] = [
        ("as in the parts above", base),
        ("one integer unit", Core { integer_units: Some(1), ..base }),
        ("four integer units", Core { integer_units: Some(4), ..base }),
        ("eight integer units", Core { integer_units: None, ..base }),
        ("two ports", Core { ports: Some(2), ..base }),
        ("four ports", Core { ports: Some(4), ..base }),
        ("reorder buffer of 16", Core { reorder_buffer: Some(16), ..base }),
        ("reorder buffer of 32", Core { reorder_buffer: Some(32), ..base }),
        ("reorder buffer of 64", Core { reorder_buffer: Some(64), ..base }),
        ("reorder buffer of 128", Core { reorder_buffer: Some(128), ..base }),
        ("products in 34 cycles", Core { multiply: Some(34), ..base }),
    ];
    let ciphers = [Cipher::Rijndael, Cipher::RijndaelInMemory, Cipher::Rc6];
    let runs: Vec<Run> = choices
        .iter()
        .flat_map(|(_, core)| {
            ciphers.map(|cipher| Run { core: *core, work: Work { blocks, ..Work::new(cipher, Mode::Ecb) } })
        })
        .collect();
    let figures = simulate::all(&runs, effort)?;
    let mut section = Section {
        text: format!(
            "Table 2 of the paper has sizes and times, but not how many integer units there are, how many loads and stores \
             can begin in a cycle, how many instructions can be under way, how branches are predicted, and where between 4 \
             and 34 cycles a product is. The parts above have two integer units from issue 8 on and one below, one port for \
             loads and stores, room for 128 instructions and products in 4 cycles, in a pipeline: of what we tried the \
             only choice with which both ciphers come out near the ends of Fig. 7, 8 and 10. As many units as can issue, \
             one could not have IPC as low as the paper's. One message of {blocks} blocks, issue 8, with one of these \
             changed. Rijndael \"with its state in memory\" stores \
             every column and loads its bytes one by one, as the C of the submission says; otherwise the state is in \
             registers, as the compiler left it."
        ),
        ..Section::default()
    };
    for (run, (place, figures)) in runs.iter().zip(figures.iter().enumerate()) {
        let what = format!("{}, {}", run.work.cipher.name(), choices[place / ciphers.len()].0);
        section.rows.push(row(what, Some(PAPER_BLOCKS.of(run.work.cipher)), figures));
    }
    by_division(effort, &mut section)?;
    Ok(section)
}

/// RC6 whose key schedule divides, once a step.
fn by_division(effort: &Effort, section: &mut Section) -> Result<(), Error> {
    section.text += " One block of RC6 is mostly its key schedule, whose steps go round S: in C programs of the time by \
                     `i = (i + 1) % t`, an integer division of 36 cycles a step, while our program compares. The last rows \
                     are RC6 with such a division. They are where the paper has its figures for one block and for 1024; for \
                     128 messages its figure then leaves no room for 128 key schedules, so those messages would have had \
                     one key.";
    let most = if effort.is_quick { 64 } else { 1024 };
    let run =
        |blocks| Run { core: Core::paper(8), work: Work { blocks, ..Work::new(Cipher::Rc6ByDivision, Mode::Ecb) } };
    let runs = [run(1), run(most)];
    for ((run, printed), figures) in
        runs.iter().zip([PAPER_ONE_BLOCK, PAPER_BLOCKS]).zip(&simulate::all(&runs, effort)?)
    {
        let what = format!("{}, {}", kind_name(&run.work), count(run.work.blocks, "block"));
        let paper = printed.of(run.work.cipher);
        section.rows.push(row(what.clone(), Some(paper), figures));
        section.verdicts.push(beside_paper(&what, paper, figures));
    }
    Ok(())
}
