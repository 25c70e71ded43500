//! Tests of the out-of-order pipeline against cycles counted by hand: chains at each width, units, queues, stores and
//! loads.

use super::super::listing::{CODE, DATA, Listing};
use super::*;

/// A machine without caches and mispredictions, so that only the pipeline matters. Fetch to rename takes 3 cycles. The
/// first instruction is renamed in 3, begins in 4 and, if it takes a cycle, has its result and retires in 5.
fn machine(issue: u32) -> Machine {
    let mut machine = Machine::parse(include_str!("outoforder_tests.toml")).expect("a machine");
    machine.set_issue(issue).expect("a width");
    machine
}

/// That machine with another pipeline.
fn changed(issue: u32, change: impl FnOnce(&mut machine::OutOfOrder)) -> Machine {
    let mut machine = machine(issue);
    change(machine.out_of_order.as_mut().expect("out of order"));
    machine
}

fn cycles(listing: &Listing, machine: &Machine) -> u64 {
    listing.out_of_order(machine).1.cycles()
}

/// Retire cycles of all instructions, relative to the first result.
fn issues(listing: &Listing, machine: &Machine) -> Vec<u64> {
    listing.out_of_order(machine).0.iter().map(|times| times.issue - 4).collect()
}

/// Cycles in which the instructions are renamed.
fn decodes(listing: &Listing, machine: &Machine) -> Vec<u64> {
    listing.out_of_order(machine).0.iter().map(|times| times.decode).collect()
}

#[test]
fn independent_instructions_retire_as_many_a_cycle_as_issue() {
    for issue in [1, 2, 4, 8, 16] {
        let listing = Listing::new().fill(160);
        assert_eq!(cycles(&listing, &machine(issue)), 5 + 160 / u64::from(issue), "issue {issue}");
    }
}

#[test]
fn a_chain_takes_its_length_at_every_width() {
    let mut listing = Listing::new();
    for _ in 0..100 {
        listing = listing.alu(1, [1, 0]);
    }
    for issue in [1, 2, 4, 8, 16] {
        let (_, core) = listing.out_of_order(&machine(issue));
        assert_eq!(core.cycles(), 5 + 100, "issue {issue}");
        assert_eq!(core.account.dependence, 99 * u64::from(issue - 1), "issue {issue}");
    }
}

#[test]
fn two_chains_side_by_side_fill_two_slots() {
    let mut listing = Listing::new();
    for _ in 0..100 {
        listing = listing.alu(1, [1, 0]).alu(2, [2, 0]);
    }
    assert_eq!(cycles(&listing, &machine(1)), 5 + 200);
    assert_eq!(cycles(&listing, &machine(2)), 5 + 100);
    assert_eq!(cycles(&listing, &machine(16)), 5 + 100);
}

#[test]
fn the_oldest_ready_instruction_goes_first() {
    // Issue 1: the product's user waits, the four behind it do not.
    let listing = Listing::new().op(Class::Multiply, 1, [0, 0]).alu(2, [1, 0]).fill(5);
    assert_eq!(
        issues(&listing, &machine(1)),
        [0, 4, 2, 3, 5, 6, 7],
        "the user is older, so it takes cycle 4 before the third addition"
    );
}

#[test]
fn a_pipelined_unit_takes_one_a_cycle_and_another_one_at_a_time() {
    let mut products = Listing::new();
    let mut quotients = Listing::new();
    for register in 1..=5 {
        products = products.op(Class::Multiply, register, [0, 0]);
        quotients = quotients.op(Class::Divide, register, [0, 0]);
    }
    assert_eq!(issues(&products, &machine(8)), [0, 1, 2, 3, 4]);
    assert_eq!(issues(&quotients, &machine(8)), [0, 10, 20, 30, 40]);
    let (_, core) = quotients.out_of_order(&machine(8));
    // After the first result, four times ten cycles, all for the division itself: each begins when the one before ends.
    assert_eq!(core.cycles(), 5 + 9 + 1 + 40);
}

/// The account names what limits the machine: units, fetch, or results.
#[test]
fn the_account_names_the_limit() {
    // Two units for 160 independent additions: 80 cycles, and a quarter of the 8 slots per cycle retires.
    let few = changed(8, |core| core.unit[0].count = 2);
    let (_, core) = Listing::new().fill(160).out_of_order(&few);
    assert_eq!(core.cycles(), 5 + 80);
    // Five cycles before the first result. Then in each cycle six slots find no unit; in the last, six have no
    // instruction.
    assert_eq!(core.account, Account { retired: 160, front_end: 5 * 8 + 6, unit: 79 * 6, ..Account::default() });
    // The same limit as a number for issue widths from 5 on, and no limit where that number is for 9 and more.
    for (from, cycles) in [(5, 80), (9, 20)] {
        let by_issue = changed(8, |core| core.unit[0].count_from_issue = vec![[1, 0], [from, 2]]);
        let (_, core) = Listing::new().fill(160).out_of_order(&by_issue);
        assert_eq!(core.cycles(), 5 + cycles, "{from}");
    }
    // The same limit by fetching two per cycle.
    let narrow = changed(8, |core| core.fetch = 2);
    let (_, core) = Listing::new().fill(160).out_of_order(&narrow);
    assert_eq!(core.cycles(), 5 + 80);
    assert_eq!(core.account, Account { retired: 160, front_end: 5 * 8 + 80 * 6, ..Account::default() });
    // Two chains wait for results, for any number of units.
    let chains = (0..80).fold(Listing::new(), |listing, _| listing.alu(1, [1, 0]).alu(2, [2, 0]));
    let (_, core) = chains.out_of_order(&machine(8));
    assert_eq!(core.cycles(), 5 + 80);
    assert_eq!(core.account, Account { retired: 160, front_end: 5 * 8 + 6, dependence: 79 * 6, ..Account::default() });
}

#[test]
fn one_port_lets_one_access_pass_a_cycle() {
    let mut listing = Listing::new();
    for number in 0..10 {
        listing = listing.load(1, 0, DATA + 8 * number, 8).fill(1);
    }
    // 20 instructions at issue 4 would take 5 cycles; the port takes 10.
    assert_eq!(cycles(&listing, &machine(4)), 5 + 10);
}

#[test]
fn a_slow_instruction_fills_the_reorder_buffer() {
    let machine = changed(4, |core| core.reorder_buffer = 4);
    // The division, issued in 4, retires in 14. Three instructions fit behind it, and the fifth is renamed in 15.
    let listing = Listing::new().op(Class::Divide, 1, [0, 0]).fill(4);
    let (times, core) = listing.out_of_order(&machine);
    assert_eq!(times.iter().map(|each| each.decode).collect::<Vec<_>>(), [3, 3, 3, 3, 15]);
    assert_eq!(times.iter().map(|each| each.retire).collect::<Vec<_>>(), [14, 14, 14, 14, 17]);
    assert_eq!(core.account.unit, 8, "cycles 15 and 16: the fifth is renamed in 15 and begins in 16");
}

#[test]
fn the_issue_queue_holds_only_what_waits() {
    let machine = changed(4, |core| core.issue_queue = 2);
    // Both users of the quotient (ready in 14) wait. The third instruction behind gets an entry when they have begun.
    let listing = Listing::new().op(Class::Divide, 1, [0, 0]).alu(2, [1, 0]).alu(3, [1, 0]).fill(1);
    // The division begins in 4, so the second user is renamed in 5.
    assert_eq!(decodes(&listing, &machine), [3, 3, 5, 15]);
}

#[test]
fn renaming_needs_a_register_that_is_free() {
    let machine = changed(4, |core| core.integer_registers = 2);
    let listing = Listing::new().op(Class::Divide, 1, [0, 0]).alu(2, [0, 0]).branch_not_taken().alu(3, [0, 0]);
    assert_eq!(decodes(&listing, &machine), [3, 3, 3, 15]);
}

#[test]
fn a_load_takes_its_data_from_the_store_before_it() {
    // The product is ready in 8. The store's address is known in 4, so the load may begin in 5, waits for the data
    // until 8 and has them in 9.
    let listing = Listing::new().op(Class::Multiply, 1, [0, 0]).store(1, 0, DATA, 8).load(2, 0, DATA + 4, 4);
    let (times, _) = listing.out_of_order(&machine(4));
    assert_eq!((times[1].issue, times[1].complete), (4, 8));
    assert_eq!((times[2].issue, times[2].complete), (5, 9));
}

#[test]
fn a_load_of_more_than_the_store_wrote_waits_until_it_is_written() {
    let listing = Listing::new().op(Class::Multiply, 1, [0, 0]).store(1, 0, DATA + 4, 4).load(2, 0, DATA, 8);
    let (times, _) = listing.out_of_order(&machine(4));
    // Retired in 8, written in 9, done in 10; a load takes a cycle.
    assert_eq!((times[1].retire, times[2].complete), (8, 11));
}

#[test]
fn how_loads_pass_stores_whose_address_comes_late() {
    // The store's base is a quotient, ready in 14; its data a product, ready in 8. The load is from another address.
    let operands = Listing::new().op(Class::Divide, 1, [0, 0]).op(Class::Multiply, 2, [0, 0]);
    let late_address = operands.store(2, 1, DATA, 8).load(3, 0, DATA + 64, 8);
    let late_data = Listing::new().op(Class::Divide, 1, [0, 0]).store(1, 0, DATA, 8).load(3, 0, DATA + 64, 8);
    for (listing, rule, begins) in [
        (&late_address, Disambiguation::Perfect, 4),
        (&late_address, Disambiguation::Addresses, 15),
        (&late_address, Disambiguation::ProgramOrder, 15),
        (&late_data, Disambiguation::Addresses, 5),
        (&late_data, Disambiguation::ProgramOrder, 14),
    ] {
        // One port each, so that only the rule delays the load.
        let machine = changed(8, |core| (core.unit[1].count, core.disambiguation) = (2, rule));
        let (times, _) = listing.out_of_order(&machine);
        assert_eq!(times.last().map(|load| load.issue), Some(begins), "{rule:?}");
    }
}

#[test]
fn the_load_queue_holds_loads_until_they_retire() {
    let machine = changed(4, |core| core.load_queue = 1);
    let listing = Listing::new().load(1, 0, DATA, 8).fill(1).load(2, 0, DATA, 8);
    // The first retires in 5.
    assert_eq!(decodes(&listing, &machine), [3, 3, 6]);
}

#[test]
fn the_store_queue_holds_stores_until_they_are_written() {
    let machine = changed(4, |core| core.store_queue = 1);
    // Retires in 5, is written in 6, done in 7: the next is renamed in 8.
    let listing = Listing::new().store(1, 0, DATA, 8).store(1, 0, DATA + 8, 8);
    assert_eq!(decodes(&listing, &machine), [3, 8]);
}

#[test]
fn a_misprediction_stops_fetch_until_the_branch_is_resolved() {
    let mut machine = machine(4);
    machine.predictor.kind = crate::machine::PredictorKind::Static;
    // A taken forward branch: resolved in 5, fetch continues one cycle later, in 6; retires in 11.
    let listing = Listing::new().transfer(Class::Branch, 0, 0, CODE + 0x100).fill(1);
    let (times, core) = listing.out_of_order(&machine);
    assert_eq!((times[0].complete, times[1].fetch, times[1].retire), (5, 6, 11));
    assert_eq!(core.account.prediction, 3 + 4 * 5, "the rest of cycle 5, and 6 to 10");
}

#[test]
fn a_taken_branch_ends_the_fetch_of_a_cycle() {
    let machine = changed(4, |core| core.fetch_past_taken = false);
    let listing = Listing::new().fill(1).transfer(Class::Branch, 0, 0, CODE + 0x100).fill(3);
    let (times, _) = listing.out_of_order(&machine);
    assert_eq!(times.iter().map(|each| each.fetch).collect::<Vec<_>>(), [0, 0, 1, 1, 1]);
}

#[test]
fn a_csr_access_waits_until_it_is_the_oldest_and_holds_back_the_rest() {
    let listing = Listing::new().op(Class::Divide, 1, [0, 0]).op(Class::Csr, 2, [0, 0]).fill(1);
    let (times, _) = listing.out_of_order(&machine(4));
    // The quotient retires in 14. The CSR access begins in 15 and is done in 16; then the addition is renamed.
    assert_eq!((times[1].issue, times[1].complete, times[2].decode), (15, 16, 16));
}

#[test]
fn a_fence_waits_for_accesses_before_it_and_holds_back_those_behind() {
    let listing = Listing::new().store(1, 0, DATA, 8).op(Class::Fence, 0, [0, 0]).load(1, 0, DATA + 64, 8).fill(1);
    let (times, _) = listing.out_of_order(&machine(4));
    // The store is done in 7; the fence takes a cycle; the load begins in 8; the addition does not wait.
    assert_eq!((times[1].issue, times[2].issue, times[3].issue), (7, 8, 4));
}
