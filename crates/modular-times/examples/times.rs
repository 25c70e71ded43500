//! The times of this machine at all digit sizes: `cargo run --release -p tress-modular-times --example times [all]`.
//! Without `all` only the rows of the paper's tables 2 to 5.

use std::time::Instant;

use tress_modular::Limb;
use tress_modular_times::{BITS, Clock, Operation, measure};

struct Nanoseconds(Instant);

impl Clock for Nanoseconds {
    const UNIT: &'static str = "ns";
    const ENOUGH: u64 = 2_000_000;

    fn now(&mut self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The least of several measurements: what others do on the machine only adds.
fn least<L: Limb>(operation: Operation, bits: usize) -> String {
    let mut clock = Nanoseconds(Instant::now());
    let mut memory = vec![L::ZERO; operation.memory::<L>(bits)];
    let times = (0..7).map(|_| measure(operation, bits, &mut clock, &mut memory).map(|time| time.thousandths()));
    match times.collect::<Result<Vec<_>, _>>() {
        Ok(times) => times.iter().min().map_or(String::new(), |least| format!("{:.1}", *least as f64 / 1000.0)),
        Err(error) => error.to_string(),
    }
}

fn main() {
    let operations = if std::env::args().any(|word| word == "all") { &Operation::ALL[..] } else { &Operation::PAPER };
    for bits in BITS {
        println!("{bits} bits, {}: digits of 16, 32, 64 bits", Nanoseconds::UNIT);
        for &operation in operations {
            println!(
                "{:<26} {:>12} {:>12} {:>12}",
                operation.name(),
                least::<u16>(operation, bits),
                least::<u32>(operation, bits),
                least::<u64>(operation, bits)
            );
        }
    }
}
