//! A program on a machine with timing models, which step the harts.
//!
//! The hart that is furthest behind runs next (in a tie, the one with the lower number). So a run gives the same result
//! every time, on every host. An instruction accesses memory when its hart's turn comes, at the cycle in which the
//! instruction before it retired.

use std::ops::Range;

use crate::elf::Image;
use crate::error::{Error, ErrorKind};
use crate::hart::{Event, Hart};
use crate::machine::Machine;
use crate::profile::Profile;
use crate::report::{CLASSES, FunctionReport, HartReport, HartTiming, RegionCounter, Report, Spent, TimingReport, ipc};
use crate::retired::{Class, Retired};
use crate::system::System;
use crate::timing::{Account, InOrderModel, LimitModel, MemoryModel, OutOfOrderModel, PredictFigures, Times, Trace};

/// How a [`Simulation`] counts cycles, on a machine with a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// The cycles that the machine's pipeline, caches and bus take.
    #[default]
    Pipeline,
    /// The fewest cycles that data flow allows: every instruction begins when its operands are ready.
    Limit,
}

/// A program that runs on a machine. Without a pipeline the machine has no timing model.
#[derive(Debug)]
pub struct Simulation {
    system: System,
    machine: Machine,
    cores: CoreModels,
    timing: TimingState,
}

#[derive(Debug)]
enum CoreModels {
    Untimed,
    InOrder(Vec<InOrderModel>),
    OutOfOrder(Vec<OutOfOrderModel>),
    Limit(Box<LimitModel>),
}

/// State that the harts share in time, and statistics.
#[derive(Debug)]
struct TimingState {
    memory: MemoryModel,
    regions: Vec<RegionCounter>,
    mix: [u64; Class::COUNT],
    functions: FunctionCounts,
    trace: Option<Trace>,
    profile: Option<Profile>,
    /// The state of each hart's sleep: `None` if awake, otherwise the cycle at which it wakes, if its own timer wakes
    /// it.
    asleep: Vec<Option<Option<u64>>>,
}

impl Simulation {
    /// Loads a program into a machine. Every hart starts at the program's entry.
    ///
    /// # Errors
    ///
    /// The machine is invalid, or the program does not fit into it.
    pub fn new(machine: &Machine, model: Model, image: Image) -> Result<Simulation, Error> {
        let system = System::new(machine, image)?;
        let harts = machine.harts;
        let cores = match (model, &machine.in_order, &machine.out_of_order) {
            (_, None, None) => CoreModels::Untimed,
            (Model::Limit, ..) => CoreModels::Limit(Box::new(LimitModel::new(machine))),
            (_, Some(_), _) => CoreModels::InOrder((0..harts).map(|hart| InOrderModel::new(machine, hart)).collect()),
            _ => CoreModels::OutOfOrder((0..harts).map(|hart| OutOfOrderModel::new(machine, hart)).collect()),
        };
        let timing = TimingState {
            memory: MemoryModel::new(machine),
            regions: vec![RegionCounter::default(); harts],
            mix: [0; Class::COUNT],
            functions: FunctionCounts::new(system.image(), harts),
            trace: None,
            profile: None,
            asleep: vec![None; harts],
        };
        Ok(Simulation { system, machine: machine.clone(), cores, timing })
    }

    /// Records the instructions in these cycles, for [`Simulation::trace`]. An empty range records nothing. With
    /// [`Model::Limit`] all instructions overlap, and recording takes the square of their number.
    pub fn record(&mut self, window: Range<u64>) {
        self.timing.trace = Some(Trace::new(window, self.system.harts.len()));
    }

    /// Follows calls from now on, for [`TimingReport::profile`] and [`Simulation::folded_stacks`]. Without a timing model
    /// it has no effect.
    pub fn profile(&mut self) {
        self.timing.profile = Some(Profile::new(self.system.image(), self.system.harts.len()));
    }

    /// The profile, after a [report](Simulation::report): a line for each stack of functions, with semicolons between
    /// them and the cycles of the last one at the end. Programs for flame graphs read it.
    #[must_use]
    pub fn folded_stacks(&self) -> Option<String> {
        self.timing.profile.as_ref().map(|profile| profile.folded(self.system.image()))
    }

    /// The recorded instructions, if [`Simulation::record`] was called.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        self.timing.trace.as_ref()
    }

    /// The harts, memory and devices.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The harts, memory and devices, to change them before a run.
    pub fn system_mut(&mut self) -> &mut System {
        &mut self.system
    }

    /// The program's output, as in [`Bus::console`](crate::Bus::console).
    #[must_use]
    pub fn console(&self) -> &[u8] {
        self.system.bus.console()
    }

    /// Number of instructions completed by all harts.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.system.instructions()
    }

    /// The cycle that the hart furthest ahead has reached.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.system.harts.iter().map(|hart| hart.cycle).max().unwrap_or(0)
    }

    /// Runs up to `steps` instructions or traps, or until the program ends, and returns its exit code. The result is
    /// `None` if the program has not ended; some programs never do. Once it has ended, further calls run nothing and
    /// return the same code.
    ///
    /// The result does not depend on how a run is divided into calls. For example,
    /// `simulation.run(1_000_000)?.is_none()` shows that a program has not ended after a million steps.
    ///
    /// # Errors
    ///
    /// The program cannot continue. The error contains the place.
    pub fn run(&mut self, steps: u64) -> Result<Option<u64>, Error> {
        if let Some(exit_code) = self.system.bus.exit_code() {
            return Ok(Some(exit_code));
        }
        if let Some(tracker) = &mut self.system.tracker {
            tracker.begin(&self.system.harts);
        }
        match &mut self.cores {
            CoreModels::Untimed => self.system.run(steps),
            CoreModels::InOrder(cores) => self.timing.run(&mut self.system, cores, steps),
            CoreModels::OutOfOrder(cores) => self.timing.run(&mut self.system, cores, steps),
            CoreModels::Limit(cores) => self.timing.run(&mut self.system, &mut **cores, steps),
        }
    }

    /// Runs until the program ends, and returns the report. Some programs never end.
    ///
    /// # Errors
    ///
    /// As [`Simulation::run`].
    pub fn run_to_end(&mut self) -> Result<Report, Error> {
        while self.run(u64::MAX)?.is_none() {}
        Ok(self.report())
    }

    /// The results up to now.
    pub fn report(&mut self) -> Report {
        let (model, issue, mut report) = match &mut self.cores {
            CoreModels::Untimed => return self.system.report(),
            CoreModels::InOrder(cores) => ("in-order", 1, self.timing.report(&self.system, cores)),
            CoreModels::OutOfOrder(cores) => {
                let issue = self.machine.out_of_order.as_ref().map_or(0, |core| core.issue);
                ("out-of-order", issue, self.timing.report(&self.system, cores))
            }
            CoreModels::Limit(cores) => ("limit", 0, self.timing.report(&self.system, &mut **cores)),
        };
        let mut slots = Account::default();
        for hart in &report.harts {
            slots.add(&hart.timing.as_ref().map_or_else(Account::default, |timing| timing.slots));
        }
        report.timing = Some(TimingReport {
            machine: self.machine.name.clone(),
            model,
            issue,
            slots,
            mix: CLASSES
                .into_iter()
                .map(|(class, name)| (name, self.timing.mix[class as usize]))
                .filter(|(_, count)| *count > 0)
                .collect(),
            shared: self.timing.memory.shared_figures(),
            functions: self.timing.functions.report(self.system.image()),
            profile: self.timing.profile.as_ref().map(|profile| profile.functions(self.system.image())),
            lines: self.timing.profile.as_ref().map_or_else(Vec::new, |profile| profile.lines(self.system.image())),
        });
        report
    }
}

/// The timing models of all harts.
trait HartModels {
    /// Times the next instruction of a hart.
    fn step(&mut self, hart: usize, retired: &Retired, memory: &mut MemoryModel) -> Times;
    /// Corrects the account after a step that was a trap instead of an instruction.
    fn trapped(&mut self, hart: usize);
    /// The cycle that a hart has reached.
    fn cycle(&self, hart: usize) -> u64;
    /// What the hart's counters and timers show after a step. Before it they have shown `before`.
    #[inline]
    fn clock(&self, hart: usize, _before: u64) -> u64 {
        self.cycle(hart)
    }
    /// The order of turns: the hart with the lowest value runs next.
    #[inline]
    fn turn(&self, hart: usize) -> u64 {
        self.cycle(hart)
    }
    /// The turn of a hart that sleeps until `cycle`.
    fn turn_at(&self, cycle: u64) -> u64 {
        cycle
    }
    /// The earliest cycle for which the hart can still access memory.
    fn earliest(&self, hart: usize) -> u64;
    /// Puts a hart to sleep until `cycle`.
    fn sleep_until(&mut self, hart: usize, cycle: u64);
    /// Completes a hart's account and returns its total cycles.
    fn finish(&mut self, hart: usize) -> u64;
    /// How the hart's slots were used.
    fn account(&self, hart: usize) -> Account;
    /// Statistics of the hart's branch prediction.
    fn prediction(&self, hart: usize) -> PredictFigures;
}

macro_rules! impl_hart_models {
    ($core:ty) => {
        impl HartModels for Vec<$core> {
            #[inline]
            fn step(&mut self, hart: usize, retired: &Retired, memory: &mut MemoryModel) -> Times {
                self[hart].step(retired, memory)
            }

            fn trapped(&mut self, hart: usize) {
                self[hart].account.retired -= 1;
                self[hart].account.serial += 1;
            }

            #[inline]
            fn cycle(&self, hart: usize) -> u64 {
                self[hart].cycle()
            }

            #[inline]
            fn earliest(&self, hart: usize) -> u64 {
                self[hart].earliest()
            }

            fn sleep_until(&mut self, hart: usize, cycle: u64) {
                self[hart].sleep_until(cycle);
            }

            fn finish(&mut self, hart: usize) -> u64 {
                self[hart].finish()
            }

            fn account(&self, hart: usize) -> Account {
                self[hart].account
            }

            fn prediction(&self, hart: usize) -> PredictFigures {
                self[hart].predictor().figures
            }
        }
    };
}

impl_hart_models!(InOrderModel);
impl_hart_models!(OutOfOrderModel);

impl HartModels for LimitModel {
    fn step(&mut self, hart: usize, retired: &Retired, _: &mut MemoryModel) -> Times {
        LimitModel::step(self, hart, retired)
    }

    fn trapped(&mut self, hart: usize) {
        LimitModel::trapped(self, hart);
    }

    fn cycle(&self, hart: usize) -> u64 {
        self.cycles(hart)
    }

    fn clock(&self, hart: usize, before: u64) -> u64 {
        // A loop that waits for a time does not make the path longer.
        self.cycles(hart).max(before + 1)
    }

    fn turn(&self, hart: usize) -> u64 {
        // A hart that spins on another does not make its path longer, so turns are decided by instructions.
        self.account(hart).retired / TURN_INSTRUCTIONS
    }

    fn turn_at(&self, cycle: u64) -> u64 {
        // Clocks advance at least once per instruction.
        cycle / TURN_INSTRUCTIONS
    }

    fn earliest(&self, _: usize) -> u64 {
        0
    }

    /// Makes no path longer.
    fn sleep_until(&mut self, _: usize, _: u64) {}

    fn finish(&mut self, hart: usize) -> u64 {
        self.cycles(hart)
    }

    fn account(&self, hart: usize) -> Account {
        LimitModel::account(self, hart)
    }

    fn prediction(&self, _: usize) -> PredictFigures {
        PredictFigures::default()
    }
}

/// Instructions in the turn of a hart without limits.
const TURN_INSTRUCTIONS: u64 = 256;
/// Number of steps between calls of `TimingState::forget_past`, which drops bookkeeping of past cycles.
const FORGET_INTERVAL: u32 = 64;

impl TimingState {
    fn run<C: HartModels>(&mut self, system: &mut System, cores: &mut C, steps: u64) -> Result<Option<u64>, Error> {
        for hart in 0..self.asleep.len() {
            // A debugger has sent it elsewhere.
            if self.asleep[hart].is_some() && !system.harts[hart].is_waiting() {
                let now = system.harts.iter().map(|hart| hart.cycle).max().unwrap_or(0);
                self.end_sleep(system, cores, hart, now);
            }
        }
        let mut left = steps;
        let mut retired = Retired::default();
        while left > 0 {
            let Some((hart, horizon)) = self.next(system, cores) else {
                if system.settle()? {
                    match system.bus.exit_code() {
                        Some(exit_code) => return Ok(Some(exit_code)),
                        None => continue,
                    }
                }
                return Err(system.explain(Error::new(ErrorKind::Asleep).at(system.harts[0].place())));
            };
            let mut until_forget = 0;
            while left > 0 && (cores.turn(hart), hart) <= horizon {
                if until_forget == 0 {
                    until_forget = FORGET_INTERVAL;
                    self.forget_past(cores);
                }
                (left, until_forget) = (left - 1, until_forget - 1);
                let event = match system.harts[hart].step(&mut system.bus, &mut retired) {
                    Ok(event) => event,
                    Err(error) => return Err(system.explain(*error)),
                };
                if let Some(tracker) = &mut system.tracker
                    && let Err(error) =
                        tracker.follow_event(event, &system.harts[hart], &mut system.bus, &system.image, &retired)
                {
                    return Err(system.explain(*error));
                }
                if event == Event::Stopped {
                    return Ok(None);
                }
                if event == Event::Waiting {
                    self.asleep[hart] = Some(system.harts[hart].wakes_at(&system.bus));
                    break;
                }
                let before = cores.cycle(hart);
                let times = cores.step(hart, &retired, &mut self.memory);
                let cycle = cores.cycle(hart);
                let state = &mut system.harts[hart];
                state.cycle = cores.clock(hart, state.cycle);
                if state.counts_events {
                    self.count_events(state, event, &retired, cores);
                }
                let instructions = u64::from(event != Event::Trapped);
                self.mix[retired.class as usize] += instructions;
                self.functions.spend(hart, retired.pc, (instructions, cycle - before), system.image());
                if let Some(trace) = &mut self.trace
                    && trace.wants(&times)
                {
                    trace.add(hart, &retired, &times, &FunctionCounts::name(system.image(), &retired));
                }
                match event {
                    Event::Mark(number) => self.regions[hart].enter(number, spent(&system.harts[hart], cores)),
                    Event::Trapped => cores.trapped(hart),
                    Event::Exited => return Ok(system.bus.exit_code()),
                    _ => {}
                }
                if self.profile.is_some() {
                    self.follow_profile(system, hart, event, &retired, cycle - before, cores);
                }
                if retired.class.is_store() && !system.bus.memory.is_writable(retired.address) {
                    // A store to a device may wake another hart.
                    self.wake(system, system.harts[hart].cycle);
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Adds a hart's last step to the profile. Out of line, which runs without a profile are faster with.
    #[cold]
    #[inline(never)]
    fn follow_profile<C: HartModels>(
        &mut self,
        system: &System,
        hart: usize,
        event: Event,
        retired: &Retired,
        cycles: u64,
        cores: &mut C,
    ) {
        if let Some(profile) = &mut self.profile {
            profile.count(retired.pc, u64::from(event != Event::Trapped), cycles);
            let spent = || spent(&system.harts[hart], cores);
            profile.follow(hart, retired, event == Event::Trapped, &system.image, spent);
        }
    }

    /// Counts the events of a hart's last step.
    #[cold]
    #[inline(never)]
    fn count_events<C: HartModels>(&mut self, hart: &mut Hart, event: Event, retired: &Retired, cores: &C) {
        let PredictFigures { wrong_branches, wrong_targets, .. } = cores.prediction(hart.id());
        let code_misses = self.memory.hart_figures(hart.id()).l1i.misses;
        let is_outside = retired.bytes > 0 && self.memory.is_outside(retired.address);
        let now = [wrong_branches, wrong_targets, code_misses];
        hart.count_events(event == Event::Trapped, retired, now, is_outside);
    }

    /// The hart whose turn it is, and the latest turn up to which it may run before another hart follows.
    fn next<C: HartModels>(&mut self, system: &mut System, cores: &mut C) -> Option<(usize, (u64, usize))> {
        let mut first = None;
        let mut second = (u64::MAX, usize::MAX);
        for hart in 0..self.asleep.len() {
            let turn = match self.asleep[hart] {
                None => cores.turn(hart),
                Some(Some(wakes)) => cores.turn_at(wakes),
                Some(None) => continue,
            };
            match first {
                None => first = Some((turn, hart)),
                Some(lowest) if (turn, hart) < lowest => {
                    second = lowest;
                    first = Some((turn, hart));
                }
                _ => second = second.min((turn, hart)),
            }
        }
        let (_, hart) = first?;
        if let Some(Some(wakes)) = self.asleep[hart] {
            self.end_sleep(system, cores, hart, wakes);
        }
        Some((hart, second))
    }

    /// Ends a hart's sleep in `cycle`.
    fn end_sleep<C: HartModels>(&mut self, system: &mut System, cores: &mut C, hart: usize, cycle: u64) {
        self.asleep[hart] = None;
        let before = cores.cycle(hart);
        cores.sleep_until(hart, cycle);
        let slept = cores.cycle(hart) - before;
        let state = &mut system.harts[hart];
        state.cycle = cycle.max(state.cycle);
        // The hart is behind the `wfi`, whose time this is, or where a debugger has sent it.
        let pc = if state.is_waiting() { state.pc().wrapping_sub(4) } else { state.pc() };
        self.functions.spend(hart, pc, (0, slept), system.image());
        if let Some(profile) = &mut self.profile {
            profile.count(pc, 0, slept);
        }
    }

    /// Updates when sleeping harts wake, after a device access in `cycle`.
    fn wake(&mut self, system: &System, cycle: u64) {
        for (asleep, hart) in self.asleep.iter_mut().zip(&system.harts) {
            if let Some(wakes) = asleep {
                *wakes = hart.wakes_at(&system.bus).map(|at| at.max(cycle.min(wakes.unwrap_or(cycle))));
            }
        }
    }

    fn forget_past<C: HartModels>(&mut self, cores: &C) {
        let awake = (0..self.asleep.len()).filter(|hart| self.asleep[*hart].is_none());
        if let Some(earliest) = awake.map(|hart| cores.earliest(hart)).min() {
            self.memory.forget_before(earliest);
        }
    }

    fn report<C: HartModels>(&mut self, system: &System, cores: &mut C) -> Report {
        let mut harts = Vec::new();
        let mut regions = Vec::new();
        for (number, hart) in system.harts.iter().enumerate() {
            if let Some(profile) = &mut self.profile {
                profile.spend(number, &spent(hart, cores));
            }
            regions.push(self.regions[number].totals(spent(hart, cores)));
            let (instructions, cycles) = (hart.completed(), cores.finish(number));
            let figures = self.memory.hart_figures(number);
            let timing = HartTiming {
                slots: cores.account(number),
                prediction: cores.prediction(number),
                l1i: figures.l1i,
                l1d: figures.l1d,
            };
            harts.push(HartReport { instructions, cycles, ipc: ipc(instructions, cycles), timing: Some(timing) });
        }
        system.report_of(harts, &regions)
    }
}

fn spent<C: HartModels>(hart: &Hart, cores: &C) -> Spent {
    Spent { instructions: hart.completed(), cycles: cores.cycle(hart.id()), slots: cores.account(hart.id()) }
}

/// Instructions and cycles by function.
#[derive(Debug)]
struct FunctionCounts {
    /// Instructions and cycles of each symbol. The last entry counts code without a symbol.
    spent: Vec<(u64, u64)>,
    /// The function in which each hart is: its range of addresses and its index in `spent`.
    current: Vec<(Range<u64>, usize)>,
}

impl FunctionCounts {
    fn new(image: &Image, harts: usize) -> FunctionCounts {
        FunctionCounts { spent: vec![(0, 0); image.symbols().len() + 1], current: vec![(0..0, 0); harts] }
    }

    #[inline]
    fn spend(&mut self, hart: usize, pc: u64, (instructions, cycles): (u64, u64), image: &Image) {
        let (range, _) = &self.current[hart];
        if pc < range.start || pc >= range.end {
            self.current[hart] = image.function_at(pc);
        }
        let spent = &mut self.spent[self.current[hart].1];
        *spent = (spent.0 + instructions, spent.1 + cycles);
    }

    /// The name of an instruction in a trace.
    fn name(image: &Image, retired: &Retired) -> String {
        let (_, class) = CLASSES[retired.class as usize];
        match image.function_of(retired.pc) {
            Some((function, offset)) => format!("{class} {function}+{offset:#x}"),
            None => format!("{class} {:#x}", retired.pc),
        }
    }

    fn report(&self, image: &Image) -> Vec<FunctionReport> {
        let report = |(number, &(instructions, cycles)): (usize, &(u64, u64))| FunctionReport {
            name: image.name(number),
            instructions,
            cycles,
        };
        // A function whose first instruction traps has cycles only.
        let ran = self.spent.iter().enumerate().filter(|(_, spent)| **spent != (0, 0));
        let mut functions: Vec<FunctionReport> = ran.map(report).collect();
        functions.sort_by(|a, b| (b.cycles, &a.name).cmp(&(a.cycles, &b.name)));
        functions
    }
}
