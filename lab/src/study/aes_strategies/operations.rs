//! The paper's T(n), section 4.2, beside operations that are counted in running code; and what the formulas leave out: how
//! threads come together.
//!
//! The paper does not write its rule down. One rule gives all of its serial formulas: a test of a loop counts 1, an assignment
//! 1, an assignment of what a function returns 3. A directive counts 1, and each variable that it gives the threads 1 or 2,
//! as the paper's text has it.

use std::hint::black_box;
use std::time::Instant;

use super::paper::FORMULAS;
use super::plain::{BLOCK, Direction, Function, INVERSE_SBOX, Keys, Own, SBOX, State};
use super::strategy::{Bench, Strategy};
use super::threads::{Gate, Other, Sleeping, Spent, Spinning, beside, reading_s};
use super::{KEY, MICRO, cells, header, openmp, turns};
use crate::bench::statistics;
use crate::study::{Claim, Effort, Error, Measured, Row, Section, Table, busy::Looks};

/// Rows of a state.
const N: usize = 4;
const TEST: u64 = 1;
const ASSIGNMENT: u64 = 1;
const CALL: u64 = 3;

/// A state whose functions count what they do, over the rows or columns that one core has.
struct Counted {
    state: [[u8; N]; N],
    operations: u64,
}

impl Counted {
    fn sub_bytes(&mut self, rows: std::ops::Range<usize>) {
        let mut i = rows.start;
        loop {
            self.operations += TEST;
            if i >= rows.end {
                break;
            }
            let mut j = 0;
            loop {
                self.operations += TEST;
                if j >= N {
                    break;
                }
                self.state[i][j] = SBOX[usize::from(self.state[i][j])];
                self.operations += CALL;
                j += 1;
            }
            i += 1;
        }
    }

    fn shift_rows(&mut self, sections: std::ops::Range<usize>) {
        for section in sections {
            let row = 1 + 2 * section;
            let order = if section == 0 { [0, 1, 2, 3] } else { [0, 3, 2, 1] };
            let temp = self.assigned(self.state[row][order[0]]);
            for pair in order.windows(2) {
                self.state[row][pair[0]] = self.assigned(self.state[row][pair[1]]);
            }
            self.state[row][order[3]] = self.assigned(temp);
            let temp = self.assigned(self.state[2][section]);
            self.state[2][section] = self.assigned(self.state[2][section + 2]);
            self.state[2][section + 2] = self.assigned(temp);
        }
    }

    fn mix_columns(&mut self, columns: std::ops::Range<usize>) {
        let mut i = columns.start;
        loop {
            self.operations += TEST;
            if i >= columns.end {
                break;
            }
            let [a, b, c, d] = [0, 1, 2, 3].map(|row: usize| self.state[row][i]);
            let t = self.assigned(a);
            let sum = self.assigned(a ^ b ^ c ^ d);
            for row in 0..N {
                let next = if row + 1 < N { self.state[row + 1][i] } else { t };
                let tm = self.assigned(self.state[row][i] ^ next);
                // Of what xtime() returns.
                let tm = (tm << 1) ^ ((tm >> 7) * 0x1b);
                self.operations += CALL;
                self.state[row][i] = self.assigned(self.state[row][i] ^ tm ^ sum);
            }
            i += 1;
        }
    }

    fn assigned(&mut self, value: u8) -> u8 {
        self.operations += ASSIGNMENT;
        value
    }
}

/// What the first of so many cores counts for a function, with the directives that the paper gives it.
fn count(function: Function, cores: usize) -> u64 {
    let mut counted = Counted { state: [[1; N]; N], operations: 0 };
    match function {
        Function::SubBytes => counted.sub_bytes(0..N / cores),
        // There are two sections, however many cores.
        Function::ShiftRows => counted.shift_rows(0..if cores == 1 { 2 } else { 1 }),
        Function::MixColumns => counted.mix_columns(0..N / cores),
        Function::AddRoundKey => {}
    }
    let directives = match function {
        _ if cores == 1 => 0,
        // parallel, for.
        Function::SubBytes => 2,
        // parallel with two times temp, sections, section.
        Function::ShiftRows => 3 + 1 + 1,
        // parallel; for, with i once and Tmp, Tm and t twice.
        Function::MixColumns => 1 + 1 + 1 + 2 + 2 + 2,
        Function::AddRoundKey => 0,
    };
    counted.operations + directives
}

pub(super) fn run(effort: &Effort) -> Result<Section, Error> {
    let mut section = Section {
        text: "Operations of the first core, counted while the function runs on a 4 by 4 state, by the rule behind the paper's \
               serial formulas: a loop test and an assignment count 1, an assignment of a function result counts 3, and \
               directives count as in the paper. Then, missing from the formulas, the time of each function on this machine \
               and of one synchronisation of threads."
            .into(),
        ..Section::default()
    };
    let mut table = Table {
        title: "Operations at n = 4".into(),
        header: header(&["function", "cores", "paper, T(n)", "model, T(4)", "counted"]),
        rows: Vec::new(),
    };
    for formula in &FORMULAS {
        let (value, counted) = (formula.at(N as f64), count(formula.function, formula.cores));
        table.rows.push(cells([
            formula.function.name().into(),
            formula.cores.to_string(),
            formula.text.into(),
            format!("{value}"),
            counted.to_string(),
        ]));
        section.verdicts.push(Claim::Print.judge(
            format!(
                "{} on {}: T(n) = {} gives {value}, counted {counted}",
                formula.function.name(),
                if formula.cores == 1 { "one core".into() } else { format!("{} cores", formula.cores) },
                formula.text
            ),
            value == counted as f64,
        ));
    }
    section.tables.push(table);
    coming_together(&mut section, effort)?;
    Ok(section)
}

/// Names of rows that the words at the end look for.
pub(super) const SLEEPING: &str = "a barrier, sleeping";
pub(super) const SPINNING: &str = "a barrier, spinning";
pub(super) const FORK: &str = "a parallel region of OpenMP, without the function in it";

/// What a step takes beside what it takes to come together.
fn coming_together(section: &mut Section, effort: &Effort) -> Result<(), Error> {
    let found = turns::openmp(&mut section.verdicts);
    let bench = Bench::new(KEY, found.as_ref())?;
    let threads = Strategy::RowsSleeping.threads(bench.threads);
    let samples = effort.samples.max(7);
    let mut functions: [Vec<f64>; 4] = Default::default();
    let (mut sleeping, mut spinning, mut forks) = (Vec::new(), Vec::new(), Vec::new());
    let (reading, mut looks) = (reading_s(), Looks::default());
    for _ in 0..samples {
        looks.look();
        for (function, ns) in Function::ALL.iter().zip(&mut functions) {
            ns.push(one_function(*function));
        }
        sleeping.push(barrier::<Sleeping>(threads, 200)?);
        spinning.push(barrier::<Spinning>(threads, 2000)?);
        if bench.has(Strategy::C(openmp::Way::Rows)) {
            match fork(&bench, threads, reading) {
                Ok(ns) => forks.push(ns),
                Err(Error::Worker(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut row = |what: String, ns: &[f64]| {
        let measured: Measured = statistics::median(ns).into();
        section.rows.push(Row { what, unit: "ns".into(), measured: Some(measured), ..Row::default() });
        measured
    };
    let mut work = 0.0;
    for (function, ns) in Function::ALL.iter().zip(&functions) {
        let measured = row(format!("{} of one state, one thread", function.name()), ns);
        if *function != Function::AddRoundKey {
            work += measured.median;
        }
    }
    let mut gates = vec![
        (SLEEPING, row(format!("{threads} threads: {SLEEPING}"), &sleeping)),
        (SPINNING, row(format!("{threads} threads: {SPINNING}"), &spinning)),
    ];
    if !forks.is_empty() {
        gates.push((FORK, row(format!("{threads} threads: {FORK}"), &forks)));
    }
    section.rows.extend(looks.row());
    // Of a step: the mean of the three functions that are shared out.
    let step = work / 3.0;
    let saved = step * (1.0 - 1.0 / threads as f64);
    for (name, gate) in gates {
        let times = gate.median / saved;
        section.verdicts.push(Claim::Paper.of(
            format!(
                "splitting 16 bytes over {threads} threads pays off with {name}: a step takes {step:.0} ns, dividing it saves at \
                 most {saved:.0} ns, and synchronisation costs {:.0} ns. It would pay off for a state of at least about \
                 {:.0} bytes",
                gate.median,
                (BLOCK as f64 * times).max(BLOCK as f64)
            ),
            gate,
            0.0..=saved,
            &looks,
        ));
    }
    Ok(())
}

/// Nanoseconds of a function on one state, whose next call waits for it as it does in a cipher.
fn one_function(function: Function) -> f64 {
    let (state, keys) = (Own::default(), Keys::new(&KEY));
    state.load(&[0x5a; BLOCK]);
    let steps = super::plain::steps(Direction::Encrypt);
    let Some(step) = steps.into_iter().rev().find(|step| step.function == function) else { return f64::NAN };
    let start = Instant::now();
    for _ in 0..MICRO {
        // The compiler may not carry a state from one call to the next in registers, nor see through two of them.
        black_box(&state);
        step.share(&state, &keys, 0, 1);
    }
    black_box((&state, &INVERSE_SBOX));
    start.elapsed().as_secs_f64() * 1e9 / f64::from(MICRO)
}

/// Nanoseconds until all threads have come together once.
fn barrier<G: Gate>(threads: usize, rounds: u32) -> Result<f64, Error> {
    let gate = G::new(threads);
    let gate = &gate;
    let mut seconds = 0.0;
    // The first time together is for threads that are not there yet.
    let first = || {
        gate.wait();
        let start = Instant::now();
        (0..rounds).for_each(|_| gate.wait());
        seconds = start.elapsed().as_secs_f64();
        Spent::default()
    };
    let other = || -> Other<'_> {
        Box::new(move || {
            (0..=rounds).for_each(|_| gate.wait());
            Spent::default()
        })
    };
    beside(first, (1..threads).map(|_| other()).collect()).map_err(|error| Error::Threads(error.to_string()))?;
    Ok(seconds * 1e9 / f64::from(rounds))
}

/// Nanoseconds of OpenMP's fork and join around a function: the time of the program's rows without the functions' own.
fn fork(bench: &Bench<'_>, threads: usize, reading_s: f64) -> Result<f64, Error> {
    const BLOCKS: usize = 8;
    let regions =
        super::plain::steps(Direction::Encrypt).iter().filter(|step| step.function != Function::AddRoundKey).count();
    let mut data = vec![1; BLOCKS * BLOCK];
    let run = bench.run(Strategy::C(openmp::Way::Rows), Direction::Encrypt, true, &mut data)?;
    let [sub, shift, mix, add, _] = run.laps.seconds;
    // Functions take part of each thread's time, the last one that of one thread.
    let inside = (sub + shift + mix) / threads as f64 + add;
    let stamps = run.laps.readings as f64 * reading_s / threads as f64;
    Ok((run.seconds - inside - stamps).max(0.0) * 1e9 / (BLOCKS * regions) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, with the paper's own counts of directives: 11 operations of tests, and 16 calls of 3, make 73 ...; a column has 10
    /// assignments and 4 calls, so two of them, 3 tests and 10 for directives are 57... The paper's formulas for MixColumns on
    /// several cores have two operations a column less.
    #[test]
    fn counts() {
        let counts: Vec<u64> = FORMULAS.iter().map(|formula| count(formula.function, formula.cores)).collect();
        assert_eq!(counts, [5 + 20 + 48, 3 + 10 + 24 + 2, 2 + 5 + 12 + 2, 16, 8 + 5, 5 + 88, 3 + 44 + 9, 2 + 22 + 9]);
    }

    /// What counts computes what the cipher computes.
    #[test]
    fn counted_functions_are_the_ciphers() {
        let bytes: [u8; BLOCK] = std::array::from_fn(|place| (place * 37) as u8);
        let keys = Keys::new(&KEY);
        for step in super::super::plain::steps(Direction::Encrypt).into_iter().skip(1).take(3) {
            let state = Own::default();
            state.load(&bytes);
            step.share(&state, &keys, 0, 1);
            let mut counted = Counted { state: [[0; N]; N], operations: 0 };
            (0..BLOCK).for_each(|place| counted.state[place % 4][place / 4] = bytes[place]);
            match step.function {
                Function::SubBytes => counted.sub_bytes(0..4),
                Function::ShiftRows => counted.shift_rows(0..2),
                _ => counted.mix_columns(0..4),
            }
            for place in 0..BLOCK {
                assert_eq!(counted.state[place % 4][place / 4], state.get(place % 4, place / 4), "{step:?}");
            }
        }
    }
}
