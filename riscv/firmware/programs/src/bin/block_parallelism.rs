//! Encrypts messages by RC6 or Rijndael in ECB or CBC, each with its own key, on one or several harts. `tress study
//! block-parallelism` simulates it.
//!
//! The host writes its request over `tress_parameters` in the ELF file and finds the ciphertext at `tress_result`.
//! Keys, initialisation vectors and plaintext are numbers of a generator, which the host has too. The host also passes
//! the expected sum of the ciphertext, and the exit code is 0 if the sum matches.
#![no_std]
#![no_main]

use core::{array, cell::UnsafeCell, ops::Range};

use tress_cipher::{Backend, BlockCipher, aes::Aes, lanes::cbc, modes::ecb};
use tress_programs::{
    numbers::{Numbers, sum},
    rc6, rijndael, sizes,
};
use tress_runtime::{console, entry, harts, region::mark, region_name};

/// The request of the host.
#[repr(C)]
struct Parameters {
    /// `"blkpar01"`, by which the host finds this structure.
    magic: [u8; 8],
    cipher: u32,
    mode: u32,
    /// Number of blocks in each message.
    blocks: u32,
    messages: u32,
    harts: u32,
    /// Number of runs before the measured one, to warm up caches and predictors.
    warm: u32,
    /// The expected [`sum`] of the ciphertext.
    sum: u32,
    /// Whether to compare the sum.
    check: u32,
    /// Words of a key, and of a block: 4, except with [`RC6_SIZES`] and [`RIJNDAEL_SIZES`].
    key_words: u32,
    block_words: u32,
}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".parameters")]
#[allow(non_upper_case_globals)]
static tress_parameters: Parameters = Parameters {
    magic: *b"blkpar01",
    cipher: TABLES,
    mode: ECB,
    blocks: 1,
    messages: 1,
    harts: 1,
    warm: 0,
    sum: 0,
    check: 0,
    key_words: 4,
    block_words: 4,
};

// Ciphers: those of the submissions process one block at a time; Tress' bitsliced Rijndael 16 blocks or messages side
// by side; RC6 in pairs two messages side by side.
const RC6: u32 = 0;
const TABLES: u32 = 1;
const BITSLICED: u32 = 2;
const RC6_PAIRS: u32 = 3;
/// [`TABLES`] with the state in memory.
const IN_MEMORY: u32 = 4;
/// [`RC6`] with a division for each step of the key schedule.
const RC6_BY_DIVISION: u32 = 5;
/// [`RC6`] with two divisions.
const RC6_BY_TWO_DIVISIONS: u32 = 6;
/// [`RC6`] and [`TABLES`] with other lengths of keys, and of Rijndael's blocks.
const RC6_SIZES: u32 = 7;
const RIJNDAEL_SIZES: u32 = 8;

const ECB: u32 = 0;
const CBC: u32 = 1;

/// The most blocks of four words in all messages.
const MAX_BLOCKS: usize = 1 << 16;
const MAX_MESSAGES: usize = 1 << 12;

type Block = [u32; 4];

/// Memory that harts share. They work on different messages; the runtime's spawn and join order all other accesses.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: each use below says which part belongs to which hart.
unsafe impl<T> Sync for Shared<T> {}

#[repr(align(64))]
struct Keys([u32; 8 * MAX_MESSAGES]);
#[repr(align(64))]
struct Blocks([u32; 4 * MAX_BLOCKS]);

/// Key and initialisation vector of each message, one after the other.
#[unsafe(link_section = ".noinit")]
static KEYS: Shared<Keys> = Shared(UnsafeCell::new(Keys([0; 8 * MAX_MESSAGES])));
#[unsafe(link_section = ".noinit")]
static PLAIN: Shared<Blocks> = Shared(UnsafeCell::new(Blocks([0; 4 * MAX_BLOCKS])));
/// The ciphertext.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".noinit")]
#[allow(non_upper_case_globals)]
static tress_result: Shared<Blocks> = Shared(UnsafeCell::new(Blocks([0; 4 * MAX_BLOCKS])));

const PREPARE: i32 = 2;
const KEY_SETUP: i32 = 3;
const ENCRYPT: i32 = 4;
const CHECK: i32 = 5;
region_name!(2, "prepare");
region_name!(3, "key_setup");
region_name!(4, "encrypt");
region_name!(5, "check");

entry!(main);

fn main() -> i32 {
    mark::<PREPARE>();
    // SAFETY: reads an initialised static. Volatile, because the host may have changed it in the file.
    let asked = unsafe { (&raw const tress_parameters).read_volatile() };
    let sizes = [asked.key_words, asked.block_words];
    let messages = asked.messages as usize;
    let words = messages.saturating_mul(asked.blocks as usize).saturating_mul(asked.block_words as usize);
    let key_words = messages.saturating_mul(sizes.iter().sum::<u32>() as usize);
    let is_possible = (1..=4 * MAX_BLOCKS).contains(&words)
        && key_words <= 8 * MAX_MESSAGES
        && (1..=harts::MAX as u32).contains(&asked.harts)
        && match asked.cipher {
            RC6_SIZES => [4, 6, 8].contains(&sizes[0]) && sizes[1] == 4,
            RIJNDAEL_SIZES => sizes.iter().all(|words| [4, 6, 8].contains(words)),
            cipher => cipher < RC6_SIZES && sizes == [4, 4],
        }
        && asked.mode <= CBC;
    if !is_possible {
        console::write("block-parallelism: wrong parameters\n");
        return 1;
    }
    let mut numbers = Numbers(1);
    // SAFETY: no other hart has started, so these references are exclusive.
    let (keys, plain) = unsafe { (&mut (*KEYS.0.get()).0, &mut (*PLAIN.0.get()).0) };
    for number in keys[..key_words].iter_mut().chain(&mut plain[..words]) {
        *number = numbers.number();
    }
    for _ in 0..asked.warm {
        work(&asked, false);
    }
    work(&asked, true);
    mark::<CHECK>();
    // SAFETY: the other harts have finished, so nothing writes to it.
    let result = unsafe { &(*tress_result.0.get()).0 };
    let found = sum(&result[..words]);
    if asked.check != 0 && found != asked.sum {
        console::write("block-parallelism: wrong ciphertext\n");
        return 2;
    }
    0
}

/// Encrypts all messages, on the requested number of harts.
fn work(asked: &Parameters, is_measured: bool) {
    let count = asked.harts as usize;
    harts::each(count, |hart| {
        let bound = |hart: usize| asked.messages as usize * hart / count;
        let messages = bound(hart)..bound(hart + 1);
        // Runs that are not measured mark no regions, so they do not count in those of the measured run.
        let regions = Regions { is_measured };
        match asked.cipher {
            RC6 => rc6(asked, messages, regions, rc6::expand_key),
            RC6_BY_DIVISION => rc6(asked, messages, regions, rc6::expand_key_by::<4, 1>),
            RC6_BY_TWO_DIVISIONS => rc6(asked, messages, regions, rc6::expand_key_by::<4, 2>),
            TABLES => one_by_one(asked, messages, regions, rijndael::expand_key, rijndael::encrypt_block, [[0; 4]; 11]),
            IN_MEMORY => one_by_one(
                asked,
                messages,
                regions,
                rijndael::expand_key,
                rijndael::in_memory::encrypt_block,
                [[0; 4]; 11],
            ),
            BITSLICED => {
                side_by_side::<Aes, 16>(asked, messages, regions, |key| Aes::with_backend(key, Backend::Portable))
            }
            RC6_PAIRS => in_pairs(asked, messages, regions),
            RC6_SIZES => match asked.key_words {
                4 => rc6(asked, messages, regions, rc6::expand_key_by::<4, 0>),
                6 => rc6(asked, messages, regions, rc6::expand_key_by::<6, 0>),
                _ => rc6(asked, messages, regions, rc6::expand_key_by::<8, 0>),
            },
            RIJNDAEL_SIZES => rijndael_sizes(asked, messages, regions),
            _ => {}
        }
    });
    mark::<PREPARE>();
}

/// RC6 with this key schedule.
#[inline(always)]
fn rc6<const NK: usize>(
    asked: &Parameters,
    messages: Range<usize>,
    regions: Regions,
    expand_key: fn(&[u32; NK], &mut rc6::Keys),
) {
    one_by_one(asked, messages, regions, expand_key, rc6::encrypt_block, [0; 44]);
}

/// Rijndael with all sizes: words of key and block, and the rounds of the paper's Table 1.
fn rijndael_sizes(asked: &Parameters, messages: Range<usize>, regions: Regions) {
    macro_rules! sizes {
        ($($key:literal $block:literal $rounds:literal),*) => {
            match (asked.key_words, asked.block_words) {
                $(($key, $block) => {
                    let expand_key = sizes::expand_rijndael_key::<$key, $block, $rounds>;
                    let encrypt_block = sizes::encrypt_rijndael_block::<$block, $rounds>;
                    one_by_one(asked, messages, regions, expand_key, encrypt_block, [0; 120]);
                })*
                _ => {}
            }
        };
    }
    sizes!(4 4 10, 6 4 12, 8 4 14, 4 6 12, 6 6 12, 8 6 14, 4 8 14, 6 8 14, 8 8 14);
}

#[derive(Clone, Copy)]
struct Regions {
    is_measured: bool,
}

impl Regions {
    #[inline(always)]
    fn mark<const N: i32>(self) {
        if self.is_measured {
            mark::<N>();
        }
    }
}

/// Key and initialisation vector, plaintext, and space for the ciphertext of a message.
type Message<const NK: usize, const NB: usize> =
    ((&'static [u32; NK], &'static [u32; NB]), &'static [[u32; NB]], &'static mut [[u32; NB]]);

/// The message of this number, with a key of `NK` words and blocks of `NB`.
fn message<const NK: usize, const NB: usize>(asked: &Parameters, number: usize) -> Message<NK, NB> {
    let words = asked.blocks as usize * NB;
    let start = number * words;
    // SAFETY: nothing writes keys and plaintext while harts work. Each message belongs to one hart, which uses one of
    // these slices at a time.
    let (keys, plain, result) = unsafe {
        let result: *mut u32 = tress_result.0.get().cast();
        (
            &(&(*KEYS.0.get()).0)[number * (NK + NB)..][..NK + NB],
            &(&(*PLAIN.0.get()).0)[start..start + words],
            core::slice::from_raw_parts_mut(result.add(start), words),
        )
    };
    let (key, iv) = keys.split_at(NK);
    ((&key.as_chunks().0[0], &iv.as_chunks().0[0]), plain.as_chunks().0, result.as_chunks_mut().0)
}

/// Processes one block after the other and one message after the other, like the submissions' interface.
#[inline(always)]
fn one_by_one<K, const NK: usize, const NB: usize>(
    asked: &Parameters,
    messages: Range<usize>,
    regions: Regions,
    expand_key: fn(&[u32; NK], &mut K),
    encrypt_block: fn(&K, &[u32; NB], &mut [u32; NB]),
    mut keys: K,
) {
    for number in messages {
        let ((key, iv), plain, cipher) = message(asked, number);
        regions.mark::<KEY_SETUP>();
        expand_key(key, &mut keys);
        regions.mark::<ENCRYPT>();
        if asked.mode == ECB {
            for (plain, cipher) in plain.iter().zip(cipher) {
                encrypt_block(&keys, plain, cipher);
            }
        } else {
            let mut chain = *iv;
            for (plain, cipher) in plain.iter().zip(cipher) {
                let block = array::from_fn(|word| chain[word] ^ plain[word]);
                encrypt_block(&keys, &block, cipher);
                chain = *cipher;
            }
        }
    }
}

/// RC6, two messages side by side. An odd message at the end is processed twice.
#[inline(always)]
fn in_pairs(asked: &Parameters, messages: Range<usize>, regions: Regions) {
    let mut keys = [[0; 44]; 2];
    for first in messages.clone().step_by(2) {
        let pair = [first, if first + 1 < messages.end { first + 1 } else { first }];
        let [((key_0, iv_0), plain_0, _), ((key_1, iv_1), plain_1, _)] =
            pair.map(|number| message::<4, 4>(asked, number));
        regions.mark::<KEY_SETUP>();
        rc6::expand_key(key_0, &mut keys[0]);
        rc6::expand_key(key_1, &mut keys[1]);
        regions.mark::<ENCRYPT>();
        let zero = [0; 4];
        let [mut chain_0, mut chain_1] = if asked.mode == CBC { [*iv_0, *iv_1] } else { [zero; 2] };
        for (place, (plain_0, plain_1)) in plain_0.iter().zip(plain_1).enumerate() {
            let added = |chain: &Block, plain: &Block| array::from_fn(|word| chain[word] ^ plain[word]);
            let blocks: [Block; 2] = [added(&chain_0, plain_0), added(&chain_1, plain_1)];
            let mut out = [zero; 2];
            let [out_0, out_1] = &mut out;
            rc6::encrypt_two([&keys[0], &keys[1]], [&blocks[0], &blocks[1]], [out_0, out_1]);
            if asked.mode == CBC {
                [chain_0, chain_1] = out;
            }
            message::<4, 4>(asked, pair[0]).2[place] = out[0];
            message::<4, 4>(asked, pair[1]).2[place] = out[1];
        }
    }
}

/// The blocks of a message or, in CBC, up to `LANES` messages side by side.
#[inline(always)]
fn side_by_side<C: BlockCipher, const LANES: usize>(
    asked: &Parameters,
    messages: Range<usize>,
    regions: Regions,
    cipher_of: fn(&[u8]) -> Result<C, tress_cipher::Error>,
) {
    const FITS: &str = "a key of 16 bytes, whole blocks";
    let mut first = messages.start;
    while first < messages.end {
        let group: [usize; LANES] = array::from_fn(|lane| first + lane);
        first += LANES;
        regions.mark::<KEY_SETUP>();
        // Missing messages in the last group are empty.
        let ciphers = group.map(|number| {
            let (key, _) = message::<4, 4>(asked, number.min(messages.end - 1)).0;
            cipher_of(bytes(key).as_flattened()).expect(FITS)
        });
        regions.mark::<ENCRYPT>();
        let data = group.map(|number| {
            if number >= messages.end {
                return (&[0; 16], Default::default());
            }
            let ((_, iv), plain, cipher) = message::<4, 4>(asked, number);
            cipher.copy_from_slice(plain);
            // SAFETY: words viewed as bytes, which need no alignment.
            let data =
                unsafe { core::slice::from_raw_parts_mut(cipher.as_mut_ptr().cast::<u8>(), size_of_val(cipher)) };
            (bytes(iv).as_flattened().try_into().expect(FITS), data)
        });
        if asked.mode == ECB {
            for (cipher, (_, data)) in ciphers.iter().zip(data) {
                ecb::encrypt(cipher, data).expect(FITS);
            }
        } else {
            let mut lane = 0;
            let mut jobs = data.map(|(iv, data): (&[u8; 16], &mut [u8])| {
                lane += 1;
                cbc::Job::new(&ciphers[lane - 1], iv, data).expect(FITS)
            });
            cbc::encrypt(&mut jobs);
        }
    }
}

/// The bytes of a block, little-endian as on this machine.
fn bytes(block: &Block) -> &[[u8; 4]; 4] {
    const { assert!(cfg!(target_endian = "little")) };
    // SAFETY: both types have the same size, and bytes need no alignment.
    unsafe { &*(&raw const *block).cast() }
}
