//! Monte Carlo tests: thousands of calls, each on the output of the calls before.

use tress_cipher::Backend;
use tress_cipher::modes::cbc as mode;

use crate::vectors::backends;
use crate::vectors::file::{MonteCarloDirection, VectorGroup, VectorTest};
use crate::vectors::under_test::VectorCipher;

fn encrypts(group: &VectorGroup) -> bool {
    group.direction.expect("a Monte Carlo group has a direction") == MonteCarloDirection::Encrypt
}

/// The input and the output of a test.
fn input_and_output(test: &VectorTest, encrypts: bool) -> (&[u8], &[u8]) {
    if encrypts { (test.message(), &test.ct) } else { (&test.ct, test.message()) }
}

/// The key of the next outer round: the key XOR as many of the last bits of the last two outputs.
fn next_key(key: &[u8], previous: &[u8], last: &[u8]) -> Vec<u8> {
    let outputs = [previous, last].concat();
    key.iter().zip(&outputs[32 - key.len()..]).map(|(a, b)| a ^ b).collect()
}

/// Number of calls with one block in an outer round of AESAVS.
const CBC_INNER_ROUNDS: usize = 1000;

/// AESAVS, section 6.4.2. In each outer round, the first block is that of the vector and the second is the IV. Then every output is
/// the input after the next one. The last output of a round is recorded; the last two give the next round's key, IV and block.
pub(crate) fn cbc<C: VectorCipher>(backend: Backend, group: &VectorGroup, test: &VectorTest, label: &str) {
    let encrypts = encrypts(group);
    let (input, output) = input_and_output(test, encrypts);
    let cipher = C::prepare(backend, &test.key);
    let mut chain = test.iv.clone();
    let mut previous = test.iv.clone();
    let mut block = input.to_vec();
    let mut last = test.iv.clone();
    for _ in 0..CBC_INNER_ROUNDS {
        let mut out = block.clone();
        if encrypts {
            mode::encrypt(&cipher, &chain, &mut out).expect(label);
            chain.clone_from(&out);
        } else {
            mode::decrypt(&cipher, &chain, &mut out).expect(label);
            chain.clone_from(&block);
        }
        block = std::mem::replace(&mut last, out);
        previous.clone_from(&block);
    }
    assert_eq!(last, output, "{label}");

    let position = group.tests.iter().position(|other| other.id == test.id).expect("the test is in its group");
    if let Some(next) = group.tests.get(position + 1) {
        let next_input = input_and_output(next, encrypts).0;
        assert_eq!((&next.iv[..], next_input), (&last[..], &previous[..]), "{label}: the next round");
        assert_eq!(next.key, next_key(&test.key, &previous, &last), "{label}: the next round's key");
    }
}

/// Number of calls in an outer round of the AES submissions.
const ECB_INNER_ROUNDS: usize = 10_000;

/// Runs one outer round of the AES submissions' test and returns the last two outputs.
fn ecb_round<C: VectorCipher>(cipher: &C, encrypts: bool, block: &[u8]) -> [Vec<u8>; 2] {
    let (mut previous, mut last) = (Vec::new(), block.to_vec());
    for _ in 0..ECB_INNER_ROUNDS {
        previous.clone_from(&last);
        if encrypts { cipher.encrypt_blocks(&mut last) } else { cipher.decrypt_blocks(&mut last) }
    }
    [previous, last]
}

/// Tests for other processors run in an emulator, where a call takes a hundred times as long.
const IS_EMULATED: bool = !cfg!(target_arch = "x86_64");

/// Runs a round that the file keeps. If the processor is emulated, only the first one.
pub(crate) fn ecb<C: VectorCipher>(backend: Backend, group: &VectorGroup, test: &VectorTest, label: &str) {
    if IS_EMULATED && test.outer_round != Some(0) {
        return;
    }
    let (input, output) = input_and_output(test, encrypts(group));
    let [_, last] = ecb_round(&C::prepare(backend, &test.key), encrypts(group), input);
    assert_eq!(last, output, "{label}");
}

/// Runs all rounds from 0 to the last one in the file on the machine's best backend, or the first two if that is slow.
pub(crate) fn ecb_chain<C: VectorCipher>(group: &VectorGroup, name: &str) {
    if IS_EMULATED {
        return;
    }
    let backend = *backends::available::<C>().last().expect("a backend");
    let is_slow = matches!(backend, Backend::Reference | Backend::Portable);
    let encrypts = encrypts(group);
    let kept = |outer| group.tests.iter().find(|test| test.outer_round == Some(outer));
    let rounds = if is_slow { 1 } else { group.tests.last().and_then(|test| test.outer_round).expect("a round") };
    let first = kept(0).expect("round 0");
    let (mut key, mut block) = (first.key.clone(), input_and_output(first, encrypts).0.to_vec());
    for outer in 0..=rounds {
        let label = format!("{name}, key of {} bits, round {outer} on {}", group.key_bits, backend.name());
        if let Some(test) = kept(outer) {
            assert_eq!((&key[..], &block[..]), (&test.key[..], input_and_output(test, encrypts).0), "{label}: in");
        }
        let [previous, last] = ecb_round(&C::prepare(backend, &key), encrypts, &block);
        if let Some(test) = kept(outer) {
            assert_eq!(last, input_and_output(test, encrypts).1, "{label}: out");
        }
        key = next_key(&key, &previous, &last);
        block = last;
    }
}
