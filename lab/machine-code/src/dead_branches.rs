//! Examines sides of branches that no input takes, because compilers generate code that is never reached.

use std::collections::HashSet;

use iced_x86::FlowControl;

use crate::machine::{Interpreter, Reason, StepResult};

/// Sides of branches that no input takes.
pub(super) struct DeadBranches<'i> {
    /// Addresses of instructions that inputs reach.
    pub(super) reached: &'i HashSet<u64>,
    /// Start addresses of the sides that are still to be examined.
    pub(super) untaken: HashSet<u64>,
}

impl Interpreter<'_> {
    /// The start addresses of both sides of all branches that were run.
    pub(super) fn branches(&self) -> impl Iterator<Item = u64> + '_ {
        let branches = self.decoded.iter().flatten().map(|decoded| &decoded.instruction);
        let branches = branches.filter(|branch| branch.flow_control() == FlowControl::ConditionalBranch);
        branches.flat_map(|branch| [branch.next_ip(), branch.near_branch_target()])
    }

    /// Whether an instruction needs no examination on an untaken side of a branch.
    pub(super) fn is_known(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.image.text.start) as usize;
        self.dead_branches.as_ref().is_some_and(|dead_branches| dead_branches.reached.contains(&address))
            || matches!(self.decoded.get(at), Some(Some(_)))
    }

    /// Examines the untaken side of a branch, if no input takes it, until it reaches examined code or an undecided
    /// value. Then restores the state from before.
    pub(super) fn explore(&mut self, other: u64) -> StepResult {
        const MOST: usize = 10_000;
        let Some(dead_branches) = &mut self.dead_branches else { return Ok(()) };
        if !dead_branches.untaken.remove(&other) && self.dead_depth == 0 || self.is_known(other) {
            return Ok(());
        }
        self.explored += 1;
        let registers =
            (self.scalars, self.vectors, self.masks, self.flags, self.flag_levels, self.next, self.revealed);
        let mark = self.memory.mark();
        self.dead_depth += 1;
        self.next = other;
        let mut result = Ok(());
        // Number of calls that have not returned. A called function may have been examined when the code after the call has not.
        let mut calls = 0;
        for _ in 0..MOST {
            let address = self.next;
            let is_known = self.is_known(address);
            if is_known && calls == 0 {
                break;
            }
            let instruction = self.image.decode(address).unwrap_or_default();
            match self.step() {
                Ok(()) => match instruction.flow_control() {
                    FlowControl::Call | FlowControl::IndirectCall if self.next != instruction.next_ip() => calls += 1,
                    FlowControl::Return if calls > 0 => calls -= 1,
                    _ => {}
                },
                Err(Reason::Undecided(_)) => {
                    // This instruction does not count as examined.
                    if !is_known
                        && let Some(decoded) =
                            self.decoded.get_mut(address.wrapping_sub(self.image.text.start) as usize)
                    {
                        *decoded = None;
                    }
                    break;
                }
                Err(leak) => {
                    println!("on an untaken side of a branch: {} {instruction}", self.image.location(address));
                    result = Err(leak);
                    break;
                }
            }
        }
        self.dead_depth -= 1;
        self.memory.undo(mark, self.dead_depth == 0);
        (self.scalars, self.vectors, self.masks, self.flags, self.flag_levels, self.next, self.revealed) = registers;
        result
    }
}
