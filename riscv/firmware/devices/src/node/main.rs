//! An example device: reads samples, and sends them as packets of AES-CCM over the UART, with its own key and a counter as
//! nonce. docs/reference/formats/node.md says what a packet is; docs/guides/riscv.md what to change for a device of your own.
//!
//! Key and identifier are at the symbol `tress_parameters`, which whoever provisions a device writes over in the file. The
//! kernels are those of `tress-rv32` without the rest of `tress-cipher`: one mode of one cipher is all that it needs.
//!
//! It ends with 0 after its packets, with 2 where it does not know its counter, with 3 where the counter is at its end.
#![no_std]
#![no_main]

mod counter;
mod packet;
mod sensor;

use tress_runtime::{console, entry};
use tress_rv32::ccm::Ccm;
use zeroize::Zeroize;

use counter::Counter;
use packet::{IDENTIFIER, Packet};
use sensor::Sensor;

/// What makes this device different from others.
#[repr(C)]
struct Parameters {
    /// `"tressn01"`, by which the host knows what it writes over.
    magic: [u8; 8],
    /// Its name in every packet; no other device has it.
    identifier: [u8; IDENTIFIER],
    /// Its own key, which the receiver has too. This one everybody knows.
    key: [u8; 16],
    /// How many packets; 0: without end.
    packets: u32,
    /// 1: a device that finds no counter begins at 0. Only for the first start with a new key.
    begin: u32,
}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".parameters")]
#[allow(non_upper_case_globals)]
static tress_parameters: Parameters =
    Parameters { magic: *b"tressn01", identifier: *b"example0", key: *b"everybody knows.", packets: 16, begin: 1 };

/// Samples in a packet: as many as fill a block.
const SAMPLES: usize = 4;

/// What the program ends with.
const NO_COUNTER: i32 = 2;
const COUNTER_ENDED: i32 = 3;

entry!(main);

fn main() -> i32 {
    // SAFETY: a static, which the host may have changed.
    let mut own = unsafe { (&raw const tress_parameters).read_volatile() };
    let Some(mut counter) = Counter::open(own.begin != 0) else {
        say("no counter: the store has lost it, and with this key one could come twice; the device wants a new key");
        return NO_COUNTER;
    };
    let cipher = Ccm::new(&own.key);
    own.key.zeroize();
    let mut sensor = Sensor::new(&own.identifier);
    let mut sent = 0;
    while own.packets == 0 || sent < own.packets {
        let Some(number) = counter.take() else {
            say("the counter is at its end; the device wants a new key");
            return COUNTER_ENDED;
        };
        let mut packet = Packet::new(&own.identifier, number);
        for _ in 0..SAMPLES {
            packet.push(sensor.read());
        }
        packet.send(&cipher);
        sent = sent.wrapping_add(1);
        // A device would sleep here until the next sample is due.
    }
    0
}

/// A line for people, between the marks of frames, so that it costs no packet.
fn say(text: &str) {
    console::write("\0node: ");
    console::write(text);
    console::write("\n\0");
}
