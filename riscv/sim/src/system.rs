//! The harts of a machine and what they share, loaded with a program. Without a timing model every instruction takes
//! one cycle, and the harts take turns. A timing model steps the harts itself.

use std::collections::BTreeMap;

use crate::bus::Bus;
use crate::device::linux;
use crate::elf::Image;
use crate::error::{Error, ErrorKind};
use crate::hart::integer::word;
use crate::hart::{Event, Hart};
use crate::isa::Xlen;
use crate::lines::Of;
use crate::machine::Machine;
use crate::report::{HartReport, RegionCounter, Report, Spent, ipc};
use crate::retired::{Reg, Retired};
use crate::taint::{Secret, SecretsReport, Tracker, Variable};

/// Cycles in the turn of one hart.
const TURN_CYCLES: u64 = 256;

/// A machine with a program loaded.
#[derive(Debug)]
pub struct System {
    /// Memory, devices and host.
    pub bus: Bus,
    /// The harts, by number.
    pub harts: Vec<Hart>,
    pub(crate) image: Image,
    regions: Vec<RegionCounter>,
    /// Number of the hart whose turn it is, and the cycle at which the round ends.
    turn: usize,
    round_ends: u64,
    /// Follows secrets, if requested.
    pub(crate) tracker: Option<Box<Tracker>>,
}

impl System {
    /// Loads a program into a machine. Every hart starts at the program's entry.
    ///
    /// # Errors
    ///
    /// The machine is invalid, or the program does not fit into it.
    pub fn new(machine: &Machine, image: Image) -> Result<System, Error> {
        let isa = machine.check_for(image.xlen)?;
        if image.xlen != isa.xlen {
            let (program, machine) = (image.xlen.bits(), isa.xlen.bits());
            return Err(ErrorKind::WrongXlen { program, machine }.into());
        }
        if let Some((name, part)) = image.extensions.iter().find(|(name, _)| !isa.runs(name)) {
            let (first, rest) = name.split_at(1);
            return Err(ErrorKind::MissingExtension(first.to_ascii_uppercase() + rest, part).into());
        }
        if !isa.c && !image.entry.is_multiple_of(4) {
            return Err(ErrorKind::EntryMisaligned(image.entry, 4).into());
        }
        let mut bus = Bus::new(machine);
        bus.load_image(&image)?;
        let harts = (0..machine.harts).map(|id| Hart::new(machine, isa, id, image.entry)).collect();
        let regions = vec![RegionCounter::default(); machine.harts];
        Ok(System { bus, harts, image, regions, turn: 0, round_ends: TURN_CYCLES, tracker: None })
    }

    /// Makes `ecall` in machine mode a system call of Linux, as programs of newlib need it, and starts the program as
    /// Linux does: every hart has its floating-point unit on and its stack pointer at the arguments, of which the first is
    /// the program's name. The calls are `read`, `write` and `fstat` on descriptors 0 to 2, `close`, `lseek`, `brk`,
    /// `exit`, `exit_group`, `gettimeofday` and `clock_gettime`. Others fail.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoStack`]
    pub fn serve_linux(&mut self, arguments: &[Vec<u8>]) -> Result<(), Error> {
        let stack = linux::start(&mut self.bus, &self.image, arguments)?;
        for hart in &mut self.harts {
            hart.enable_float();
            hart.set_register(Reg::integer(2), if self.image.xlen == Xlen::Rv32 { word(stack) } else { stack });
        }
        Ok(())
    }

    /// The program.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Number of instructions completed by all harts.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.harts.iter().map(Hart::completed).sum()
    }

    /// Follows secrets from now on: the given ones and those that the program marks. Values written to the given bytes
    /// later are secret too, until the program declares the bytes public. Copies made before this call are not
    /// followed.
    ///
    /// A run only shows what happens for its inputs. No finding is no proof, and a secret without
    /// [`reads`](crate::SecretReport::reads) was not tested.
    ///
    /// ```no_run
    /// # use tress_sim::{Image, Machine, SecretName, System, Variable};
    /// # let image = Image::parse(&std::fs::read("program.elf")?)?;
    /// let key = "key".parse::<SecretName>()?.find(&image)?;
    /// let mut system = System::new(&Machine::generic(), image)?;
    /// system.follow_secrets(&[key], Variable::default())?;
    /// system.run(1_000_000)?;
    /// for finding in system.secrets().expect("secrets are followed").findings {
    ///     println!("{} at {:#x}", finding.kind, finding.address);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A secret is not all in memory, or there are more secrets than labels.
    pub fn follow_secrets(&mut self, secrets: &[Secret], variable: Variable) -> Result<(), Error> {
        let mut tracker = Box::new(Tracker::new(self.harts.len(), variable));
        for secret in secrets {
            tracker.keep(secret, &self.bus)?;
        }
        self.tracker = Some(tracker);
        self.bus.host.host_reads = Some(Vec::new());
        Ok(())
    }

    /// The bits of a hart's register that depend on secrets. 0 if secrets are not followed.
    ///
    /// # Panics
    ///
    /// If there is no hart of this number.
    #[must_use]
    pub fn secret_bits(&self, hart: usize, register: Reg) -> u64 {
        assert!(hart < self.harts.len(), "no hart {hart}");
        self.tracker.as_ref().map_or(0, |tracker| tracker.secret_bits(hart, register))
    }

    /// The findings up to now, if secrets are followed.
    #[must_use]
    pub fn secrets(&self) -> Option<SecretsReport> {
        self.tracker.as_ref().map(|tracker| tracker.report(&self.image))
    }

    /// Runs `instructions` instructions or a few more, without a timing model, or until the program ends, and returns its
    /// exit code. The result is `None` if the program has not ended; some programs never do. Once it has ended, further
    /// calls run nothing and return the same code.
    ///
    /// The harts alternate every 256 cycles. The result does not depend on how a run is divided into calls.
    ///
    /// # Errors
    ///
    /// The program cannot continue. The error contains the place.
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
                let event = match hart.step_and_describe::<FOLLOW>(&mut self.bus, &mut retired) {
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
                    Event::Stopped => {
                        hart.cycle -= 1;
                        return Ok(None);
                    }
                    Event::Exited => return Ok(self.bus.exit_code()),
                }
            }
            // Traps complete no instruction, but they count as a step.
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

    /// Passes the turn to the next hart, or begins the next round. If every hart waits, time advances to when the first
    /// wakes.
    fn next_turn(&mut self) -> Result<(), Error> {
        self.turn += 1;
        if self.turn < self.harts.len() {
            return Ok(());
        }
        self.turn = 0;
        self.round_ends += TURN_CYCLES;
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
            self.round_ends = self.round_ends.max(wakes.saturating_add(TURN_CYCLES));
        }
        Ok(())
    }

    /// Serves a half-written request to the host, because every hart sleeps. Returns whether there was one.
    pub(crate) fn settle(&mut self) -> Result<bool, Error> {
        let settled = self.bus.settle().map_err(|error| self.explain(error.at(self.harts[0].place())))?;
        if let Some(tracker) = &mut self.tracker {
            tracker.follow_host(&self.harts[0], &mut self.bus);
        }
        Ok(settled)
    }

    /// Adds the function and the line of the source to the error's place.
    #[must_use]
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if let Some(place) = &mut error.place {
            place.function = self.image.function_of(place.pc);
            let mut lines = self.image.lines.find(std::iter::once(place.pc), Of::Instruction);
            place.source = lines.remove(&place.pc);
        }
        error
    }

    /// An error at the current place of the hart whose turn it is.
    #[must_use]
    pub fn stopped(&self, kind: ErrorKind) -> Error {
        self.explain(Error::new(kind).at(self.harts[self.turn].place()))
    }

    /// The results up to now.
    #[must_use]
    pub fn report(&self) -> Report {
        let hart = |hart: &Hart| HartReport {
            instructions: hart.completed(),
            cycles: hart.cycle,
            ipc: ipc(hart.completed(), hart.cycle),
            timing: None,
        };
        let regions: Vec<_> =
            self.regions.iter().zip(&self.harts).map(|(regions, hart)| regions.totals(spent(hart))).collect();
        self.report_of(self.harts.iter().map(hart).collect(), &regions)
    }

    /// A report with these figures of the harts and of their regions.
    pub(crate) fn report_of(&self, harts: Vec<HartReport>, regions: &[BTreeMap<u16, Spent>]) -> Report {
        let (instructions, cycles) = (self.instructions(), harts.iter().map(|hart| hart.cycles).max().unwrap_or(0));
        Report {
            exit_code: self.bus.exit_code(),
            instructions,
            cycles,
            ipc: ipc(instructions, cycles),
            harts,
            regions: RegionCounter::report(regions, &self.image),
            secrets: self.secrets(),
            timing: None,
        }
    }
}

fn spent(hart: &Hart) -> Spent {
    Spent { instructions: hart.completed(), cycles: hart.cycle, ..Spent::default() }
}
