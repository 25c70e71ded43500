//! Properties of the modes of every cipher: each backend gives the result of the reference, one message at a time and in lanes.

use tress_cipher::lanes::cbc::{Job, encrypt};
use tress_cipher::modes::{cbc, ctr, ecb};
use tress_cipher::{Backend, Error};

use crate::properties::common::{GuardedBuffer, PropertyCipher, SeededBytes, backends, backends_to_compare, carve};

/// Checks ECB and CBC in both directions. `data` is cut to whole blocks.
pub(crate) fn ecb_and_cbc_agree<C: PropertyCipher>(key: &[u8], iv: &[u8], data: &[u8], offset: usize) {
    let data = &data[..data.len() / C::BLOCK_BYTES * C::BLOCK_BYTES];
    type BlockMode<C> = fn(&C, &[u8], &mut [u8]) -> Result<(), Error>;
    let modes: [(&str, BlockMode<C>); 4] = [
        ("ecb encrypt", |cipher, _, data| ecb::encrypt(cipher, data)),
        ("ecb decrypt", |cipher, _, data| ecb::decrypt(cipher, data)),
        ("cbc encrypt", cbc::encrypt),
        ("cbc decrypt", cbc::decrypt),
    ];
    for (name, mode) in modes {
        all_backends_agree::<C>(key, data, offset, name, |cipher, data| mode(cipher, iv, data).unwrap());
    }
}

/// Checks CTR on data of any length.
pub(crate) fn ctr_agrees<C: PropertyCipher>(key: &[u8], counter: &[u8], data: &[u8], offset: usize) {
    all_backends_agree::<C>(key, data, offset, "ctr", |cipher, data| ctr::apply(cipher, counter, data).unwrap());
}

/// Checks ECB, CBC and CTR with bytes from a seed. The last `ones` bytes of the counter carry soon.
pub(crate) fn one_message_agrees<C: PropertyCipher>(
    seed: u64,
    key_bytes: usize,
    length: usize,
    offset: usize,
    ones: usize,
) {
    let mut random = SeededBytes::new(seed ^ C::BLOCK_BYTES as u64);
    let (key, mut iv, data) = (random.take(key_bytes), random.take(C::BLOCK_BYTES), random.take(length));
    ecb_and_cbc_agree::<C>(&key, &iv, &data, offset);
    if ones > 0 {
        iv[C::BLOCK_BYTES - ones.min(C::BLOCK_BYTES)..].fill(0xff);
        iv[C::BLOCK_BYTES - 1] = 0xff - random.below(40) as u8;
    }
    ctr_agrees::<C>(&key, &iv, &data, offset);
}

fn all_backends_agree<C: PropertyCipher>(
    key: &[u8],
    data: &[u8],
    offset: usize,
    name: &str,
    mode: impl Fn(&C, &mut [u8]),
) {
    let mut expected = data.to_vec();
    mode(&C::prepare(Backend::Reference, key), &mut expected);
    for backend in backends_to_compare::<C>() {
        let mut placed = GuardedBuffer::new(data, offset);
        mode(&C::prepare(backend, key), placed.bytes());
        let what = || format!("block {}, key {}, {} bytes", C::BLOCK_BYTES, key.len(), data.len());
        assert!(placed.finish() == expected, "{name}, {} on {}", what(), backend.name());
    }
}

/// The keys of the jobs in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
enum JobKeys {
    /// All jobs have the same cipher object.
    Shared,
    /// Each job has one of several keys, prepared for the same backend or for any.
    Mixed { one_backend: bool },
}

/// Compares CBC encryption in lanes with the reference, one message at a time, with shared and mixed keys. `shape` is the gap before each
/// message and its number of blocks.
pub(crate) fn cbc_lanes_agree<C: PropertyCipher>(seed: u64, keys: usize, shape: &[(usize, usize)]) {
    for kind in [JobKeys::Shared, JobKeys::Mixed { one_backend: true }, JobKeys::Mixed { one_backend: false }] {
        cbc_lanes_agree_with::<C>(&mut SeededBytes::new(seed), keys, shape, kind);
    }
}

fn cbc_lanes_agree_with<C: PropertyCipher>(
    random: &mut SeededBytes,
    keys: usize,
    shape: &[(usize, usize)],
    kind: JobKeys,
) {
    let backends = backends::<C>();
    // All keys have the same length, or they cycle through the lengths.
    let (first, step) = (random.below(C::KEY_BYTES.len()), random.below(2));
    let keys: Vec<Vec<u8>> =
        (0..keys).map(|i| random.take(C::KEY_BYTES[(first + step * i) % C::KEY_BYTES.len()])).collect();
    let jobs: Vec<(usize, usize)> = shape.iter().map(|&(gap, blocks)| (gap, C::BLOCK_BYTES * blocks)).collect();
    let own_backend = backends[random.below(backends.len())];
    let mut ciphers: Vec<(usize, C)> = Vec::new();
    for _ in &jobs {
        let key = random.below(keys.len());
        let any = backends[random.below(backends.len())];
        let backend = if kind == (JobKeys::Mixed { one_backend: false }) { any } else { own_backend };
        ciphers.push((key, C::prepare(backend, &keys[key])));
    }
    let cipher = |job: usize| if kind == JobKeys::Shared { &ciphers[0] } else { &ciphers[job] };
    let ivs: Vec<Vec<u8>> = jobs.iter().map(|_| random.take(C::BLOCK_BYTES)).collect();
    let mut buffer = random.take(jobs.iter().map(|(gap, length)| gap + length).sum());

    let mut expected = buffer.clone();
    for (job, slice) in carve(&mut expected, jobs.iter().copied()).into_iter().enumerate() {
        cbc::encrypt(&C::prepare(Backend::Reference, &keys[cipher(job).0]), &ivs[job], slice).unwrap();
    }
    let mut lanes: Vec<Job<'_, C>> = (carve(&mut buffer, jobs.iter().copied()).into_iter().enumerate())
        .map(|(job, slice)| Job::new(&cipher(job).1, &ivs[job], slice).unwrap())
        .collect();
    encrypt(&mut lanes);
    drop(lanes);
    // The comparison includes the gaps: nothing outside of the jobs was written.
    assert!(buffer == expected, "block {}, {kind:?} keys on {}", C::BLOCK_BYTES, own_backend.name());
}
