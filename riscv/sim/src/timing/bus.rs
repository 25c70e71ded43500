//! The bus between level 1 caches and what all harts share: request wires with what is written, and response wires with
//! the lines that come back, each taken by one thing at a time.

use super::calendar::Calendar;
use crate::machine;
use serde::Serialize;

/// What the bus did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BusFigures {
    /// Requests, writes included.
    pub requests: u64,
    /// Cycles in which the request wires were taken.
    pub request_cycles: u64,
    /// Cycles in which the response wires were taken.
    pub response_cycles: u64,
    /// Cycles that requests and responses waited for the wires.
    pub waited: u64,
}

/// The bus, or none: then everything goes at once.
#[derive(Clone, Debug)]
pub(super) struct Bus {
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

impl Bus {
    pub(super) fn new(description: Option<&machine::Bus>) -> Bus {
        let wires = description.map(|bus| Wires {
            request: bus.request,
            width: bus.width,
            requests: Calendar::new(1),
            responses: Calendar::new(1),
        });
        Bus { wires, figures: BusFigures::default() }
    }

    /// No hart will ask for cycles before this one.
    pub(super) fn forget_before(&mut self, cycle: u64) {
        if let Some(wires) = &mut self.wires {
            wires.requests.forget_before(cycle);
            wires.responses.forget_before(cycle);
        }
    }

    /// Sends a request with `bytes` of data at `cycle` or as soon as the wires are free, and returns when it began.
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

    /// Sends a line back that is there at `cycle`; what was asked for comes first, and the return value is when.
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
