//! Tests of the branch predictor against predictions worked out by hand.

use super::super::listing::{CODE, Listing};
use super::*;
use crate::machine::Machine;

fn tables(change: impl FnOnce(&mut machine::Predictor)) -> BranchPredictor {
    let mut description = machine::Predictor { kind: PredictorKind::Tables, ..machine::Predictor::default() };
    (description.btb_entries, description.bht_entries, description.counter_bits) = (4, 16, 2);
    change(&mut description);
    BranchPredictor::new(&description, 4)
}

fn guess(predictor: &mut BranchPredictor, listing: Listing) -> Guess {
    let retired = listing.list[0];
    predictor.predict(&retired, retired.pc)
}

fn taken(pc: u64) -> Listing {
    Listing::new().at(pc).transfer(Class::Branch, 0, 0, CODE + 0x400)
}

fn not_taken(pc: u64) -> Listing {
    Listing::new().at(pc).branch_not_taken()
}

#[test]
fn a_two_bit_counter_needs_two_surprises_to_change_its_mind() {
    let mut predictor = tables(|_| {});
    // Counters begin as weakly not taken.
    let outcomes = [true, true, true, false, true, false, false, false];
    let guesses: Vec<Guess> =
        outcomes.map(|outcome| guess(&mut predictor, if outcome { taken(CODE) } else { not_taken(CODE) })).into();
    use Guess::*;
    // Counter before each branch: 1 2 3 3 2 3 2 1.
    assert_eq!(guesses, [Wrong, Right, Right, Wrong, Right, Wrong, Wrong, Right]);
    assert_eq!((predictor.figures.branches, predictor.figures.wrong_branches), (8, 4));
}

#[test]
fn a_one_bit_counter_repeats_the_last_outcome() {
    let mut predictor = tables(|tables| tables.counter_bits = 1);
    let outcomes = [true, false, true, true];
    let guesses = outcomes.map(|outcome| guess(&mut predictor, if outcome { taken(CODE) } else { not_taken(CODE) }));
    assert_eq!(guesses, [Guess::Wrong, Guess::Wrong, Guess::Wrong, Guess::Right]);
}

#[test]
fn history_distinguishes_the_rounds_of_a_loop() {
    // Taken three times, then not, repeatedly. A counter alone mispredicts once a round. Two outcomes of history do not
    // identify the third round, three do.
    let wrong = |history| {
        let mut predictor = tables(|tables| tables.history = history);
        let mut wrong = 0;
        for round in 0..100 {
            for outcome in [true, true, true, false] {
                let listing = if outcome { taken(CODE) } else { not_taken(CODE) };
                wrong += usize::from(guess(&mut predictor, listing) == Guess::Wrong && round >= 20);
            }
        }
        wrong
    };
    assert_eq!(wrong(0), 80);
    assert!(wrong(2) > 0);
    assert_eq!(wrong(3), 0);
}

#[test]
fn the_target_buffer_forgets_what_was_used_longest_ago() {
    let mut predictor = tables(|_| {});
    let jump = |pc: u64| Listing::new().at(pc).transfer(Class::Jump, 0, 0, CODE + 0x400);
    for number in 0..4 {
        assert_eq!(guess(&mut predictor, jump(CODE + 8 * number)), Guess::Late, "never seen");
    }
    assert_eq!(guess(&mut predictor, jump(CODE)), Guess::Right);
    assert_eq!(guess(&mut predictor, jump(CODE + 0x80)), Guess::Late, "replaces the second");
    assert_eq!(guess(&mut predictor, jump(CODE)), Guess::Right);
    assert_eq!(guess(&mut predictor, jump(CODE + 8)), Guess::Late);
}

#[test]
fn an_indirect_jump_goes_where_it_went_last() {
    let mut predictor = tables(|_| {});
    let jump = |target| Listing::new().transfer(Class::IndirectJump, 0, 5, target);
    let guesses = [0x100, 0x100, 0x200, 0x200].map(|offset| guess(&mut predictor, jump(CODE + offset)));
    assert_eq!(guesses, [Guess::Wrong, Guess::Right, Guess::Wrong, Guess::Right]);
}

#[test]
fn a_stack_of_two_remembers_the_last_two_calls() {
    let mut predictor = tables(|tables| tables.ras_entries = 2);
    for number in 0..3_u64 {
        guess(&mut predictor, Listing::new().at(CODE + 16 * number).transfer(Class::Call, 1, 0, CODE + 0x100));
    }
    let back = |number: u64| Listing::new().at(CODE + 0x100).transfer(Class::Return, 0, 1, CODE + 16 * number + 4);
    assert_eq!(
        guess(&mut predictor, back(2)),
        Guess::Late,
        "right, but the target buffer does not have it as a return"
    );
    assert_eq!(guess(&mut predictor, back(1)), Guess::Right);
    assert_eq!(guess(&mut predictor, back(0)), Guess::Wrong);
}

#[test]
fn static_prediction_takes_backward_branches() {
    let description = machine::Predictor { kind: PredictorKind::Static, ..machine::Predictor::default() };
    let mut predictor = BranchPredictor::new(&description, 4);
    let branch = |target| Listing::new().transfer(Class::Branch, 0, 0, target);
    assert_eq!(guess(&mut predictor, branch(CODE - 16)), Guess::Late);
    assert_eq!(guess(&mut predictor, branch(CODE + 16)), Guess::Wrong);
    assert_eq!(guess(&mut predictor, not_taken(CODE).with(|branch| branch.address = CODE + 16)), Guess::Right);
    assert_eq!(guess(&mut predictor, not_taken(CODE).with(|branch| branch.address = CODE - 16)), Guess::Wrong);
}

/// Loops of a number of taken jumps, and the cycles per round on RTL of Rocket with E31's parameters: two cycles a
/// jump, and one more for each that its target buffer of 28 entries has lost.
#[test]
fn rockets_target_buffer_replaces_by_a_tree_of_bits() {
    let description = Machine::preset("e31").expect("a preset").predictor;
    for (jumps, cycles) in [(8, 16), (16, 36), (24, 54), (28, 63), (29, 65), (30, 67), (32, 72), (36, 108)] {
        let mut predictor = BranchPredictor::new(&description, 4);
        let place = |number: u64| CODE + 16 * number;
        let mut late = 0;
        for turn in 0..40 {
            for number in 0..jumps {
                let jump = Listing::new().at(place(number)).transfer(Class::Jump, 0, 0, place((number + 1) % jumps));
                late += u64::from(guess(&mut predictor, jump) != Guess::Right && turn >= 20);
            }
        }
        assert_eq!(2 * jumps + late / 20, cycles, "{jumps} jumps");
    }
}
