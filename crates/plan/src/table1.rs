//! Table 1 of the paper and two figures of the text below it, digit by digit.
//!
//! The paper truncates the digits of the table: equation 2 gives 6082.8 stages where it prints 6,082, and the speed-ups 1.0462 and 1.2158
//! are printed as 1.04 and 1.21. The 292 follows no rule: equation 2 gives 282.8. The two speed-ups of the text are rounded: 1.9794 is
//! printed as 1.98, 1.9993 as 2.00.

use super::{Limit, Plan, Problem, model};

/// Fits all figures of the table: R_comp as printed, and a barrier of 10.0 µs (measured: about 10.1).
const R_COMP: f64 = 0.037e-6;
const T_SYN: f64 = 10e-6;
const MB_10: u64 = 10_000_000;
const GB_10: u64 = 10_000_000_000;

/// M, R_comm, the speed-up in hundredths, m_opt.
const TABLE: [(u64, f64, u64, u64); 6] = [
    (MB_10, 0.8e-6, 104, 894),
    (MB_10, 0.08e-6, 145, 292),
    (MB_10, 0.008e-6, 120, 192),
    (GB_10, 0.8e-6, 104, 28_284),
    (GB_10, 0.08e-6, 146, 8_944),
    (GB_10, 0.008e-6, 121, 6_082),
];

/// The figure that contradicts equation 2, and the integer nearest to the result of equation 2.
const MISPRINT: u64 = 292;
const NOT_MISPRINTED: u64 = 283;

fn plan(size_bytes: u64, r_comm: f64) -> Plan {
    Problem::new(size_bytes, R_COMP, r_comm, T_SYN).plan().expect("the paper's figures are plausible")
}

#[test]
fn every_figure() {
    for (size_bytes, r_comm, hundredths, stages) in TABLE {
        let plan = plan(size_bytes, r_comm);
        assert_eq!((plan.speedup * 100.0) as u64, hundredths, "{plan:?}");
        if stages == MISPRINT {
            assert_eq!(plan.stages, NOT_MISPRINTED, "{plan:?}");
            assert_eq!((plan.optimal_stages * 10.0) as u64, 2828);
        } else {
            assert_eq!(plan.stages, stages, "{plan:?}");
        }
        assert_eq!((plan.compute_cores, plan.link_cores), (1, 1));
        let limit = if r_comm > R_COMP { Limit::Link } else { Limit::Compute };
        assert_eq!(plan.limit, limit);
    }
}

/// "If R_comm becomes equal to R_comp": 1.98 at m = 192, 2.00 at m = 6,082.
#[test]
fn the_best_network() {
    for (size_bytes, hundredths, stages) in [(MB_10, 198, 192), (GB_10, 200, 6_082)] {
        let plan = plan(size_bytes, R_COMP);
        assert_eq!(plan.stages, stages);
        assert_eq!((plan.speedup * 100.0).round() as u64, hundredths);
        assert_eq!(plan.limit, Limit::Balanced);
    }
}

/// The figure is a misprint: with 292 stages the time is longer than with 283, though only slightly.
#[test]
fn the_misprint_is_not_optimal() {
    let time = |stages: u64| model::time_s(MB_10 as f64, stages as f64, 0.08e-6, T_SYN);
    assert!(time(NOT_MISPRINTED) < time(MISPRINT));
}
