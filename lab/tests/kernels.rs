//! The kernels with which timing models are compared (riscv/firmware/programs/src/kernels), as images: their results
//! are compared with those of Tress and other libraries.

#[path = "../src/study/numbers.rs"]
mod numbers;

use numbers::{NumberGenerator, sum};
use object::{Object, ObjectSymbol};
use tress_cipher::aes::Aes;
use tress_cipher::modes::ecb;
use tress_cipher::pipo::Pipo;
use tress_cipher::rc6::Rc6;
use tress_sim::{Image, Machine, System};

const RAM: &[u8] = include_bytes!("../../riscv/firmware/images/kernels-ram.elf");
const FLASH: &[u8] = include_bytes!("../../riscv/firmware/images/kernels-flash.elf");

/// In the program's order.
const NAMES: [&str; 22] = [
    "alu-chain",
    "alu-streams",
    "load-use",
    "load-byte-use",
    "load-late-use",
    "store-load",
    "store-load-apart",
    "mul-chain",
    "mul-streams",
    "mul-among-alu",
    "div",
    "rem-signed",
    "branches-loop",
    "branches-random",
    "calls",
    "memcpy",
    "pipo",
    "aes-tables",
    "aes-bitsliced",
    "rc6",
    "sha-256",
    "sort",
];

/// The result of each kernel.
fn values(program: &[u8]) -> Vec<u32> {
    let image = Image::parse(program).expect("an image");
    let file = object::File::parse(program).expect("an ELF file");
    let result = file.symbols().find(|symbol| symbol.name() == Ok("tress_result")).expect("a result").address();
    let mut system = System::new(&Machine::generic(), image).expect("a machine");
    assert_eq!(system.run(1 << 28).expect("a run"), Some(0));
    let words = system.bus.memory.bytes(result, 16 * NAMES.len() as u64);
    words
        .as_chunks::<16>()
        .0
        .iter()
        .map(|figures| u32::from_le_bytes([figures[12], figures[13], figures[14], figures[15]]))
        .collect()
}

#[test]
fn kernels_compute_what_they_should() {
    let key: [u8; 16] = std::array::from_fn(|byte| byte as u8);
    // The input of every kernel.
    let data = NumberGenerator::new().bytes(256);
    let aes = |bytes: usize| {
        let mut message = data[..bytes].to_vec();
        ecb::encrypt(&Aes::new(&key).expect("a key"), &mut message).expect("blocks");
        sum(&message)
    };
    let mut rc6 = data[..128].to_vec();
    ecb::encrypt(&Rc6::new(&key).expect("a key"), &mut rc6).expect("blocks");
    let mut pipo = data[..512].to_vec();
    ecb::encrypt(&Pipo::new(&key).expect("a key"), &mut pipo).expect("blocks");
    let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let mut sorted = words[..128].to_vec();
    sorted.sort_unstable();
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    // FIPS 180-4 section 5.3.3.
    let mut state =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    sha2::block_api::compress256(&mut state, data[..256].as_chunks().0);
    let expected = [
        ("memcpy", words[255]),
        ("aes-tables", aes(128)),
        ("aes-bitsliced", aes(256)),
        ("rc6", sum(&rc6)),
        ("pipo", sum(&pipo)),
        ("sha-256", sum(&bytes(&state))),
        ("sort", sum(&bytes(&sorted))),
        // 64 loads in each of 16 turns, each seven words further in a ring of 256, which ends at its first word.
        ("load-use", 0),
    ];
    for program in [RAM, FLASH] {
        let values = values(program);
        for (name, value) in expected {
            let place = NAMES.iter().position(|other| *other == name).expect("a name");
            assert_eq!(values[place], value, "{name}");
        }
        assert_eq!(values, self::values(RAM));
    }
}
