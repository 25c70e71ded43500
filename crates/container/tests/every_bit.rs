//! Flips every single bit of a container, truncates it at every length, and swaps, drops, doubles and replaces chunks. Each damage must be
//! detected, and no wrong byte may be released before that.
//!
//! By default one bit of every byte, which takes seconds. With `TRESS_EVERY_BIT` in the environment all eight (`make soak`): more than a
//! million damaged containers.

use std::thread;

use crate::container::layout;
use tress_container::commands::EncryptOptions;
use tress_container::format::{Aead, Content, Header, LAYOUT, PREFIX_BYTES};
use tress_container::keys::{Identities, KeyPair, RawKey, Recipients, key_file};
use tress_container::streaming::{Decryptor, encrypt_bytes};
use tress_container::{ErrorKind, Threads};

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const SEALED_CHUNK_BYTES: usize = LAYOUT.sealed_chunk_bytes();
const TAG_BYTES: usize = LAYOUT.tag_bytes();

/// Lengths around one chunk, and three chunks of which the last is short.
const LENGTHS: [usize; 6] = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES + 9000];

struct Sample {
    key: KeyPair,
    quick_key: RawKey,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    /// The content of the header.
    content: Content,
    header_bytes: usize,
    chunks_offset: usize,
}

impl Sample {
    fn new(bytes: usize, aead: Aead) -> Sample {
        let (key, quick_key) = (KeyPair::generate().unwrap(), key_file(&[1; 16]).unwrap());
        let recipients: Recipients =
            [key.recipient().into(), Recipients::from(quick_key.clone())].into_iter().collect();
        let plain: Vec<u8> = (0..bytes).map(|place| (place * 7 + place / 251) as u8).collect();
        let options = EncryptOptions::default().aead(aead).threads(Threads::ONE);
        let sealed = encrypt_bytes(&plain, &recipients, &options).unwrap();
        let header = Header::read(&mut &sealed[..]).unwrap();
        let content = header.open(&(&key).into()).unwrap();
        let header_bytes = header.header_bytes() as usize;
        let chunks_offset = header_bytes + PREFIX_BYTES;
        assert_eq!(sealed.len(), chunks_offset + LAYOUT.sealed_bytes(bytes as u64) as usize);
        Sample { key, quick_key, plain, sealed, content, header_bytes, chunks_offset }
    }

    fn chunks(&self) -> Vec<&[u8]> {
        self.sealed[self.chunks_offset..].chunks(SEALED_CHUNK_BYTES).collect()
    }

    /// Joins header, prefix and these chunks.
    fn with_chunks(&self, chunks: &[&[u8]]) -> Vec<u8> {
        [&self.sealed[..self.chunks_offset], &chunks.concat()].concat()
    }
}

/// Opens a damaged container in pieces, and checks that it fails and releases only right bytes.
fn refused(how: &str, sample: &Sample, damaged: &[u8]) -> ErrorKind {
    assert!(damaged != sample.sealed, "{how}: not damaged");
    // Opening a header takes most of the time, so an undamaged header is opened only once.
    let has_its_header = damaged.starts_with(&sample.sealed[..sample.header_bytes]);
    let keys = if has_its_header { Identities::from(sample.quick_key.clone()) } else { (&sample.key).into() };
    let mut decryptor = Decryptor::new(&keys, Threads::ONE);
    let mut plain = Vec::new();
    let pushed = decryptor.push(damaged, &mut plain);
    let error = pushed.and_then(|()| decryptor.finish(&mut plain)).expect_err(how);
    assert!(sample.plain.starts_with(&plain), "{how}: wrong bytes were released");
    assert!(plain.len().is_multiple_of(CHUNK_BYTES), "{how}: a part of a chunk was released");
    error.kind
}

fn every_bit() -> bool {
    std::env::var_os("TRESS_EVERY_BIT").is_some()
}

#[test]
fn every_bit_and_every_end() {
    for (bytes, aead) in LENGTHS.into_iter().zip([Aead::Aes128Ccm, Aead::Aes256Ccm].into_iter().cycle()) {
        let sample = &Sample::new(bytes, aead);
        let threads = thread::available_parallelism().map_or(1, |cores| cores.get());
        thread::scope(|scope| {
            (0..threads).for_each(|first| drop(scope.spawn(move || damage(sample, first, threads))));
        });
        for more in [1, TAG_BYTES - 1, TAG_BYTES, TAG_BYTES + 1, SEALED_CHUNK_BYTES, SEALED_CHUNK_BYTES + TAG_BYTES] {
            refused("zeros added", sample, &[&sample.sealed[..], &vec![0; more]].concat());
        }
    }
}

/// Flips bits of byte number `first` and of every `step`-th byte after it, and cuts the container there. Without `every_bit`, only of
/// every seventh in chunks, which is at every place of a block.
fn damage(sample: &Sample, first: usize, step: usize) {
    let mut damaged = sample.sealed.clone();
    let edge = sample.chunks_offset + TAG_BYTES;
    let places = (0..damaged.len()).filter(|place| every_bit() || *place < edge || place % 7 == 0);
    for place in places.skip(first).step_by(step) {
        for bit in 0..8 {
            if every_bit() || bit == place % 8 {
                damaged[place] ^= 1 << bit;
                let kind = refused("bits flipped", sample, &damaged);
                let chunk = place.checked_sub(sample.chunks_offset).map(|place| (place / SEALED_CHUNK_BYTES) as u64);
                match chunk {
                    Some(chunk) => assert_eq!(kind, ErrorKind::ChunkDamaged { chunk }),
                    None if place >= sample.header_bytes => assert_eq!(kind, ErrorKind::Commitment),
                    None => {}
                }
                damaged[place] ^= 1 << bit;
            }
        }
        let kind = refused("ends cut", sample, &sample.sealed[..place]);
        // A chunk that lost its end is a chunk with another tag.
        let is_right = matches!(kind, ErrorKind::Truncated | ErrorKind::ChunkDamaged { .. });
        assert!(is_right || place < b"tress/".len(), "{place}: {kind:?}");
    }
}

#[test]
fn chunks_in_other_places() {
    for bytes in [CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES + 9000, 5 * CHUNK_BYTES, 5 * CHUNK_BYTES + 1] {
        let sample = Sample::new(bytes, Aead::Aes128Ccm);
        let chunks = sample.chunks();
        for one in 0..chunks.len() {
            for other in 0..chunks.len() {
                if one != other {
                    let mut moved = chunks.clone();
                    moved.swap(one, other);
                    refused("chunks swapped", &sample, &sample.with_chunks(&moved));
                    let mut copied = chunks.clone();
                    copied[one] = chunks[other];
                    refused("chunks copied over others", &sample, &sample.with_chunks(&copied));
                }
                let mut more = chunks.clone();
                more.insert(one, chunks[other]);
                refused("chunks inserted", &sample, &sample.with_chunks(&more));
            }
            let mut fewer = chunks.clone();
            fewer.remove(one);
            refused("chunks dropped", &sample, &sample.with_chunks(&fewer));
            refused("ends between chunks", &sample, &sample.with_chunks(&chunks[..one]));
        }
    }
}

/// Puts parts of a container into another one: of another key, and of the same key and header with another salt.
#[test]
fn splices() {
    for bytes in [0, CHUNK_BYTES + 1, 2 * CHUNK_BYTES + 9000] {
        let sample = Sample::new(bytes, Aead::Aes128Ccm);
        let stranger = Sample::new(bytes, Aead::Aes128Ccm);
        let (payload, prefix) = tress_container::container::Payload::create(&sample.content).unwrap();
        let mut chunks = layout(&sample.plain);
        payload.seal(0, &mut chunks, true).unwrap();
        let twin = [&sample.sealed[..sample.header_bytes], &prefix, &chunks].concat();
        let places = [sample.header_bytes, sample.header_bytes + 24, sample.chunks_offset];
        let places: Vec<usize> = places
            .into_iter()
            .chain((sample.chunks_offset..sample.sealed.len()).step_by(SEALED_CHUNK_BYTES).skip(1))
            .collect();
        for (how, other) in [("spliced with another key's", &stranger.sealed), ("spliced with its twin", &twin)] {
            for &from in &places {
                // The twin has the same header, so from there on it is a valid container.
                if from > sample.header_bytes || how.ends_with("key's") {
                    refused(how, &sample, &[&sample.sealed[..from], &other[from..]].concat());
                }
                for &to in places.iter().filter(|&&to| to > from) {
                    let parts = [&sample.sealed[..from], &other[from..to], &sample.sealed[to..]];
                    refused(how, &sample, &parts.concat());
                }
            }
        }
    }
}
