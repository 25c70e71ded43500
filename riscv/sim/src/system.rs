//! Harts and what they share, loaded with a program. Without a timing model every instruction takes a cycle, and harts take
//! turns; a model steps the harts itself.

use crate::{
    bus::Bus,
    elf::Image,
    error::{Error, ErrorKind},
    hart::{Event, Hart},
    machine::Machine,
    report::{HartReport, Regions, Report, Spent, ipc},
    retired::{Reg, Retired},
    taint::{Secret, SecretsReport, Tracker, Variable},
};

/// Cycles of a hart's turn where there are several.
const TURN: u64 = 256;

/// A machine with a program in it.
#[derive(Debug)]
pub struct System {
    /// What all harts share.
    pub bus: Bus,
    /// Each hart.
    pub harts: Vec<Hart>,
    pub(crate) image: Image,
    regions: Vec<Regions>,
    /// Whose turn it is, and the cycle at which the turn ends.
    turn: usize,
    round_ends: u64,
    /// Follows secrets, where somebody wants to know.
    pub(crate) tracker: Option<Box<Tracker>>,
}

impl System {
    /// A machine with a program, every hart at its entry.
    ///
    /// # Errors
    ///
    /// An impossible machine, or a program that does not fit into it.
    pub fn new(machine: &Machine, image: Image) -> Result<System, Error> {
        let isa = machine.check_for(image.xlen)?;
        if image.xlen != isa.xlen {
            let (program, machine) = (image.xlen.bits(), isa.xlen.bits());
            return Err(ErrorKind::WrongXlen { program, machine }.into());
        }
        let mut bus = Bus::new(machine);
        bus.load_image(&image)?;
        let harts = (0..machine.harts).map(|id| Hart::new(machine, isa, id, image.entry)).collect();
        let regions = vec![Regions::default(); machine.harts];
        Ok(System { bus, harts, image, regions, turn: 0, round_ends: TURN, tracker: None })
    }

    /// The program.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Instructions that all harts have completed.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.harts.iter().map(Hart::completed).sum()
    }

    /// From here on tells where secrets show: those that are given here, and those that the program marks. What is
    /// written to the given ones is secret too, until the program says otherwise. What was copied from them before is not.
    ///
    /// A run shows what its inputs lead to and no more: no finding is no proof, and of a secret without
    /// [`reads`](crate::SecretReport::reads) nothing was learnt.
    ///
    /// # Errors
    ///
    /// A secret that is not all in memory, or more of them than can be told apart.
    pub fn follow_secrets(&mut self, secrets: &[Secret], variable: Variable) -> Result<(), Error> {
        let mut tracker = Box::new(Tracker::new(self.harts.len(), variable));
        for secret in secrets {
            tracker.keep(secret, &self.bus)?;
        }
        self.tracker = Some(tracker);
        self.bus.host.looked = Some(Vec::new());
        Ok(())
    }

    /// Which bits of a hart's register depend on secrets, if they are followed.
    ///
    /// # Panics
    ///
    /// If there is no such hart.
    #[must_use]
    pub fn secret_bits(&self, hart: usize, register: Reg) -> u64 {
        assert!(hart < self.harts.len(), "no hart {hart}");
        self.tracker.as_ref().map_or(0, |tracker| tracker.secret_bits(hart, register))
    }

    /// Where secrets have shown so far, if they are followed.
    #[must_use]
    pub fn secrets(&self) -> Option<SecretsReport> {
        self.tracker.as_ref().map(|tracker| tracker.report(&self.image))
    }

    /// Runs without a model for so many instructions, or a few more, or until the program ends: its exit code. `None` means
    /// that it has not ended; some programs never do. Once one has, every further call says the same and runs nothing.
    ///
    /// Harts run in turns of 256 cycles. Nothing depends on how a run is cut into calls.
    ///
    /// # Errors
    ///
    /// What the program cannot go on from; it says where.
    pub fn run(&mut self, instructions: u64) -> Result<Option<u64>, Error> {
        if let Some(exit_code) = self.bus.exit_code() {
            return Ok(Some(exit_code));
        }
        match &mut self.tracker {
            Some(tracker) => {
                tracker.begin(&self.harts);
                self.run_and_follow::<true>(instructions)
            }
            None => self.run_and_follow::<false>(instructions),
        }
    }

    fn run_and_follow<const FOLLOW: bool>(&mut self, instructions: u64) -> Result<Option<u64>, Error> {
        let mut left = instructions;
        let mut retired = Retired::default();
        while left > 0 {
            let hart = &mut self.harts[self.turn];
            let turn = self.round_ends.saturating_sub(hart.cycle).min(left);
            let before = hart.completed();
            for _ in 0..turn {
                let event = match hart.step_and_tell::<FOLLOW>(&mut self.bus, &mut retired) {
                    Ok(event) => event,
                    Err(error) => return Err(self.explain(*error)),
                };
                hart.cycle += 1;
                if FOLLOW
                    && let Some(tracker) = &mut self.tracker
                    && let Err(error) = tracker.follow_event(event, hart, &mut self.bus, &self.image, &retired)
                {
                    return Err(self.explain(*error));
                }
                match event {
                    Event::Retired | Event::Trapped => {}
                    Event::Mark(number) => self.regions[self.turn].enter(number, spent(hart)),
                    Event::Waiting => {
                        hart.cycle = self.round_ends;
                        break;
                    }
                    Event::Exited => return Ok(self.bus.exit_code()),
                }
            }
            // Traps complete nothing, but take their time too.
            left -= (hart.completed() - before).max(1).min(left);
            if hart.cycle >= self.round_ends {
                self.next_turn()?;
                if let Some(exit_code) = self.bus.exit_code() {
                    return Ok(Some(exit_code));
                }
            }
        }
        Ok(None)
    }

    /// The next hart, or the next round. Where every hart waits, time passes until one wakes.
    fn next_turn(&mut self) -> Result<(), Error> {
        self.turn += 1;
        if self.turn < self.harts.len() {
            return Ok(());
        }
        self.turn = 0;
        self.round_ends += TURN;
        if self.harts.iter().all(Hart::is_waiting) {
            let wakes = self.harts.iter().filter_map(|hart| hart.wakes_at(&self.bus)).min();
            let Some(wakes) = wakes else {
                if self.settle()? {
                    return Ok(());
                }
                return Err(self.explain(Error::new(ErrorKind::Asleep).at(self.harts[0].place())));
            };
            for hart in &mut self.harts {
                hart.cycle = hart.cycle.max(wakes);
            }
            self.round_ends = self.round_ends.max(wakes.saturating_add(TURN));
        }
        Ok(())
    }

    /// Every hart sleeps for good: what the host was asked by half is served. Whether there was anything.
    pub(crate) fn settle(&mut self) -> Result<bool, Error> {
        let settled = self.bus.settle().map_err(|error| self.explain(error.at(self.harts[0].place())))?;
        if let Some(tracker) = &mut self.tracker {
            tracker.follow_host(&self.harts[0], &mut self.bus);
        }
        Ok(settled)
    }

    /// The error with the name of the function it happened in.
    #[must_use]
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if let Some(place) = &mut error.place {
            place.function = self.image.function_of(place.pc);
        }
        error
    }

    /// An error where the program is now: where the hart is whose turn it is.
    #[must_use]
    pub fn stopped(&self, kind: ErrorKind) -> Error {
        self.explain(Error::new(kind).at(self.harts[self.turn].place()))
    }

    /// What the run has come to so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let hart = |hart: &Hart| HartReport {
            instructions: hart.completed(),
            cycles: hart.cycle,
            ipc: ipc(hart.completed(), hart.cycle),
            timing: None,
        };
        let instructions = self.instructions();
        let cycles = self.harts.iter().map(|hart| hart.cycle).max().unwrap_or(0);
        let regions: Vec<_> =
            self.regions.iter().zip(&self.harts).map(|(regions, hart)| regions.totals(spent(hart))).collect();
        Report {
            exit_code: self.bus.exit_code(),
            instructions,
            cycles,
            ipc: ipc(instructions, cycles),
            harts: self.harts.iter().map(hart).collect(),
            regions: Regions::report(&regions, &self.image),
            secrets: self.secrets(),
            timing: None,
        }
    }
}

/// What a hart without a model has spent.
fn spent(hart: &Hart) -> Spent {
    Spent { instructions: hart.completed(), cycles: hart.cycle, ..Spent::default() }
}
