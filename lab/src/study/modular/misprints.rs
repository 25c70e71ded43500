//! Misprints in the paper, each found by something that can be computed: figures that contradict others, and
//! algorithms that give a wrong result exactly as printed.

use super::super::{Effort, Error, Section, Verdict};
use super::paper::{
    DOS_LARGE, DOS_SMALL, OPERATIONS, SYSTEMS, TABLES, TICKS_PER_S, UNIX, WINDOWS_31, WINDOWS_31_LARGE,
};

const BINARY: usize = 6;
const MONTGOMERY: usize = 7;
const CLASSICAL: usize = 4;

pub(super) fn run(_: &Effort) -> Result<Section, Error> {
    let mut section = Section::begin(&super::STUDY, "misprints", &[]);
    let verdicts = &mut section.verdicts;

    let repeated: Vec<usize> = (0..OPERATIONS.len())
        .filter(|&row| TABLES[3].figures[row][WINDOWS_31_LARGE] == TABLES[2].figures[row][WINDOWS_31_LARGE])
        .collect();
    let names: Vec<&str> = repeated.iter().map(|&row| OPERATIONS[row]).collect();
    let growth = TABLES[3].ns(2, WINDOWS_31) / TABLES[2].ns(2, WINDOWS_31);
    verdicts.push(Verdict::Misprint(format!(
        "Table 5, Windows 3.1, large model: {} of 8 figures are those of Table 4 ({}), the same at 1024 bits as at 768. If it grew \
         like the medium model, the product would take {:.2} ms, not {}",
        repeated.len(),
        names.join(", "),
        TABLES[2].ns(2, WINDOWS_31_LARGE) * growth / 1e6,
        TABLES[3].text(2, WINDOWS_31_LARGE)
    )));

    let gain = |table: usize, column: usize| TABLES[table].ns(BINARY, column) / TABLES[table].ns(MONTGOMERY, column);
    let others = (0..4).flat_map(|table| (0..SYSTEMS.len()).map(move |column| (table, column)));
    let gains = others.filter(|&pair| pair != (3, UNIX)).map(|(table, column)| gain(table, column));
    verdicts.push(Verdict::Misprint(format!(
        "Table 5, UNIX: the last two figures are swapped. As printed, a Montgomery power would take {:.2} times as long as a \
         binary power; in all other cases it is faster ({} times; the 3.02 are 6 ticks over 2 of the MS-DOS clock, see below, \
         {} times), and with the two swapped it is {:.2} times as fast",
        1.0 / gain(3, UNIX),
        super::span(gains),
        super::span(TABLES[0].ratio_in_ticks([BINARY, DOS_SMALL], [MONTGOMERY, DOS_SMALL])),
        1.0 / gain(3, UNIX)
    )));

    verdicts.extend(ticks());
    for (row, column, table) in decreasing_figures() {
        verdicts.push(Verdict::Misprint(format!(
            "Table {}, {}: {} takes {} at {} bits, longer than the {} of Table {} at {} bits; one of them is wrong, and not by \
             the clock, of which they are {} and {} ticks",
            TABLES[table].number,
            SYSTEMS[column].0,
            OPERATIONS[row],
            TABLES[table].text(row, column),
            TABLES[table].bits,
            TABLES[table + 1].text(row, column),
            TABLES[table + 1].number,
            TABLES[table + 1].bits,
            TABLES[table].ticks(row, column),
            TABLES[table + 1].ticks(row, column),
        )));
    }
    let jump = |column: usize| TABLES[3].ns(CLASSICAL, column) / TABLES[2].ns(CLASSICAL, column);
    verdicts.push(Verdict::Unclear(format!(
        "Table 5, UNIX: classical reduction takes {:.2} times as long as at 768 bits, on the other systems {} times: 0.9060 \
         may be a misprint",
        jump(UNIX),
        super::span((0..UNIX).filter(|&column| column != WINDOWS_31_LARGE).map(jump))
    )));

    let power = |method: fn(u64, u64, u64) -> u64| method(3, 100, 1_000_003);
    let right = power(binary);
    verdicts.push(Verdict::Misprint(format!(
        "Algorithm 3 multiplies by d instead of X: as printed, 3^100 modulo 1000003 is {}, not {right}",
        power(binary_as_printed)
    )));
    verdicts.push(Verdict::Misprint(format!(
        "Algorithm 4 leaves Montgomery form (the product with 1) inside its loop instead of after it, and processes the \
         highest bit although it starts from the base: as printed, 3^100 modulo 1000003 is {}; with the first error corrected \
         {}, with both {}. Its M' means X'",
        power(|x, d, n| montgomery(x, d, n, true, true)),
        power(|x, d, n| montgomery(x, d, n, false, true)),
        power(|x, d, n| montgomery(x, d, n, false, false)),
    )));
    verdicts.push(Verdict::Misprint(
        "section 3.3: L(d), the highest bit of the exponent, is printed as the logarithm of 2 to a base a; section 3.3.2 says \
         that either value of a bit means a square; reference 2, cited for Karatsuba's method, is by Takagi"
            .into(),
    ));
    Ok(section)
}

/// Figures of MS-DOS that are no whole number of ticks: table, row, column.
fn figures_between_ticks() -> Vec<(usize, usize, usize)> {
    let places = (0..TABLES.len()).flat_map(|table| (0..OPERATIONS.len()).map(move |row| (table, row)));
    let all = places.flat_map(|(table, row)| [DOS_SMALL, DOS_LARGE].map(|column| (table, row, column)));
    all.filter(|&(table, row, column)| {
        !TABLES[table].of_ticks(row, column).contains(&TABLES[table].figures[row][column].to_string())
    })
    .collect()
}

/// What the clock of MS-DOS says about its figures.
fn ticks() -> Vec<Verdict> {
    let between = figures_between_ticks();
    let (powers, others): (Vec<_>, Vec<_>) = between.iter().partition(|(_, row, _)| *row >= BINARY);
    let what = |&(table, row, column): &(usize, usize, usize)| {
        let (table, system, operation) = (&TABLES[table], SYSTEMS[column].0, OPERATIONS[row]);
        let (printed, nearest) = (table.figures[row][column], &table.of_ticks(row, column)[1]);
        format!("Table {}, {system}, {operation}: printed {printed}, the nearest tick is {nearest}", table.number)
    };
    let list = |places: &[(usize, usize, usize)]| places.iter().map(what).collect::<Vec<_>>().join("; ");
    vec![
        Verdict::Misprint(format!(
            "MS-DOS: {} of the 16 powers are whole ticks of its clock ({:.1} ms), so each is exact to one tick, and at 256 bits a \
             Montgomery power is 2 ticks or 3. One fits no tick: {}",
            16 - powers.len(),
            1e3 / TICKS_PER_S,
            list(&powers)
        )),
        Verdict::Unclear(format!(
            "MS-DOS: {} of the 48 other figures are whole ticks too, if sums and differences ran 100,000 times and the others \
             10,000 times; the paper does not say. {} do not fit, and may be misprints of a digit: {}",
            48 - others.len(),
            others.len(),
            list(&others)
        )),
    ]
}

/// Figures that are larger than those at the next size: row, column, table.
fn decreasing_figures() -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    for row in 0..OPERATIONS.len() {
        for column in 0..SYSTEMS.len() {
            for table in 0..TABLES.len() - 1 {
                if TABLES[table].ns(row, column) > TABLES[table + 1].ns(row, column) {
                    found.push((row, column, table));
                }
            }
        }
    }
    found
}

fn multiply(a: u64, b: u64, n: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(n)) as u64
}

/// Algorithm 3, multiplying by `factor` in its multiplication step.
fn binary_by(x: u64, d: u64, n: u64, factor: u64) -> u64 {
    let mut a = x % n;
    for i in (0..d.ilog2()).rev() {
        a = multiply(a, a, n);
        if (d >> i) & 1 == 1 {
            a = multiply(a, factor, n);
        }
    }
    a
}

fn binary(x: u64, d: u64, n: u64) -> u64 {
    binary_by(x, d, n, x)
}

fn binary_as_printed(x: u64, d: u64, n: u64) -> u64 {
    binary_by(x, d, n, d)
}

/// Algorithm 4 with R = 2^32, for an odd `n` below that.
fn montgomery(x: u64, d: u64, n: u64, leaves_inside: bool, goes_through_highest: bool) -> u64 {
    let r = (1u64 << 32) % n;
    let mut inverse = 1;
    while multiply(inverse, r, n) != 1 {
        inverse += 1;
    }
    let product = |a: u64, b: u64| multiply(multiply(a, b, n), inverse, n);
    let form = multiply(x, r, n);
    let mut c = form;
    let first = d.ilog2() + u32::from(goes_through_highest);
    for i in (0..first).rev() {
        c = product(c, c);
        if (d >> i) & 1 == 1 {
            c = product(c, form);
        }
        if leaves_inside {
            c = product(c, 1);
        }
    }
    if leaves_inside { c } else { product(c, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's `pow(3, 100, 1000003)`, and powers modulo small primes by Fermat.
    #[test]
    fn only_the_corrected_algorithms_are_right() {
        let right = 189_751;
        assert_eq!(binary(3, 100, 1_000_003), right);
        assert_eq!(montgomery(3, 100, 1_000_003, false, false), right);
        // The same algorithms in Python.
        for (inside, highest, wrong) in [(true, true, 229435), (true, false, 471781), (false, true, 154508)] {
            assert_eq!(montgomery(3, 100, 1_000_003, inside, highest), wrong);
        }
        assert_eq!(binary_as_printed(3, 100, 1_000_003), 896571);
        assert_eq!((binary(5, 96, 97), montgomery(5, 96, 97, false, false)), (1, 1));
    }

    /// From a program of a few lines in Python, with 1 / 18.2 s.
    #[test]
    fn figures_that_are_no_whole_ticks() {
        assert_eq!(
            figures_between_ticks(),
            [(0, 1, DOS_LARGE), (0, 3, DOS_LARGE), (3, 1, DOS_SMALL), (3, 7, DOS_SMALL)]
        );
        let [Verdict::Misprint(powers), Verdict::Unclear(others)] = &ticks()[..] else { panic!("two verdicts") };
        assert!(powers.contains("15 of") && powers.contains("printed 7.987, the nearest tick is 7.967"), "{powers}");
        assert!(others.contains("45 of") && others.contains("printed 0.1645"), "{others}");
    }

    /// Found by reading the tables.
    #[test]
    fn figures_that_contradict_others() {
        assert_eq!(decreasing_figures(), [(CLASSICAL, 0, 1), (CLASSICAL, 1, 1)]);
    }
}
