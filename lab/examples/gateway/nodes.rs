//! Devices on the simulator: the image of riscv/firmware/devices/src/node, with a separate key and identifier for
//! each device, and with the store of its counter kept from run to run.

use std::thread;

use tress_sim::{Image, Machine, System};
use zeroize::Zeroizing;

use crate::wire::{Identifier, KEY};

/// The image of every device.
const NODE: &[u8] = include_bytes!("../../../riscv/firmware/images/node.elf");
/// The first bytes of the image's parameters.
const MAGIC: [u8; 8] = *b"tressn01";
/// Limit of a device's instructions, which none reaches.
const MAX_INSTRUCTIONS: u64 = 1 << 32;

/// Identifier and key of a device.
pub(crate) type Identity = (Identifier, Zeroizing<[u8; KEY]>);
/// Memory of a device that survives a loss of power.
pub(crate) type Store = [u8; 16];
/// A store without a valid counter.
pub(crate) const EMPTY: Store = [0; 16];

/// How devices run.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    /// Number of packets to send; 0 means no limit.
    pub(crate) packets: u32,
    /// Whether a device starts with counter 0 if its store is empty.
    pub(crate) begin: bool,
}

/// Result of a device's run until it ended or lost power.
pub(crate) struct NodeRun {
    /// Bytes that the device sent.
    pub(crate) output: Vec<u8>,
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests cut the power"))]
    pub(crate) store: Store,
    /// `None` if the device lost power.
    pub(crate) exit_code: Option<u64>,
}

/// Runs devices of one image on the simulator.
pub(crate) struct Nodes {
    image: Image,
    /// The addresses of the parameters in flash and of the counter's store.
    parameters: u64,
    store: u64,
    machine: Machine,
}

impl Nodes {
    pub(crate) fn new() -> Result<Nodes, String> {
        let image = Image::parse(NODE).map_err(|error| format!("the image: {error}"))?;
        let address = |name: &str| {
            let symbol = image.data(name).ok_or_else(|| format!("the image has no {name}"));
            symbol.map(|symbol| symbol.address)
        };
        let (parameters, store) = (address("tress_parameters")?, address("tress_store")?);
        // The program copies them from flash to this address.
        let in_flash = image.segments.iter().find_map(|segment| {
            let offset = parameters.checked_sub(segment.address)?;
            (offset < segment.bytes.len() as u64).then_some(segment.load_address + offset)
        });
        let parameters = in_flash.ok_or("the image's parameters are in no segment")?;
        let machine = Machine::preset("fe310").ok_or("there is no machine fe310")?;
        Ok(Nodes { image, parameters, store, machine })
    }

    /// Runs a device with this store until it ends. After `instructions` instructions the device loses power.
    pub(crate) fn run(
        &self,
        (identifier, key): &Identity,
        work: Work,
        store: &Store,
        instructions: u64,
    ) -> Result<NodeRun, String> {
        let failed = |error: tress_sim::Error| error.to_string();
        let mut system = System::new(&self.machine, self.image.clone()).map_err(failed)?;
        let memory = &mut system.bus.memory;
        let (packets, begin) = (work.packets.to_le_bytes(), u32::from(work.begin).to_le_bytes());
        let own = Zeroizing::new([&MAGIC[..], identifier, &**key, &packets, &begin].concat());
        if memory.read(self.parameters) != Some(MAGIC) || !memory.load(self.parameters, &own) {
            return Err("the image is not a node, or is of another version".into());
        }
        memory.write(self.store, *store).ok_or("the image's store is outside of memory")?;
        let exit_code = system.run(instructions).map_err(failed)?;
        let store = system.bus.memory.read(self.store).unwrap_or(EMPTY);
        Ok(NodeRun { output: system.bus.console().to_vec(), store, exit_code })
    }

    /// Runs all devices from their first start, on all cores, and returns what they sent. Calls `done` after each device.
    pub(crate) fn run_all(
        &self,
        devices: &[Identity],
        packets: u32,
        done: impl Fn() + Sync,
    ) -> Result<Vec<Vec<u8>>, String> {
        let one = |device: &Identity| {
            let run = self.run(device, Work { packets, begin: true }, &EMPTY, MAX_INSTRUCTIONS)?;
            done();
            match run.exit_code {
                Some(0) => Ok(run.output),
                code => Err(format!("a node ended with {code:?}")),
            }
        };
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        thread::scope(|scope| {
            let shares = devices.chunks(devices.len().div_ceil(cores).max(1));
            let threads: Vec<_> = shares.map(|share| scope.spawn(|| share.iter().map(&one).collect())).collect();
            let outputs = threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?);
            outputs.collect::<Result<Vec<Vec<_>>, String>>().map(|outputs| outputs.concat())
        })
    }
}
