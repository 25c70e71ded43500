//! The bus between the level 1 caches and the shared memory system. Request wires carry requests and written data, and
//! response wires carry returning lines. Each set carries one transfer at a time.

use super::calendar::Calendar;
use crate::machine;
use serde::Serialize;

/// Statistics of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BusFigures {
    /// Requests, including writes.
    pub requests: u64,
    /// Cycles in which the request wires were busy.
    pub request_cycles: u64,
    /// Cycles in which the response wires were busy.
    pub response_cycles: u64,
    /// Cycles that requests and responses waited for the wires.
    pub waited: u64,
}

/// The bus. A machine without one never waits for wires.
#[derive(Clone, Debug)]
pub(super) struct BusModel {
    wires: Option<Wires>,
    pub(super) figures: BusFigures,
}

#[derive(Clone, Debug)]
struct Wires {
    request: u32,
    width: u32,
    requests: Calendar,
    responses: Calendar,
}

impl BusModel {
    pub(super) fn new(description: Option<&machine::Bus>) -> BusModel {
        let wires = description.map(|bus| Wires {
            request: bus.request,
            width: bus.width,
            requests: Calendar::new(1),
            responses: Calendar::new(1),
        });
        BusModel { wires, figures: BusFigures::default() }
    }

    /// Drops bookkeeping before `cycle`. No hart will ask for earlier cycles.
    pub(super) fn forget_before(&mut self, cycle: u64) {
        if let Some(wires) = &mut self.wires {
            wires.requests.forget_before(cycle);
            wires.responses.forget_before(cycle);
        }
    }

    /// Sends a request with `bytes` of data at `cycle`, or as soon as the wires are free. Returns the cycle in which it
    /// begins.
    #[inline]
    pub(super) fn request(&mut self, cycle: u64, bytes: u32) -> u64 {
        self.figures.requests += 1;
        let Some(wires) = &mut self.wires else {
            return cycle;
        };
        let length = wires.request.max(bytes.div_ceil(wires.width));
        let begin = wires.requests.take_run(cycle, length);
        self.figures.request_cycles += u64::from(length);
        self.figures.waited += begin - cycle;
        begin
    }

    /// Returns a line that is ready at `cycle`. The requested data come first; the result is the cycle in which they
    /// arrive.
    #[inline]
    pub(super) fn respond(&mut self, cycle: u64, bytes: u32) -> u64 {
        let Some(wires) = &mut self.wires else {
            return cycle;
        };
        let length = bytes.div_ceil(wires.width);
        let begin = wires.responses.take_run(cycle, length);
        self.figures.response_cycles += u64::from(length);
        self.figures.waited += begin - cycle;
        begin
    }
}
