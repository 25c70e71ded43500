//! Properties of all plans, and bounds and divisions of cores computed by hand.

use proptest::prelude::{prop_assert, proptest};
use proptest::strategy::Strategy as Generator;

use super::{Compute, Invalid, Limit, Problem, Rate, Strategy, SyncCost, model};

/// 1000 bytes at 1 s per byte on both sides, 10 s for each synchronisation. Equation 2 gives 10 stages of 100 bytes, equation 1
/// 11 · 100 + 10 · 10 = 1200 s.
fn thousand() -> Problem {
    Problem::new(1000, 1.0, 1.0, 10.0)
}

fn with_bounds(min_batch: Option<u64>, buffer: Option<u64>) -> Problem {
    Problem { min_batch_bytes: min_batch, buffer_bytes: buffer, ..thousand() }
}

#[test]
fn without_bounds() {
    let plan = thousand().plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.limit), (10, 100, Limit::Balanced));
    assert_eq!((plan.time_s, plan.sequential_s, plan.lower_bound_s), (1200.0, 2000.0, 1000.0));
    assert_eq!(plan.speedup, 2000.0 / 1200.0);
}

/// By hand: the smallest batch of 300 bytes allows 3 stages, 4 · 1000/3 + 30 s.
#[test]
fn a_smallest_batch_bounds_the_stages() {
    let plan = with_bounds(Some(300), None).plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.limit), (3, 334, Limit::MinBatch));
    assert!((plan.time_s - (4000.0 / 3.0 + 30.0)).abs() < 1e-9);
    // A smaller bound has no effect.
    assert_eq!(with_bounds(Some(100), None).plan().unwrap(), thousand().plan().unwrap());
    // A batch larger than the transfer leaves one stage: 2 · 1000 + 10 s.
    let plan = with_bounds(Some(5000), None).plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.time_s, plan.limit), (1, 1000, 2010.0, Limit::MinBatch));
}

/// By hand: a buffer of 60 bytes needs 17 stages, 18 · 1000/17 + 170 s.
#[test]
fn a_buffer_bounds_the_batch() {
    let plan = with_bounds(None, Some(60)).plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.limit), (17, 59, Limit::Buffer));
    assert!((plan.time_s - (18_000.0 / 17.0 + 170.0)).abs() < 1e-9);
    assert_eq!(with_bounds(None, Some(100)).plan().unwrap(), thousand().plan().unwrap());
    // Stages of exactly 400 bytes do not add up to 1000; the buffer wins.
    let plan = with_bounds(Some(400), Some(400)).plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.limit), (3, 334, Limit::Buffer));
}

/// A synchronisation of 4000 s: equation 2 gives half a stage.
#[test]
fn expensive_synchronisation() {
    let plan = Problem { sync: SyncCost::Given(4000.0), ..thousand() }.plan().unwrap();
    assert_eq!((plan.stages, plan.time_s, plan.limit), (1, 6000.0, Limit::SyncCost));
    assert!(plan.speedup < 1.0);
}

/// With a single core nothing overlaps and nothing synchronises.
#[test]
fn one_core() {
    let plan = Problem { cores: 1, ..thousand() }.plan().unwrap();
    assert_eq!((plan.stages, plan.time_s, plan.speedup, plan.limit), (1, 2000.0, 1.0, Limit::OneCore));
    assert_eq!(plan.lower_bound_s, 1000.0);
    let plan = Problem { cores: 1, buffer_bytes: Some(60), ..thousand() }.plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.time_s), (17, 59, 2000.0));
    // A buffer of one chunk, or a transfer of one, fills a single lane: 4 ns a byte beside 2 ns of the link.
    for (size_bytes, buffer_bytes, speedup) in [(1 << 20, Some(16384), 0.5), (16384, None, 1.0)] {
        let plan = Problem { cores: 1, buffer_bytes, ..measured(size_bytes, 2e-9) }.plan().unwrap();
        assert!((plan.time_s - size_bytes as f64 * 6e-9).abs() < 1e-12, "{plan:?}");
        assert!((plan.speedup - speedup).abs() < 1e-9, "{plan:?}");
    }
}

/// Fig. 5 with four cores: three compute if computing is three times slower, three send if there are three links and sending is slower,
/// and cores that would not help stay idle.
#[test]
fn cores_go_to_the_slower_side() {
    let of = |r_comp, r_comm, links| {
        let plan = Problem { cores: 4, links, ..Problem::new(1_000_000, r_comp, r_comm, 1e-9) }.plan().unwrap();
        (plan.compute_cores, plan.link_cores, plan.limit)
    };
    assert_eq!(of(3e-6, 1e-6, 1), (3, 1, Limit::Balanced));
    assert_eq!(of(3e-6, 1e-6, 3), (3, 1, Limit::Balanced));
    assert_eq!(of(1e-6, 3e-6, 3), (1, 3, Limit::Balanced));
    assert_eq!(of(1e-6, 3e-6, 2), (1, 2, Limit::Link));
    assert_eq!(of(1e-6, 3e-6, 1), (1, 1, Limit::Link));
    assert_eq!(of(9e-6, 1e-6, 1), (3, 1, Limit::Compute));
}

/// Section 2.2 inside of the pipeline, with four cores of which one sends. CTR split over three takes 1/6 + 1/2 of the time, so it is 1.5
/// times as fast; with a separate core for the MAC, twice.
#[test]
fn one_message_beside_its_sending() {
    let r_comp = |strategy| {
        let compute = Compute::Given { r_comp: 6e-6, strategy };
        Problem { compute, cores: 4, ..Problem::new(1_000_000, 1.0, 1e-9, 1e-9) }.plan().unwrap().r_comp
    };
    assert!((r_comp(Strategy::Serial) - 6e-6).abs() < 1e-15);
    assert!((r_comp(Strategy::CtrSplit) - 4e-6).abs() < 1e-15);
    assert!((r_comp(Strategy::MacApart) - 3e-6).abs() < 1e-15);
    assert!((r_comp(Strategy::Chunks) - 2e-6).abs() < 1e-15);
}

/// Chunks cost a quarter with four lanes filled, and half with two cores.
fn measured(size_bytes: u64, r_comm: f64) -> Problem {
    let rate = |count, seconds_per_byte| Rate { count, seconds_per_byte };
    Problem {
        compute: Compute::Measured {
            by_lanes: vec![rate(1, 4e-9), rate(4, 1e-9)],
            by_cores: vec![rate(1, 1e-9), rate(3, 0.5e-9)],
        },
        cores: 2,
        min_batch_bytes: Some(16384),
        sync: SyncCost::Measured(vec![(2, 1e-6), (4, 3e-6)]),
        ..Problem::new(size_bytes, 1.0, r_comm, 1.0)
    }
}

/// 64 chunks over a link faster than one lane: with full lanes equation 2 gives sqrt(2^20 · 2e-9 / 1e-6) = 45.8 stages, but more than 16
/// would have fewer than four chunks each.
#[test]
fn stages_keep_lanes_full() {
    let plan = measured(1 << 20, 2e-9).plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.limit), (16, 65536, Limit::Lanes));
    assert_eq!((plan.r_comp, plan.sync_s), (1e-9, 1e-6));
    // The link is slower than a single lane: as many stages as chunks; sqrt(2^20 · 8e-9 / 1e-6) = 91.6 would be optimal.
    let plan = measured(1 << 20, 8e-9).plan().unwrap();
    assert_eq!((plan.stages, plan.stage_bytes, plan.limit), (64, 16384, Limit::MinBatch));
    assert_eq!(plan.r_comp, 4e-9);
}

/// Two cores with four lanes each need eight chunks per stage, so 8 stages, although equation 2 gives
/// sqrt(2^20 · 2/3 e-9 / 3e-6) = 15.3.
#[test]
fn stages_keep_the_lanes_of_all_cores_full() {
    let plan = Problem { cores: 3, ..measured(1 << 20, 0.4e-9) }.plan().unwrap();
    assert_eq!((plan.compute_cores, plan.stages, plan.limit), (2, 8, Limit::Lanes));
    assert_eq!(plan.stage_bytes, 8 * 16384);
}

/// Two cores compute at the mean of the speeds of one and three: 1.5e9 bytes per second. Three threads synchronise at the cost of four.
#[test]
fn measured_cores() {
    let plan = Problem { cores: 3, ..measured(1 << 40, 0.1e-9) }.plan().unwrap();
    assert_eq!((plan.compute_cores, plan.link_cores, plan.limit), (2, 1, Limit::Compute));
    assert!((plan.r_comp - 1.0 / 1.5e9).abs() < 1e-18);
    assert_eq!(plan.sync_s, 3e-6);
    // There is no measurement above three: no faster.
    let plan = Problem { cores: 64, ..measured(1 << 40, 0.1e-9) }.plan().unwrap();
    assert_eq!((plan.compute_cores, plan.r_comp), (3, 0.5e-9));
}

#[test]
fn impossible_figures_are_refused() {
    let invalid = |change: fn(&mut Problem)| {
        let mut problem = thousand();
        change(&mut problem);
        problem.plan().unwrap_err()
    };
    let given = |r_comp| Compute::Given { r_comp, strategy: Strategy::Chunks };
    assert_eq!(invalid(|problem| problem.size_bytes = 0), Invalid::Size);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Problem { compute: given(wrong), ..thousand() }.plan(), Err(Invalid::ComputeRate));
        assert_eq!(Problem { r_comm: wrong, ..thousand() }.plan(), Err(Invalid::LinkRate));
    }
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Problem { sync: SyncCost::Given(wrong), ..thousand() }.plan(), Err(Invalid::SyncCost));
    }
    assert_eq!(invalid(|problem| problem.sync = SyncCost::Given(0.0)), Invalid::NoOptimum);
    assert_eq!(invalid(|problem| problem.sync = SyncCost::Measured(vec![])), Invalid::SyncCost);
    assert_eq!(invalid(|problem| problem.cores = 0), Invalid::Cores);
    assert_eq!(invalid(|problem| problem.cores = 1025), Invalid::Cores);
    assert_eq!(invalid(|problem| problem.links = 0), Invalid::Cores);
    assert_eq!(invalid(|problem| problem.min_batch_bytes = Some(0)), Invalid::Bound);
    assert_eq!(invalid(|problem| problem.buffer_bytes = Some(0)), Invalid::Bound);
    assert_eq!(with_bounds(Some(101), Some(100)).plan(), Err(Invalid::BufferBelowBatch));
    assert_eq!(Problem::new(u64::MAX, 1e300, 1e300, 1.0).plan(), Err(Invalid::Endless));
    let unsorted = Compute::Measured { by_lanes: vec![], by_cores: vec![] };
    assert_eq!(Problem { compute: unsorted, ..thousand() }.plan(), Err(Invalid::ComputeRate));
}

/// With free synchronisation the optimum is the largest number of stages that the bounds allow.
#[test]
fn free_synchronisation() {
    let problem = Problem { sync: SyncCost::Given(0.0), min_batch_bytes: Some(10), ..thousand() };
    let plan = problem.plan().unwrap();
    assert_eq!((plan.stages, plan.time_s, plan.limit), (100, 1010.0, Limit::MinBatch));
}

/// Random sizes, rates and costs, over many orders of magnitude.
fn problems() -> impl Generator<Value = Problem> {
    (1u64..1 << 45, -10.0..-5.0, -10.0..-5.0, -8.0..-2.0, 2usize..9, 1usize..4).prop_map(
        |(size_bytes, r_comp, r_comm, sync_s, cores, links): (u64, f64, f64, f64, usize, usize)| {
            let ten = |exponent: f64| 10f64.powf(exponent);
            Problem { cores, links, ..Problem::new(size_bytes, ten(r_comp), ten(r_comm), ten(sync_s)) }
        },
    )
}

/// Whether `a` takes no longer than `b`, to the digits that the planner considers.
fn is_no_slower(a: &Problem, b: &Problem) -> bool {
    a.plan().unwrap().time_s <= b.plan().unwrap().time_s * (1.0 + 1e-8)
}

proptest! {
    #[test]
    fn no_neighbour_is_better(problem in problems()) {
        let plan = problem.plan().unwrap();
        let time = |stages: u64| problem.time_s(stages as f64, plan.compute_cores, plan.link_cores);
        let least = plan.time_s * (1.0 - 1e-8);
        for stages in [plan.stages.saturating_sub(1), plan.stages + 1, plan.stages * 2, plan.stages / 2] {
            if (1..=problem.size_bytes).contains(&stages) {
                prop_assert!(time(stages) >= least, "{stages}: {plan:?}");
            }
        }
        prop_assert!(plan.time_s >= plan.lower_bound_s);
        prop_assert!(plan.compute_cores + plan.link_cores <= problem.cores && plan.link_cores <= problem.links);
    }

    /// The derivative of equation 1 changes its sign at the result of equation 2.
    #[test]
    fn equation_two_gives_the_minimum_of_equation_one(size in 1e3..1e12, r in 1e-10..1e-5, sync in 1e-8..1e-2) {
        let optimal = model::optimal_stages(size, r, sync);
        let time = |factor: f64| model::time_s(size, optimal * factor, r, sync);
        for factor in [0.5, 0.9, 1.1, 2.0] {
            prop_assert!(time(1.0) < time(factor));
        }
    }

    #[test]
    fn more_of_anything_never_harms(problem in problems()) {
        let more_cores = Problem { cores: problem.cores + 1, ..problem.clone() };
        prop_assert!(is_no_slower(&more_cores, &problem));
        let more_links = Problem { links: problem.links + 1, ..problem.clone() };
        prop_assert!(is_no_slower(&more_links, &problem));
        let faster_link = Problem { r_comm: problem.r_comm / 1.5, ..problem.clone() };
        prop_assert!(is_no_slower(&faster_link, &problem));
        let larger = Problem { size_bytes: problem.size_bytes + 1000, ..problem.clone() };
        prop_assert!(is_no_slower(&problem, &larger));
    }

    #[test]
    fn bounds_hold_and_only_cost(problem in problems(), batch in 1u64..1 << 30, times in 2u64..100) {
        // If one bound is twice the other, an integer number of stages satisfies both.
        let buffer = batch * times;
        let bounded =
            Problem { min_batch_bytes: Some(batch), buffer_bytes: Some(buffer), ..problem.clone() };
        let plan = bounded.plan().unwrap();
        prop_assert!(plan.stage_bytes <= buffer);
        prop_assert!(plan.stage_bytes >= batch.min(problem.size_bytes));
        prop_assert!(is_no_slower(&problem, &bounded));
    }
}
