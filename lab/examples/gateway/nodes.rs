//! Devices on the simulator: the image of riscv/firmware/devices/src/node with a key and an identifier of its own for each, and
//! the store of its counter carried from run to run.

use std::thread;

use object::{Object, ObjectSegment, ObjectSymbol};
use tress_sim::{Image, Machine, System};
use zeroize::Zeroizing;

use crate::wire::{IDENTIFIER, KEY};

/// What the image is provisioned with lies at this symbol, and begins with [`MAGIC`].
const PARAMETERS: &str = "tress_parameters";
const MAGIC: &[u8] = b"tressn01";
/// Where the image keeps its counter.
const STORE: &str = "tress_store";
/// No device works that long.
const MAX_INSTRUCTIONS: u64 = 1 << 32;

/// What survives when a device loses its power.
pub(crate) type Store = [u8; 16];
/// A store that has lost what it had, or never had anything.
pub(crate) const EMPTY: Store = [0; 16];

/// A device.
pub(crate) struct Node {
    /// Its name.
    pub(crate) identifier: [u8; IDENTIFIER],
    /// Its key.
    pub(crate) key: Zeroizing<[u8; KEY]>,
    /// How many packets it sends; 0: without end.
    pub(crate) packets: u32,
    /// Whether it begins at 0 where its store is empty.
    pub(crate) begin: bool,
}

/// What a device did until it ended, or until its power was cut.
pub(crate) struct Run {
    /// What it sent.
    pub(crate) output: Vec<u8>,
    /// What its store holds.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests cut the power"))]
    pub(crate) store: Store,
    /// With what it ended, if it did.
    pub(crate) exit_code: Option<u64>,
}

/// Where devices are made and run.
pub(crate) struct Nodes {
    file: Vec<u8>,
    /// Where the parameters are in the file.
    parameters: usize,
    /// The address of the store.
    store: u64,
    machine: Machine,
}

impl Nodes {
    /// Devices with this image.
    pub(crate) fn new(file: &[u8]) -> Result<Nodes, String> {
        let elf = object::File::parse(file).map_err(|error| format!("the image: {error}"))?;
        let address = |name: &str| {
            let symbol = elf.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.map(|symbol| symbol.address()).ok_or_else(|| format!("the image has no {name}"))
        };
        let (parameters, store) = (address(PARAMETERS)?, address(STORE)?);
        let offset = elf.segments().find_map(|segment| {
            let inside = parameters.checked_sub(segment.address())?;
            (inside < segment.file_range().1).then(|| segment.file_range().0 + inside)
        });
        let parameters = usize::try_from(offset.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        if !file.get(parameters..).is_some_and(|place| place.starts_with(MAGIC)) {
            return Err("the image is not that of a node, or of another version".into());
        }
        let machine = Machine::preset("fe310").ok_or("there is no machine fe310")?;
        Ok(Nodes { file: file.to_vec(), parameters, store, machine })
    }

    /// Runs a device with what its store holds, until it ends or so many instructions are done: then its power is gone.
    pub(crate) fn run(&self, node: &Node, store: &Store, instructions: u64) -> Result<Run, String> {
        let failed = |error: tress_sim::Error| error.to_string();
        let mut file = Zeroizing::new(self.file.clone());
        let parameters =
            [MAGIC, &node.identifier, &*node.key, &node.packets.to_le_bytes(), &u32::from(node.begin).to_le_bytes()];
        let mut place = self.parameters;
        for part in parameters {
            let to = file.get_mut(place..place + part.len()).ok_or("the image ends in its parameters")?;
            to.copy_from_slice(part);
            place += part.len();
        }
        let image = Image::parse(&file).map_err(failed)?;
        let mut system = System::new(&self.machine, image).map_err(failed)?;
        system.bus.memory.write(self.store, *store).ok_or("the image's store is in no memory")?;
        let exit_code = system.run(instructions).map_err(failed)?;
        let mut after = EMPTY;
        after.copy_from_slice(&system.bus.memory.bytes(self.store, EMPTY.len() as u64));
        Ok(Run { output: system.bus.console().to_vec(), store: after, exit_code })
    }

    /// What all of them send after their first start, on all cores; `done` is told after each.
    pub(crate) fn run_all(&self, nodes: &[Node], done: impl Fn() + Sync) -> Result<Vec<Vec<u8>>, String> {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let share = |share: &[Node]| -> Result<Vec<Vec<u8>>, String> {
            let one = |node: &Node| {
                let run = self.run(node, &EMPTY, MAX_INSTRUCTIONS)?;
                done();
                match run.exit_code {
                    Some(0) => Ok(run.output),
                    code => Err(format!("a node ended with {code:?}")),
                }
            };
            share.iter().map(one).collect()
        };
        thread::scope(|scope| {
            let shares = nodes.chunks(nodes.len().div_ceil(cores).max(1));
            let threads: Vec<_> = shares.map(|nodes| scope.spawn(move || share(nodes))).collect();
            let mut outputs = Vec::new();
            for thread in threads {
                outputs.extend(thread.join().map_err(|_| "a thread panicked")??);
            }
            Ok(outputs)
        })
    }
}
