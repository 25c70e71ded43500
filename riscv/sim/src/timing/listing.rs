//! For tests: lists of instructions as the functional core would report them, without a program.

use super::{InOrderModel, MemoryModel, OutOfOrderModel, Times};
use crate::machine::Machine;
use crate::retired::{Class, Reg, Retired};

/// Addresses of code and data in tests.
pub(super) const CODE: u64 = 0x8000_0000;
pub(super) const DATA: u64 = 0x8000_1000;

/// A list of executed instructions.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) list: Vec<Retired>,
    pc: u64,
    size: u8,
}

impl Listing {
    pub(super) fn new() -> Listing {
        Listing { list: Vec::new(), pc: CODE, size: 4 }
    }

    /// Continues at another address.
    pub(super) fn at(mut self, pc: u64) -> Listing {
        self.pc = pc;
        self
    }

    /// Continues with instructions of `size` bytes, 2 or 4.
    pub(super) fn size(mut self, size: u8) -> Listing {
        self.size = size;
        self
    }

    fn push(mut self, class: Class, destination: u8, sources: [u8; 2]) -> Listing {
        let (pc, size) = (self.pc, self.size);
        let next_pc = pc + u64::from(size);
        let sources = [Reg(sources[0]), Reg(sources[1]), Reg::NONE];
        let destination = Reg(destination);
        self.list.push(Retired { pc, next_pc, size, class, destination, sources, ..Retired::default() });
        self.pc = next_pc;
        self
    }

    pub(super) fn op(self, class: Class, destination: u8, sources: [u8; 2]) -> Listing {
        self.push(class, destination, sources)
    }

    pub(super) fn alu(self, destination: u8, sources: [u8; 2]) -> Listing {
        self.push(Class::Alu, destination, sources)
    }

    /// Adds `count` independent additions.
    pub(super) fn fill(mut self, count: usize) -> Listing {
        for _ in 0..count {
            self = self.alu(31, [0, 0]);
        }
        self
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Retired)) -> Listing {
        change(self.list.last_mut().expect("an instruction"));
        self
    }

    pub(super) fn load(self, destination: u8, base: u8, address: u64, bytes: u8) -> Listing {
        self.push(Class::Load, destination, [base, 0]).with(|load| (load.address, load.bytes) = (address, bytes))
    }

    pub(super) fn store(self, data: u8, base: u8, address: u64, bytes: u8) -> Listing {
        self.push(Class::Store, 0, [base, data]).with(|store| (store.address, store.bytes) = (address, bytes))
    }

    /// Adds a control transfer to `target`, and continues there.
    pub(super) fn transfer(self, class: Class, destination: u8, source: u8, target: u64) -> Listing {
        let mut listing = self.push(class, destination, [source, 0]).with(|jump| {
            (jump.next_pc, jump.address) = (target, target);
        });
        listing.pc = target;
        listing
    }

    /// Adds a branch that is not taken.
    pub(super) fn branch_not_taken(self) -> Listing {
        let target = self.pc + 64;
        self.push(Class::Branch, 0, [0, 0]).with(|branch| branch.address = target)
    }

    pub(super) fn pc(&self) -> u64 {
        self.pc
    }

    pub(super) fn in_order(&self, machine: &Machine) -> (Vec<Times>, InOrderModel) {
        let (mut core, mut memory) = (InOrderModel::new(machine, 0), MemoryModel::new(machine));
        let times = self.list.iter().map(|retired| core.step(retired, &mut memory)).collect();
        core.finish();
        assert_eq!(core.account.total(), core.cycles(), "every cycle is accounted for");
        (times, core)
    }

    pub(super) fn out_of_order(&self, machine: &Machine) -> (Vec<Times>, OutOfOrderModel) {
        let (mut core, mut memory) = (OutOfOrderModel::new(machine, 0), MemoryModel::new(machine));
        let times = self.list.iter().map(|retired| core.step(retired, &mut memory)).collect();
        core.finish();
        let spec = machine.out_of_order.as_ref().expect("out of order");
        let width = if spec.commit == 0 { spec.issue } else { spec.commit };
        assert_eq!(core.account.total(), core.cycles() * u64::from(width), "every slot is accounted for");
        (times, core)
    }
}
