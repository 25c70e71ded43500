//! The kernels with which timing models are compared (riscv/firmware/programs/src/kernels), as images: their results
//! are compared with those of Tress and other libraries.

use object::{Object, ObjectSymbol};
use tress_cipher::{aes::Aes, modes::ecb, pipo::Pipo, rc6::Rc6};
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

/// The input of every kernel: numbers of the generator in `riscv/firmware/programs/src/numbers.rs`.
fn data() -> Vec<u32> {
    let mut x = 1u32;
    let next = |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x ^ x >> 16
    };
    (0..256).map(next).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    words.fold(0x811c_9dc5, |sum: u32, word| (sum ^ word).wrapping_mul(0x0100_0193))
}

#[test]
fn kernels_compute_what_they_should() {
    let key: [u8; 16] = std::array::from_fn(|byte| byte as u8);
    let data = data();
    let aes = |blocks: usize| {
        let mut message = bytes(&data[..4 * blocks]);
        ecb::encrypt(&Aes::new(&key).expect("a key"), &mut message).expect("blocks");
        sum(&message)
    };
    let mut rc6 = bytes(&data[..32]);
    ecb::encrypt(&Rc6::new(&key).expect("a key"), &mut rc6).expect("blocks");
    let mut pipo = bytes(&data[..128]);
    ecb::encrypt(&Pipo::new(&key).expect("a key"), &mut pipo).expect("blocks");
    let mut sorted = data[..128].to_vec();
    sorted.sort_unstable();
    // FIPS 180-4 section 5.3.3.
    let mut state =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    let blocks: Vec<[u8; 64]> = bytes(&data[..64]).as_chunks().0.to_vec();
    sha2::block_api::compress256(&mut state, &blocks);
    let expected = [
        ("memcpy", data[255]),
        ("aes-tables", aes(8)),
        ("aes-bitsliced", aes(16)),
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
