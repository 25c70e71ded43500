//! A debugger's session, in the remote protocol of gdb (its manual, appendix "Remote Protocol"), whose packets `gdbstub`
//! takes apart. Harts are threads, hart n is thread n + 1.
//!
//! A debugger changes when harts execute in the debugger's time, and never in theirs: all of them run on together, in the
//! order and the cycles of a run without a debugger. So a step of one hart lets others run as far as they do until then.

mod registers;
mod stops;

use std::convert::Infallible;
use std::io;

use gdbstub::common::{Signal, Tid};
use gdbstub::conn::Connection;
use gdbstub::outputln;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, MultiThreadStopReason};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};

use crate::error::{Error, ErrorKind, cause};
use crate::simulation::Simulation;
use crate::system::System;
use registers::{Integers, Register, Riscv, description};
pub(crate) use stops::Stops;
use stops::Watch;

/// The most breakpoints, and the most watchpoints.
const MAX_STOPS: usize = 1000;

/// The longest packet.
const PACKET_BYTES: usize = 4096;

/// The connection to a debugger.
pub trait Client {
    /// The next byte. `None` if the debugger has closed the connection.
    fn read(&mut self) -> io::Result<Option<u8>>;
    /// The next byte, if there is one already.
    fn poll(&mut self) -> io::Result<Option<u8>>;
    /// Sends bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugEnd {
    /// The program has ended, with this exit code.
    Exited(u64),
    /// The debugger lets the program run on without it.
    Detached,
}

struct Wire<'a>(&'a mut dyn Client);

impl Connection for Wire<'_> {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.0.write(&[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Session<'a> {
    simulation: &'a mut Simulation,
    /// The hart that has to make a step.
    step: Option<usize>,
    /// Why the program cannot continue.
    error: Option<Error>,
}

impl Simulation {
    /// Serves a debugger until it leaves or the program ends. Before each part of the run, `before` returns how many
    /// instructions it may have; between parts, the debugger can interrupt.
    ///
    /// # Errors
    ///
    /// An error of `before`; one of the program, when the debugger leaves after it; and [`ErrorKind::Debugger`].
    pub fn debug(
        &mut self,
        client: &mut dyn Client,
        mut before: impl FnMut(&mut Simulation) -> Result<u64, Error>,
    ) -> Result<DebugEnd, Error> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Debugger(error.to_string().trim_end_matches('.').to_owned()))
        };
        let mut session = Session { simulation: self, step: None, error: None };
        let mut packet = [0; PACKET_BYTES];
        let stub =
            GdbStub::builder(Wire(client)).with_packet_buffer(&mut packet).build().map_err(|error| failed(&error))?;
        let mut stub = stub.run_state_machine(&mut session).map_err(|error| failed(&error))?;
        let reason = loop {
            stub = match stub {
                GdbStubStateMachine::Idle(mut idle) => match idle.borrow_conn().0.read() {
                    Ok(Some(byte)) => idle.incoming_data(&mut session, byte),
                    Ok(None) => {
                        return Err(session.error.take().unwrap_or_else(|| failed(&"it has closed the connection")));
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                        return Err(session.system().stopped(ErrorKind::Interrupted));
                    }
                    Err(error) => return Err(failed(&error)),
                },
                GdbStubStateMachine::Running(mut running) => {
                    let byte = running.borrow_conn().0.poll().map_err(|error| failed(&error))?;
                    match byte {
                        Some(byte) => running.incoming_data(&mut session, byte),
                        None => {
                            let steps = before(session.simulation)?;
                            match session.run(steps) {
                                Some(stop) => running.report_stop(&mut session, stop),
                                None => Ok(running.into()),
                            }
                        }
                    }
                }
                GdbStubStateMachine::CtrlCInterrupt(interrupt) => {
                    let stop = MultiThreadStopReason::SignalWithThread { tid: Tid::MIN, signal: Signal::SIGINT };
                    interrupt.interrupt_handled(&mut session, Some(stop))
                }
                GdbStubStateMachine::Disconnected(end) => break end.get_reason(),
            }
            .map_err(|error| failed(&error))?;
        };
        session.clear();
        match (session.system().bus.exit_code(), session.error) {
            (Some(exit_code), _) => Ok(DebugEnd::Exited(exit_code)),
            (None, Some(error)) => Err(error),
            (None, None) if reason == DisconnectReason::Disconnect => Ok(DebugEnd::Detached),
            (None, None) => Err(failed(&"it has ended the program")),
        }
    }
}

impl Session<'_> {
    fn system(&mut self) -> &mut System {
        self.simulation.system_mut()
    }

    /// The number of a thread's hart.
    fn hart(&mut self, thread: Tid) -> Option<usize> {
        let hart = thread.get() - 1;
        (hart < self.system().harts.len()).then_some(hart)
    }

    /// Forgets all breakpoints and watchpoints.
    fn clear(&mut self) {
        self.system().bus.stops = Stops::default();
        self.watch();
    }

    fn watch(&mut self) {
        let System { bus, harts, .. } = self.system();
        harts.iter_mut().for_each(|hart| hart.watch(!bus.stops.watches.is_empty()));
    }

    /// Runs up to `steps` instructions or to the next stop.
    fn run(&mut self, steps: u64) -> Option<MultiThreadStopReason<u64>> {
        if let Some(error) = &self.error {
            return Some(stop_of(error));
        }
        let place = |session: &mut Session, hart: usize| {
            let hart = &session.system().harts[hart];
            (hart.pc(), hart.completed())
        };
        let stepping = self.step.map(|hart| (hart, place(self, hart)));
        let parts = if stepping.is_some() { steps } else { 1 };
        for _ in 0..parts {
            match self.simulation.run(steps / parts) {
                Ok(Some(exit_code)) => return Some(MultiThreadStopReason::Exited(exit_status(exit_code))),
                Ok(None) => {}
                Err(error) => return Some(stop_of(self.error.insert(error))),
            }
            if let Some(stop) = self.system().bus.stops.last.take() {
                let tid = thread(stop.hart);
                return Some(match stop.watch {
                    Some((kind, addr)) => MultiThreadStopReason::Watch { tid, kind, addr },
                    None => MultiThreadStopReason::SwBreak(tid),
                });
            }
            if let Some((hart, before)) = stepping
                && place(self, hart) != before
            {
                return Some(MultiThreadStopReason::SignalWithThread { tid: thread(hart), signal: Signal::SIGTRAP });
            }
        }
        None
    }
}

fn thread(hart: usize) -> Tid {
    Tid::MIN.saturating_add(hart)
}

/// An exit code in a byte. One that is not 0 never becomes 0.
#[must_use]
pub fn exit_status(code: u64) -> u8 {
    if code == 0 { 0 } else { (code as u8).max(1) }
}

/// The signal that an operating system would send.
fn stop_of(error: &Error) -> MultiThreadStopReason<u64> {
    let signal = match &error.kind {
        ErrorKind::Unhandled(trap) | ErrorKind::TrapLoop(trap) => match trap.cause {
            cause::BREAKPOINT => Signal::SIGTRAP,
            cause::ILLEGAL_INSTRUCTION => Signal::SIGILL,
            cause::ECALL_USER | cause::ECALL_MACHINE => Signal::SIGSYS,
            cause::INSTRUCTION_MISALIGNED | cause::LOAD_MISALIGNED | cause::STORE_MISALIGNED => Signal::SIGBUS,
            _ => Signal::SIGSEGV,
        },
        _ => Signal::SIGABRT,
    };
    let hart = error.place.as_ref().map_or(0, |place| place.hart);
    MultiThreadStopReason::SignalWithThread { tid: thread(hart), signal }
}

impl Target for Session<'_> {
    type Arch = Riscv;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Riscv, Infallible> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Session<'_> {
    fn read_registers(&mut self, registers: &mut Integers, thread: Tid) -> TargetResult<(), Self> {
        let hart = self.hart(thread).ok_or(TargetError::NonFatal)?;
        let System { bus, harts, .. } = self.system();
        for register in Register::integers() {
            let value = register.read(&harts[hart], bus).unwrap_or(0);
            registers.0.extend(&value.to_le_bytes()[..register.bytes(harts[hart].isa())]);
        }
        Ok(())
    }

    fn write_registers(&mut self, registers: &Integers, thread: Tid) -> TargetResult<(), Self> {
        let hart = self.hart(thread).ok_or(TargetError::NonFatal)?;
        let System { bus, harts, .. } = self.system();
        let bytes = Register(0).bytes(harts[hart].isa());
        for (register, value) in Register::integers().zip(registers.0.chunks(bytes)) {
            register.write(&mut harts[hart], bus, value).ok_or(TargetError::NonFatal)?;
        }
        Ok(())
    }

    fn read_addrs(&mut self, address: u64, bytes: &mut [u8], thread: Tid) -> TargetResult<usize, Self> {
        let hart = self.hart(thread).ok_or(TargetError::NonFatal)?;
        let System { bus, harts, .. } = self.system();
        match bus.peek(address, bytes, harts[hart].cycle) {
            0 => Err(TargetError::NonFatal),
            read => Ok(read),
        }
    }

    fn write_addrs(&mut self, address: u64, bytes: &[u8], _: Tid) -> TargetResult<(), Self> {
        let bus = &mut self.system().bus;
        bus.code.flush();
        if bus.memory.load(address, bytes) { Ok(()) } else { Err(TargetError::NonFatal) }
    }

    fn list_active_threads(&mut self, is_active: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        (0..self.system().harts.len()).for_each(|hart| is_active(thread(hart)));
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for Session<'_> {
    fn read_register(&mut self, thread: Tid, register: Register, bytes: &mut [u8]) -> TargetResult<usize, Self> {
        let hart = self.hart(thread).ok_or(TargetError::NonFatal)?;
        let System { bus, harts, .. } = self.system();
        let value = register.read(&harts[hart], bus).ok_or(TargetError::NonFatal)?;
        let size = register.bytes(harts[hart].isa());
        bytes.get_mut(..size).ok_or(TargetError::NonFatal)?.copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(size)
    }

    fn write_register(&mut self, thread: Tid, register: Register, value: &[u8]) -> TargetResult<(), Self> {
        let hart = self.hart(thread).ok_or(TargetError::NonFatal)?;
        let System { bus, harts, .. } = self.system();
        register.write(&mut harts[hart], bus, value).ok_or(TargetError::NonFatal)
    }
}

impl MultiThreadResume for Session<'_> {
    fn resume(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.step = None;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Session<'_> {
    fn set_resume_action_step(&mut self, thread: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.step = self.hart(thread);
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for Session<'_> {
    /// Time is common to all harts, so none stands still while another runs.
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl Breakpoints for Session<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Session<'_> {
    fn add_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        let bus = &mut self.system().bus;
        bus.code.flush();
        Ok(add(&mut bus.stops.breakpoints, address))
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(remove(&mut self.system().bus.stops.breakpoints, &address))
    }
}

/// No breakpoint replaces an instruction here, so both kinds are the same.
impl HwBreakpoint for Session<'_> {
    fn add_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(address, kind)
    }

    fn remove_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(address, kind)
    }
}

impl HwWatchpoint for Session<'_> {
    fn add_hw_watchpoint(&mut self, start: u64, bytes: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let is_added = add(&mut self.system().bus.stops.watches, Watch { start, bytes, kind });
        self.watch();
        Ok(is_added)
    }

    fn remove_hw_watchpoint(&mut self, start: u64, bytes: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let is_removed = remove(&mut self.system().bus.stops.watches, &Watch { start, bytes, kind });
        self.watch();
        Ok(is_removed)
    }
}

/// Adds a stop that is not there yet, if there is room for it.
fn add<T: PartialEq>(stops: &mut Vec<T>, stop: T) -> bool {
    let fits = stops.len() < MAX_STOPS;
    if fits && !stops.contains(&stop) {
        stops.push(stop);
    }
    fits
}

fn remove<T: PartialEq>(stops: &mut Vec<T>, stop: &T) -> bool {
    let before = stops.len();
    stops.retain(|each| each != stop);
    stops.len() < before
}

impl MonitorCmd for Session<'_> {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Infallible> {
        if command != b"cycles" {
            outputln!(out, "unknown command: there is only \"cycles\"");
            return Ok(());
        }
        for hart in &self.system().harts {
            outputln!(out, "hart {}: cycle {}, instructions {}", hart.id(), hart.cycle, hart.completed());
        }
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Session<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let System { bus, harts, .. } = self.simulation.system();
        let xml = description(&harts[0], bus);
        let rest = usize::try_from(offset).ok().and_then(|offset| xml.as_bytes().get(offset..)).unwrap_or_default();
        let bytes = rest.len().min(length).min(buffer.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        Ok(bytes)
    }
}
