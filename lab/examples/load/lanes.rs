//! Mixes of jobs in lanes, each result compared with what the reference makes of the message alone.

use tress_cipher::{
    Aad, Backend, BlockCipher, CcmCipher, Error, Tag, aes::Aes, lanes, modes, pipo::Pipo, rc6::Rc6, rijndael::Rijndael,
};

use crate::{numbers::Numbers, tally::Tally};

/// More than any number of lanes, twice over.
const MAX_JOBS: usize = 140;

/// One message.
struct Message {
    key: usize,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    data: Vec<u8>,
    tag_bytes: usize,
}

/// Mostly short ones, as on a wire, with long ones between them.
fn length(numbers: &mut Numbers) -> usize {
    let bound = *numbers.pick(&[1, 40, 100, 100, 600, 600, 2000, 17_000]);
    numbers.below(bound + 1)
}

/// Until the run is over.
pub fn run(mut numbers: Numbers, tally: &Tally) {
    while !tally.is_over() {
        let numbers = &mut numbers;
        match numbers.below(8) {
            0..4 => sealed("aes-ccm", &[16, 24, 32], Aes::with_backend, numbers, tally),
            4 => sealed("rc6-ccm", &[16, 24, 32], Rc6::with_backend, numbers, tally),
            5 => chained("aes-cbc", &[16, 24, 32], Aes::with_backend, numbers, tally),
            6 => chained("pipo-cbc", &[16, 32], Pipo::with_backend, numbers, tally),
            _ => chained("rijndael-cbc", &[16, 20, 24, 28, 32], Rijndael::<32>::with_backend, numbers, tally),
        }
    }
}

/// Backends of this machine, and none: a backend of its own for every job.
fn backends<C: BlockCipher>() -> Vec<Option<Backend>> {
    let available = C::BACKENDS.iter().filter(|backend| backend.is_available());
    available.map(|backend| Some(*backend)).chain([None]).collect()
}

fn name(backend: Option<Backend>) -> &'static str {
    backend.map_or("mixed backends", Backend::name)
}

/// For every message its cipher.
fn ciphers<C: BlockCipher>(
    keys: &[Vec<u8>],
    messages: &[Message],
    backend: Option<Backend>,
    make: fn(&[u8], Backend) -> Result<C, Error>,
    numbers: &mut Numbers,
) -> Result<Vec<C>, Error> {
    let available: Vec<_> = backends::<C>().into_iter().flatten().collect();
    let mut cipher = |message: &Message| make(&keys[message.key], backend.unwrap_or(*numbers.pick(&available)));
    messages.iter().map(&mut cipher).collect()
}

fn keys(key_bytes: &[usize], numbers: &mut Numbers) -> Vec<Vec<u8>> {
    let count = *numbers.pick(&[1, 2, 9, 40]);
    (0..count)
        .map(|_| {
            let bytes = *numbers.pick(key_bytes);
            numbers.bytes(bytes)
        })
        .collect()
}

fn sealed<C: CcmCipher>(
    what: &str,
    key_bytes: &[usize],
    make: fn(&[u8], Backend) -> Result<C, Error>,
    numbers: &mut Numbers,
    tally: &Tally,
) {
    let keys = keys(key_bytes, numbers);
    let messages: Vec<Message> = (0..numbers.below(MAX_JOBS))
        .map(|_| {
            let (nonce, aad) = (7 + numbers.below(7), *numbers.pick(&[0, 0, 1, 13, 14, 15, 30, 300, 2000]));
            // From here on the length stands in six bytes.
            let aad = if numbers.one_in(500) { 65_270 + numbers.below(20) } else { aad };
            let length = length(numbers);
            Message {
                key: numbers.below(keys.len()),
                nonce: numbers.bytes(nonce),
                aad: numbers.bytes(aad),
                data: numbers.bytes(length),
                tag_bytes: 4 + 2 * numbers.below(7),
            }
        })
        .collect();
    if let Err(error) = try_sealed(what, &keys, &messages, make, numbers, tally) {
        tally.wrong(format!("{what}: {error}"));
    }
}

fn try_sealed<C: CcmCipher>(
    what: &str,
    keys: &[Vec<u8>],
    messages: &[Message],
    make: fn(&[u8], Backend) -> Result<C, Error>,
    numbers: &mut Numbers,
    tally: &Tally,
) -> Result<(), Error> {
    let alone = ciphers(keys, messages, Some(Backend::Reference), make, numbers)?;
    let mut expected = Vec::new();
    for (message, cipher) in messages.iter().zip(&alone) {
        let (mut data, mut tag) = (message.data.clone(), vec![0; message.tag_bytes]);
        modes::ccm::seal(cipher, &message.nonce[..], Aad(&message.aad), &mut data, &mut tag[..])?;
        expected.push((data, tag));
    }
    for backend in backends::<C>() {
        let ciphers = ciphers(keys, messages, backend, make, numbers)?;
        let mut ours: Vec<_> = messages.iter().map(|one| (one.data.clone(), vec![0; one.tag_bytes])).collect();
        let mut jobs = Vec::new();
        for ((message, cipher), (data, tag)) in messages.iter().zip(&ciphers).zip(&mut ours) {
            jobs.push(lanes::ccm::Seal::new(cipher, &message.nonce[..], Aad(&message.aad), data, &mut tag[..])?);
        }
        lanes::ccm::seal(&mut jobs)?;
        if jobs.iter().any(|job| job.result().is_err()) || ours != expected {
            tally.wrong(format!("{what}, {}: {} jobs come to something else", name(backend), messages.len()));
            ours.clone_from(&expected);
        }
        // One in eight is forged somewhere: in data, tag, associated data or nonce.
        let (mut forged, mut nonces, mut aads) = (vec![false; messages.len()], vec![], vec![]);
        for ((message, (data, tag)), is_forged) in messages.iter().zip(&mut ours).zip(&mut forged) {
            let (mut nonce, mut aad) = (message.nonce.clone(), message.aad.clone());
            if numbers.one_in(8) {
                let parts: [&mut [u8]; 4] = [data, tag, &mut nonce, &mut aad];
                let part = &mut parts.into_iter().nth(numbers.below(4)).unwrap_or_default();
                *is_forged = !part.is_empty();
                numbers.flip(part);
            }
            nonces.push(nonce);
            aads.push(aad);
        }
        let mut jobs = Vec::new();
        for (((cipher, nonce), aad), (data, tag)) in ciphers.iter().zip(&nonces).zip(&aads).zip(&mut ours) {
            jobs.push(lanes::ccm::Open::new(cipher, &nonce[..], Aad(aad), data, Tag::new(tag, tag.len())?)?);
        }
        let found = lanes::ccm::open(&mut jobs).map_or_else(|forged| forged.count, |()| 0);
        let results: Vec<_> = jobs.iter().map(lanes::ccm::Open::result).collect();
        let wanted = forged.iter().filter(|forged| **forged).count();
        if found != wanted {
            tally.wrong(format!("{what}, {}: {found} forged jobs of {wanted}", name(backend)));
        }
        for (((message, is_forged), result), (data, _)) in messages.iter().zip(forged).zip(results).zip(&ours) {
            let is_right = match is_forged {
                true => result == Err(Error::Authentication) && data.iter().all(|byte| *byte == 0),
                false => result == Ok(()) && *data == message.data,
            };
            if !is_right {
                let kind = if is_forged { "a forged" } else { "an honest" };
                tally.wrong(format!("{what}, {}: {kind} job of {} bytes", name(backend), data.len()));
            }
        }
        tally.count(&format!("{what} jobs"), 2 * messages.len() as u64);
        tally.count("forged jobs found", found as u64);
    }
    Ok(())
}

fn chained<C: BlockCipher>(
    what: &str,
    key_bytes: &[usize],
    make: fn(&[u8], Backend) -> Result<C, Error>,
    numbers: &mut Numbers,
    tally: &Tally,
) {
    let keys = keys(key_bytes, numbers);
    let messages: Vec<Message> = (0..numbers.below(MAX_JOBS))
        .map(|_| {
            let length = length(numbers) / C::BLOCK_BYTES * C::BLOCK_BYTES;
            Message {
                key: numbers.below(keys.len()),
                nonce: numbers.bytes(C::BLOCK_BYTES),
                aad: Vec::new(),
                data: numbers.bytes(length),
                tag_bytes: 0,
            }
        })
        .collect();
    if let Err(error) = try_chained(what, &keys, &messages, make, numbers, tally) {
        tally.wrong(format!("{what}: {error}"));
    }
}

fn try_chained<C: BlockCipher>(
    what: &str,
    keys: &[Vec<u8>],
    messages: &[Message],
    make: fn(&[u8], Backend) -> Result<C, Error>,
    numbers: &mut Numbers,
    tally: &Tally,
) -> Result<(), Error> {
    let alone = ciphers(keys, messages, Some(Backend::Reference), make, numbers)?;
    let mut expected = Vec::new();
    for (message, cipher) in messages.iter().zip(&alone) {
        let mut data = message.data.clone();
        modes::cbc::encrypt(cipher, &message.nonce, &mut data)?;
        expected.push(data);
    }
    for backend in backends::<C>() {
        let ciphers = ciphers(keys, messages, backend, make, numbers)?;
        let mut ours: Vec<_> = messages.iter().map(|message| message.data.clone()).collect();
        let mut jobs = Vec::new();
        for ((message, cipher), data) in messages.iter().zip(&ciphers).zip(&mut ours) {
            jobs.push(lanes::cbc::Job::new(cipher, &message.nonce, data)?);
        }
        lanes::cbc::encrypt(&mut jobs);
        if ours != expected {
            tally.wrong(format!("{what}, {}: {} jobs come to something else", name(backend), messages.len()));
        }
        tally.count(&format!("{what} jobs"), messages.len() as u64);
    }
    Ok(())
}
