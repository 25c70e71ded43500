//! An example device: it reads samples and sends them over the UART as packets encrypted by AES-CCM, with its own key and a counter
//! as nonce. docs/reference/formats/node.md defines the packets; docs/guides/riscv.md says what to change for your own device.
//!
//! Key and identifier are at the symbol `tress_parameters`; provisioning a device overwrites them in the file. The
//! kernels come from `tress-rv32` instead of `tress-cipher`, because the device needs only one mode of one cipher.
//!
//! Exit code 0 means that all packets were sent, 2 that the counter is unknown, and 3 that the counter is at its end.
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

/// The parameters of one device.
#[repr(C)]
struct Parameters {
    /// `"tressn01"`, by which the host finds this structure.
    magic: [u8; 8],
    /// The device's name, sent in every packet. It must be unique.
    identifier: [u8; IDENTIFIER],
    /// The device's key, shared with the receiver. This default is public.
    key: [u8; 16],
    /// Number of packets to send. 0 means endless.
    packets: u32,
    /// 1: if the counter is unknown, begin at 0. Only for the first start with a new key.
    begin: u32,
}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".parameters")]
#[allow(non_upper_case_globals)]
static tress_parameters: Parameters =
    Parameters { magic: *b"tressn01", identifier: *b"example0", key: *b"everybody knows.", packets: 16, begin: 1 };

/// Samples in a packet: they fill one block.
const SAMPLES: usize = 4;

/// Exit codes.
const NO_COUNTER: i32 = 2;
const COUNTER_ENDED: i32 = 3;

entry!(main);

fn main() -> i32 {
    // SAFETY: reads an initialised static. Volatile, because the host may have changed it in the file.
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
        // A real device would sleep here until the next sample is due.
    }
    0
}

/// Writes a line for people between frame marks, so that the receiver loses no packet.
fn say(text: &str) {
    console::write("\0node: ");
    console::write(text);
    console::write("\n\0");
}
