//! Jobs in lanes against the reference, one message at a time: any mix of keys, key lengths, message lengths, nonces,
//! associated data and tags, some of them forged, on every available backend.

use tress_cipher::catalogue::{CIPHERS, FromKey, WithCipher};
use tress_cipher::modes::{cbc, ccm};
use tress_cipher::{Aad, Backend, CcmCipher, Error, Tag, lanes};

use crate::input::Input;

const MAX_JOBS: usize = 80;
const MAX_KEYS: usize = 5;

/// A message with its parameters.
struct FuzzMessage {
    key: usize,
    iv: [u8; 32],
    nonce_bytes: usize,
    tag_bytes: usize,
    aad: Vec<u8>,
    data: Vec<u8>,
    /// The bit of ciphertext and tag to flip, if any.
    forged: Option<usize>,
}

/// Panics if lanes give another result than one call for each message.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (cipher, is_chained) = (input.pick(CIPHERS), input.flag());
    cipher.with(LanesCase { input: &mut input, is_chained });
}

struct LanesCase<'i, 'b> {
    input: &'i mut Input<'b>,
    is_chained: bool,
}

impl WithCipher for LanesCase<'_, '_> {
    type Output = ();

    fn block<C: FromKey>(self) {
        check_cbc::<C>(self.input);
    }

    fn ccm<C: FromKey + CcmCipher>(self) {
        if self.is_chained { check_cbc::<C>(self.input) } else { check_ccm::<C>(self.input) }
    }
}

/// Makes keys and messages from the input.
fn messages(input: &mut Input<'_>, key_bytes: &[usize]) -> (Vec<Vec<u8>>, Vec<FuzzMessage>) {
    let keys: Vec<Vec<u8>> = (0..1 + input.below(MAX_KEYS))
        .map(|_| {
            let length = *input.pick(key_bytes);
            input.message(length)
        })
        .collect();
    let count = input.below(MAX_JOBS + 1);
    let mut messages: Vec<FuzzMessage> = Vec::new();
    while messages.len() < count {
        let step = input.byte();
        let length = match step % 4 {
            0 => input.below(40),
            1 => 16 * input.below(24),
            2 => 512 + input.below(64),
            _ => input.below(1500),
        };
        let message = FuzzMessage {
            key: input.below(keys.len()),
            iv: input.fixed(),
            nonce_bytes: 7 + usize::from(step >> 2 & 7) % 7,
            tag_bytes: 4 + 2 * (usize::from(step >> 5) % 7),
            aad: {
                let length = [0, 1, 13, 14, 30, 300][input.below(6)];
                input.message(length)
            },
            data: input.message(length),
            forged: (input.byte() > 0xe0).then(|| input.short()),
        };
        messages.push(message);
    }
    (keys, messages)
}

fn check_ccm<C: FromKey + CcmCipher>(input: &mut Input<'_>) {
    let (keys, messages) = messages(input, C::KEY_BYTES);
    let reference = ciphers::<C>(&keys, Backend::Reference);
    let sealed: Vec<(Vec<u8>, Vec<u8>)> = messages
        .iter()
        .map(|message| {
            let (mut data, mut tag) = (message.data.clone(), vec![0; message.tag_bytes]);
            ccm::seal(&reference[message.key], message.nonce(), Aad(&message.aad), &mut data, &mut tag[..])
                .expect("parameters of CCM");
            (data, tag)
        })
        .collect();
    for &backend in C::BACKENDS.iter().filter(|backend| backend.is_available()) {
        let ciphers = ciphers::<C>(&keys, backend);
        let mut ours: Vec<_> =
            messages.iter().map(|message| (message.data.clone(), vec![0; message.tag_bytes])).collect();
        let jobs = messages.iter().zip(&mut ours).map(|(message, (data, tag))| {
            lanes::ccm::Seal::new(&ciphers[message.key], message.nonce(), Aad(&message.aad), data, &mut tag[..])
        });
        // The nonces come from the input and may repeat.
        lanes::ccm::seal_without_nonce_check(&mut jobs.collect::<Result<Vec<_>, _>>().expect("parameters of CCM"));
        assert!(ours == sealed, "{}", backend.name());

        let mut forged = sealed.clone();
        for (message, (data, tag)) in messages.iter().zip(&mut forged) {
            if let Some(bit) = message.forged {
                let bit = bit % (8 * (data.len() + tag.len()));
                let byte = data.iter_mut().chain(tag).nth(bit / 8).expect("below the length");
                *byte ^= 1 << (bit % 8);
            }
        }
        let jobs = messages.iter().zip(&mut forged).map(|(message, (data, tag))| {
            let tag = Tag::new(tag, message.tag_bytes)?;
            lanes::ccm::Open::new(&ciphers[message.key], message.nonce(), Aad(&message.aad), data, tag)
        });
        let mut jobs: Vec<_> = jobs.collect::<Result<_, _>>().expect("parameters of CCM");
        let count = lanes::ccm::open(&mut jobs).map_or_else(|forged| forged.count, |()| 0);
        assert_eq!(count, messages.iter().filter(|message| message.forged.is_some()).count());
        let results: Vec<_> = jobs.iter().map(|job| job.result()).collect();
        drop(jobs);
        for ((message, (data, _)), result) in messages.iter().zip(&forged).zip(results) {
            match message.forged {
                None => assert!(result.is_ok() && *data == message.data, "{}", backend.name()),
                Some(_) => {
                    assert_eq!(result, Err(Error::Authentication), "{}", backend.name());
                    assert!(data.iter().all(|byte| *byte == 0), "{}", backend.name());
                }
            }
        }
    }
}

impl FuzzMessage {
    /// The nonce for CCM.
    fn nonce(&self) -> &[u8] {
        &self.iv[..self.nonce_bytes]
    }
}

fn check_cbc<C: FromKey>(input: &mut Input<'_>) {
    let (keys, mut messages) = messages(input, C::KEY_BYTES);
    for message in &mut messages {
        message.data.truncate(message.data.len() / C::BLOCK_BYTES * C::BLOCK_BYTES);
    }
    let reference = ciphers::<C>(&keys, Backend::Reference);
    let sealed: Vec<Vec<u8>> = messages
        .iter()
        .map(|message| {
            let mut data = message.data.clone();
            cbc::encrypt(&reference[message.key], &message.iv[..C::BLOCK_BYTES], &mut data).expect("whole blocks");
            data
        })
        .collect();
    for &backend in C::BACKENDS.iter().filter(|backend| backend.is_available()) {
        let ciphers = ciphers::<C>(&keys, backend);
        let mut ours: Vec<Vec<u8>> = messages.iter().map(|message| message.data.clone()).collect();
        let jobs = messages.iter().zip(&mut ours).map(|(message, data)| {
            lanes::cbc::Job::new(&ciphers[message.key], &message.iv[..C::BLOCK_BYTES], data).expect("whole blocks")
        });
        lanes::cbc::encrypt(&mut jobs.collect::<Vec<_>>());
        assert!(ours == sealed, "{}", backend.name());
    }
}

fn ciphers<C: FromKey>(keys: &[Vec<u8>], backend: Backend) -> Vec<C> {
    keys.iter().map(|key| C::with_backend(key, backend).expect("a key of its length")).collect()
}
