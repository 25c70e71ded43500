//! The image `bench` (riscv/firmware/devices/src/bench) on the model of the FE310: its counters count, its table
//! agrees with its JSON, and no kernel takes more cycles than its limit.

use serde_json::Value;
use tress_sim::{Image, Machine, Model, Simulation};

const BENCH: &[u8] = include_bytes!("../../riscv/firmware/images/bench.elf");

/// Kernel, bits of its key, and the most cycles per byte: of one call with the least bytes, and of a kilobyte. The
/// limits are below, for PIPO, Table 5 of Eum et al., "Optimized Implementation of PIPO Lightweight Block Cipher on
/// 32-bit RISC-V Processor" (2022); for AES, Adomnicai and Peyrin (2021) and, with tables, Stoffelen (2019).
const MOST: [(&str, u64, f64, f64); 12] = [
    ("tress_pipo128_encrypt1", 128, 108.0, 152.21),
    ("tress_pipo128_cbc_encrypt1", 128, 111.0, 155.0),
    ("tress_pipo128_ctr1", 128, 108.0, 155.25),
    ("tress_pipo128_encrypt4", 128, 59.93, 35.5),
    ("tress_pipo128_small_encrypt4", 128, 45.0, 45.0),
    ("tress_pipo128_ctr4", 128, 59.59, 31.5),
    ("tress_pipo128_cbc_decrypt4", 128, 60.68, 37.0),
    ("tress_pipo256_encrypt4", 256, 59.93, 46.0),
    ("tress_aes8_ctr", 128, 89.0, 77.0),
    ("tress_aes2_ccm_encrypt", 128, 179.0, 178.0),
    ("tress_aes8_ccm4_encrypt", 128, 160.0, 160.0),
    ("tress_aes_table_stream", 128, 78.9, 56.0),
];

/// Output of the image on this machine.
fn run(machine: &str) -> String {
    let machine = Machine::preset(machine).expect("a machine");
    let image = Image::parse(BENCH).expect("an image");
    let mut simulation = Simulation::new(&machine, Model::Pipeline, image).expect("a simulation");
    assert_eq!(simulation.run(1 << 28).expect("a run"), Some(0));
    String::from_utf8(simulation.console().to_vec()).expect("text")
}

/// A core that completes several instructions per cycle counts them exactly, too.
#[test]
fn counters_of_a_wide_core_are_exact() {
    let text = run("raptor");
    assert!(!text.contains("WARNING") && text.matches("\"counted\":true").count() == 80, "{text}");
}

#[test]
fn kernels_are_within_their_limits() {
    let text = run("fe310");
    assert!(!text.contains("WARNING"));
    let json: Vec<Value> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let table: Vec<Vec<&str>> =
        text.lines().filter(|line| line.starts_with("tress_")).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(json.len(), table.len());
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}"));
    for (row, line) in json.iter().zip(&table) {
        assert_eq!(row["kernel"], line[0]);
        assert_eq!(row["counted"], true);
        for (name, column) in [
            ("key_bits", 1),
            ("bytes", 2),
            ("first_cycles", 3),
            ("cycles", 4),
            ("large_cycles", 6),
            ("code_bytes", 8),
            ("table_bytes", 9),
            ("key_bytes", 10),
            ("stack_bytes", 11),
        ] {
            assert_eq!(number(row, name).to_string(), line[column], "{name} of {row}");
        }
        assert!(number(row, "stack_bytes") <= 256, "{row}");
        assert!(number(row, "first_cycles") > number(row, "cycles"), "{row}");
    }
    for (kernel, bits, small, large) in MOST {
        let row = json.iter().find(|row| row["kernel"] == kernel && row["key_bits"] == bits).expect(kernel);
        let a_byte = |cycles, bytes| number(row, cycles) as f64 / number(row, bytes) as f64;
        assert!(a_byte("cycles", "bytes") <= small, "{row}");
        assert!(a_byte("large_cycles", "large_bytes") <= large, "{row}");
    }
}
