//! Tests of the in-order pipeline: against cycles measured on RTL of Rocket (load-use, store hazard, multiplication)
//! and against cycles counted by hand. Code and data are in tightly coupled memory, except in tests about flash.

use super::super::listing::{CODE, DATA, Listing};
use super::*;

fn e31() -> Machine {
    let mut machine = Machine::preset("e31").expect("a preset");
    // More memory for code next to the data.
    machine.region[1].size = 0x8000;
    machine
}

/// Execute cycles of all instructions, relative to the first.
fn cycles(listing: &Listing) -> Vec<u64> {
    let (times, _) = listing.in_order(&e31());
    times.iter().map(|each| each.issue - times[0].issue).collect()
}

/// Execute cycle of the last instruction.
fn last(listing: &Listing) -> u64 {
    cycles(listing).pop().expect("an instruction")
}

#[test]
fn independent_instructions_take_a_cycle_each() {
    let listing = Listing::new().fill(20);
    assert_eq!(last(&listing), 19);
    let (times, core) = listing.in_order(&e31());
    // Fetched in cycle 0, decoded in 2, executed in 3, written back in 5: six cycles for the first instruction.
    assert_eq!((times[0].fetch, times[0].issue, times[0].retire), (0, 3, 5));
    assert_eq!(core.cycles(), 6 + 19);
    assert_eq!(core.account.retired, 20);
    assert_eq!(last(&Listing::new().alu(1, [0, 0]).alu(2, [1, 1]).alu(3, [2, 1])), 2, "results are forwarded");
}

#[test]
fn compressed_instructions_take_a_cycle_each_at_any_offset() {
    assert_eq!(last(&Listing::new().size(2).fill(9)), 8);
    assert_eq!(last(&Listing::new().size(2).fill(1).size(4).fill(9)), 9, "all others span two fetches");
}

#[test]
fn a_loaded_word_is_used_after_one_bubble_and_a_byte_after_two() {
    assert_eq!(cycles(&Listing::new().load(1, 0, DATA, 4).alu(2, [1, 0])), [0, 2]);
    for bytes in [1, 2] {
        assert_eq!(cycles(&Listing::new().load(1, 0, DATA, bytes).alu(2, [1, 0])), [0, 3]);
    }
    assert_eq!(cycles(&Listing::new().load(1, 0, DATA, 4).alu(3, [0, 0]).alu(2, [1, 0])), [0, 1, 2]);
    // A write to the same register waits too.
    assert_eq!(cycles(&Listing::new().load(1, 0, DATA, 4).alu(1, [0, 0])), [0, 2]);
}

#[test]
fn a_load_behind_a_store_to_its_word_costs_five_cycles_with_a_gap_of_none_or_one() {
    let listing = |gap| Listing::new().store(2, 0, DATA, 4).fill(gap).load(1, 0, DATA, 4);
    assert_eq!(last(&listing(0)), 1 + 5);
    assert_eq!(last(&listing(1)), 2 + 5);
    assert_eq!(last(&listing(2)), 3);
    assert_eq!(last(&listing(3)), 4);
    let other = Listing::new().store(2, 0, DATA, 4).load(1, 0, DATA + 4, 4);
    assert_eq!(last(&other), 1, "another word");
    let bytes = Listing::new().store(2, 0, DATA, 1).load(1, 0, DATA + 1, 1);
    assert_eq!(last(&bytes), 1, "other bytes of the word");
}

#[test]
fn a_store_is_not_written_while_loads_are_executed() {
    // Without the two loads, the store would be written in the third cycle.
    let listing = Listing::new().store(2, 0, DATA, 4).load(3, 0, DATA + 8, 4).load(4, 0, DATA + 12, 4);
    assert_eq!(last(&listing.clone().load(1, 0, DATA, 4)), 3 + 5);
    assert_eq!(last(&listing.fill(1).load(1, 0, DATA, 4)), 4, "the store is written in the cycle between");
}

#[test]
fn a_product_is_used_after_six_cycles_and_waits_for_a_free_write_port() {
    let listing = |between| Listing::new().op(Class::Multiply, 1, [2, 3]).fill(between).alu(4, [1, 0]);
    // A multiplication and a use take 7 cycles with up to two additions in between.
    for between in 0..=2 {
        assert_eq!(last(&listing(between)) + 1, 7, "{between} between");
    }
    // With any number of additions in between, three bubbles remain: each addition writes a result in its cycle.
    for between in 3..=12 {
        assert_eq!(last(&listing(between)), between as u64 + 1 + 3, "{between} between");
    }
    // A store writes no result. The fourth of eight would be written back when the product is ready.
    let store = Listing::new().op(Class::Multiply, 1, [2, 3]).fill(3).store(2, 0, DATA, 4).fill(4).alu(4, [1, 0]);
    assert_eq!(last(&store), 9);
}

#[test]
fn a_second_product_waits_for_the_first() {
    let listing = Listing::new().op(Class::Multiply, 1, [2, 3]).op(Class::Multiply, 4, [2, 3]).alu(5, [4, 0]);
    assert_eq!(cycles(&listing), [0, 6, 12]);
}

#[test]
fn a_division_takes_a_cycle_for_each_bit_of_the_quotient() {
    let divide = |dividend_bits, divisor_bits, detail| {
        let listing = Listing::new().op(Class::Divide, 1, [2, 3]).with(|divide| {
            (divide.dividend_bits, divide.divisor_bits, divide.detail) = (dividend_bits, divisor_bits, detail);
        });
        last(&listing.alu(4, [1, 0]))
    };
    // Starts in execute; shift, one bit, end; written back; used: 2 + 3.
    assert_eq!(divide(3, 3, 0), 5);
    assert_eq!(divide(10, 3, 0), 5 + 7);
    assert_eq!(divide(10, 3, Retired::NEGATIVE), 5 + 7 + 1);
    assert_eq!(divide(10, 3, Retired::NEGATIVE | Retired::NEGATED), 5 + 7 + 2);
    // No bits to skip: 33 steps.
    assert_eq!(divide(32, 1, 0), 35);
    assert_eq!(divide(17, 0, 0), 35, "by zero");
    assert_eq!(divide(5, 6, 0), 35, "the distance wraps around");
    let by = |bits_per_cycle| machine::Divider { bits_per_cycle, ..e31().in_order.expect("a pipeline").divide };
    // The remaining bits take a cycle, too.
    assert_eq!([1, 2, 3, 5, 32, 64].map(|bits| divider_steps(32, 32, 1, &by(bits))), [33, 17, 12, 8, 2, 2]);
}

#[test]
fn a_csr_that_is_read_is_used_after_three_cycles_and_one_that_is_written_empties_the_pipeline() {
    assert_eq!(cycles(&Listing::new().op(Class::Csr, 1, [0, 0]).alu(2, [1, 0])), [0, 3]);
    let write = |detail| Listing::new().op(Class::Csr, 0, [1, 0]).with(|csr| csr.detail = detail).alu(2, [0, 0]);
    assert_eq!(cycles(&write(Retired::WRITES | Retired::FLUSHES)), [0, 5]);
    assert_eq!(cycles(&write(Retired::WRITES)), [0, 1], "a CSR that only holds a value");
}

#[test]
fn a_misprediction_costs_three_cycles() {
    // The first time no table has the branch, so it is predicted not taken.
    let first = Listing::new().fill(4).transfer(Class::Branch, 0, 0, CODE + 0x100).fill(1);
    assert_eq!(last(&first), 4 + 1 + 3);
    let (_, core) = first.in_order(&e31());
    assert_eq!(core.account.prediction, 3);
    assert_eq!(core.predictor().figures.wrong_branches, 1);
    assert_eq!(last(&Listing::new().fill(4).branch_not_taken().fill(1)), 5, "a branch that is not taken");
}

#[test]
fn a_jump_costs_one_cycle_the_first_time_and_none_later() {
    // Eight rounds of eight instructions and a jump back.
    let mut listing = Listing::new();
    for _ in 0..8 {
        listing = listing.fill(8).transfer(Class::Jump, 0, 0, CODE);
    }
    // There is one bubble. After that the target buffer has the jump.
    assert_eq!(last(&listing.fill(1)), 8 * 9 + 1);
}

#[test]
fn queued_instructions_hide_a_jump() {
    // Decode waits for a product, while fetch continues up to the jump.
    let listing = Listing::new().op(Class::Multiply, 1, [2, 3]).alu(4, [1, 0]).fill(1);
    assert_eq!(last(&listing.transfer(Class::Jump, 0, 0, CODE + 0x80).fill(1)), 6 + 3);
}

#[test]
fn a_call_and_its_return_find_their_way_by_the_stack() {
    let mut listing = Listing::new();
    let mut came_from = Vec::new();
    for number in 0..3 {
        came_from.push(listing.pc() + 4);
        listing = listing.transfer(Class::Call, 1, 0, CODE + 0x100 * (number + 1)).fill(2);
    }
    while let Some(back) = came_from.pop() {
        listing = listing.transfer(Class::Return, 0, 1, back).fill(2);
    }
    let (_, core) = listing.in_order(&e31());
    assert_eq!(core.predictor().figures.wrong_targets, 0);
    assert_eq!(core.account.prediction, 0);
}

#[test]
fn flash_is_slow_once_a_line() {
    let machine = e31();
    let flash = &machine.region[0];
    let line = flash.latency + 64 / flash.beat_bytes * flash.beat_cycles;
    let line = u64::from(machine.l1i.as_ref().expect("a cache").latency) + line;
    let listing = Listing::new().at(0x2040_0000).fill(17);
    let (times, _) = listing.in_order(&machine);
    // The first line takes level 1's cycles, then flash. It holds 16 instructions; the next one waits for flash again.
    assert_eq!(times[0].fetch, line);
    assert_eq!(times[15].fetch, line + 15);
    assert_eq!(times[16].fetch, (line + 16) + line);
    let again = listing.transfer(Class::Jump, 0, 0, 0x2040_0000).fill(15);
    let (times, _) = again.in_order(&machine);
    assert_eq!(times[32].issue - times[17].issue, 15 + 1, "both lines are in the cache now; the jump costs a bubble");
}

#[test]
fn the_link_of_an_indirect_call_is_used_after_a_bubble() {
    // The call itself is mispredicted the first time: its target executes in 4.
    let listing = Listing::new().transfer(Class::Call, 1, 5, CODE + 0x100).alu(2, [1, 0]);
    assert_eq!(cycles(&listing), [0, 4]);
}

/// The buffer after fetch accepts the first half of such an instruction in a cycle in which it passes nothing to
/// decode. On RTL of Rocket, one round of each of the 96 loops in this test takes one cycle per instruction, and one
/// more if its first instruction spans two fetches.
#[test]
fn a_jump_to_an_instruction_across_two_fetches_costs_a_cycle() {
    let turn = |start: u64, first: u8, short: usize, long: usize| {
        let target = CODE + start;
        let round = |listing: Listing| {
            let listing = listing.size(first).fill(1).size(2).fill(short).size(4).fill(long).size(2).fill(1);
            listing.size(4).transfer(Class::Jump, 0, 0, target)
        };
        let cycles = cycles(&(0..8).fold(Listing::new().at(target), |listing, _| round(listing)));
        let length = 3 + short + long;
        (cycles[7 * length] - cycles[6 * length], length as u64)
    };
    for (start, first) in [(0, 2), (0, 4), (2, 2), (2, 4)] {
        for short in [0, 1, 2, 3, 4, 5, 6, 8] {
            for long in 0..3 {
                let (cycles, length) = turn(start, first, short, long);
                let split = u64::from((start, first) == (2, 4));
                assert_eq!(cycles, length + split, "{first} bytes at {start}, then {short} short and {long} long ones");
            }
        }
    }
}
