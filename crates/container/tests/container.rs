//! The container's writer: sealed data opens, sealing twice gives different bytes, and no key shows up where it should not.

use std::collections::HashSet;

use tress_container::format::{ALIGNMENT_BYTES, Aead, Content, ContentType, Header, LAYOUT, Payload};
use tress_container::keys::{Identities, KeyPair, RawKey, Recipients, key_file};
use tress_container::streaming::Decryptor;
use tress_container::{ErrorKind, Threads};

const CHUNK_BYTES: usize = LAYOUT.chunk_bytes();
const MAX_CHUNKS: u64 = LAYOUT.max_chunks();
const SEALED_CHUNK_BYTES: usize = LAYOUT.sealed_chunk_bytes();
const TAG_BYTES: usize = LAYOUT.tag_bytes();

fn raw(byte: u8) -> RawKey {
    key_file(&[byte; 32]).unwrap()
}

fn to(keys: &[RawKey]) -> Recipients {
    keys.iter().cloned().collect()
}

fn of(key: RawKey) -> Identities {
    key.into()
}

fn content(aead: Aead) -> Content {
    Content::generate(aead, ContentType::File, Some("name".into())).unwrap()
}

fn passphrase(text: &str) -> Recipients {
    Recipients::from_passphrase_with_work_factor(text, 4).unwrap()
}

/// Arranges chunks in the payload's layout, with empty tags.
pub(crate) fn layout(plain: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::new();
    for number in 0..=plain.len() / CHUNK_BYTES {
        let start = number * CHUNK_BYTES;
        buffer.extend_from_slice(&plain[start..plain.len().min(start + CHUNK_BYTES)]);
        buffer.extend_from_slice(&[0; TAG_BYTES]);
    }
    buffer
}

#[test]
fn headers_open_for_every_recipient_and_nobody_else() {
    let pair = KeyPair::generate().unwrap();
    let mut recipients = to(&[raw(1), raw(2)]);
    recipients.extend([&pair.address().unwrap()]);
    for &aead in Aead::ALL {
        let content = content(aead);
        let bytes = Header::seal(&content, &recipients).unwrap();
        assert_eq!(bytes.len() % ALIGNMENT_BYTES, 0);
        assert!(bytes.starts_with(aead.first_line().as_bytes()));

        let with_payload = [&bytes[..], b"payload"].concat();
        let mut rest = &with_payload[..];
        let header = Header::read(&mut rest).unwrap();
        assert_eq!(rest, b"payload");
        assert_eq!((header.aead(), header.header_bytes()), (aead, bytes.len() as u64));
        assert_eq!(header.recipient_types(), ["tress-raw-key", "tress-raw-key", "X25519"]);

        for identities in [of(raw(1)), of(raw(2)), (&pair).into()] {
            let opened = header.open(&identities).unwrap();
            assert_eq!((opened.aead(), opened.name()), (aead, Some("name")));
            // Tests that the input key is the same: only that key gives the commitment.
            let (_, prefix) = Payload::create(&content).unwrap();
            assert!(Payload::open(&opened, &prefix).is_ok());
        }
        assert_eq!(header.open(&of(raw(3))).unwrap_err().kind, ErrorKind::NoMatchingKey);
        assert_eq!(header.open(&Identities::default()).unwrap_err().kind, ErrorKind::NoMatchingKey);
    }
}

#[test]
fn every_identity_is_tried() {
    let content = content(Aead::Aes128Ccm);
    let bytes = Header::seal(&content, &passphrase("right")).unwrap();
    let header = Header::read(&mut &bytes[..]).unwrap();
    assert_eq!(header.recipient_types(), ["scrypt"]);
    let wrong = || Identities::from_passphrase("wrong").unwrap();
    let right = Identities::from_passphrase("right").unwrap();
    assert_eq!(header.open(&wrong()).unwrap_err().kind, ErrorKind::WrongPassphrase);
    assert_eq!(header.open(&[wrong(), of(raw(1))].into_iter().collect()).unwrap_err().kind, ErrorKind::WrongPassphrase);
    assert!(header.open(&[of(raw(1)), wrong(), right].into_iter().collect()).is_ok());
}

#[test]
fn recipients_that_cannot_be_combined_are_refused() {
    let content = content(Aead::Aes128Ccm);
    assert_eq!(Header::seal(&content, &Recipients::default()).unwrap_err().kind, ErrorKind::NoRecipients);
    let mut recipients = passphrase("p");
    recipients.extend([raw(1)]);
    assert_eq!(Header::seal(&content, &recipients).unwrap_err().kind, ErrorKind::MixedRecipients);
    // The number alone is an error: nothing has looked at the passphrase yet.
    recipients.extend(vec![raw(1); 1023]);
    assert_eq!(Header::seal(&content, &recipients).unwrap_err().kind, ErrorKind::HeaderTooLarge);
    let name = Some("n".repeat(255));
    let content = Content::generate(Aead::Aes256Ccm, ContentType::Tree, name).unwrap();
    let recipient = KeyPair::generate().unwrap().recipient();
    for (count, fits) in [(662, true), (668, false)] {
        let recipients = vec![recipient.clone(); count].into_iter().collect();
        assert_eq!(Header::seal(&content, &recipients).is_ok(), fits, "{count} recipients for X25519");
    }
}

#[test]
fn nothing_repeats_between_two_containers_of_one_plaintext() {
    let mut seen = HashSet::new();
    for _ in 0..2 {
        let content = content(Aead::Aes128Ccm);
        // Each content twice: rewrap and a second payload share an input key, but never a salt.
        for _ in 0..2 {
            let (payload, prefix) = Payload::create(&content).unwrap();
            let mut buffer = layout(&[0; 100]);
            payload.seal(0, &mut buffer, true).unwrap();
            assert!(seen.insert(prefix.to_vec()));
            assert!(seen.insert(buffer));
            assert!(seen.insert(Header::seal(&content, &to(&[raw(1)])).unwrap()));
        }
    }
}

#[test]
fn chunks_can_be_sealed_and_unsealed_in_any_batches() {
    let content = content(Aead::Aes256Ccm);
    let (payload, prefix) = Payload::create(&content).unwrap();
    let plain: Vec<u8> = (0..40 * CHUNK_BYTES + 77).map(|i| (i / 7) as u8).collect();
    let mut whole = layout(&plain);
    let mut parts = whole.clone();
    payload.seal(0, &mut whole, true).unwrap();
    let (left, right) = parts.split_at_mut(3 * SEALED_CHUNK_BYTES);
    payload.seal(3, right, true).unwrap();
    payload.seal(0, left, false).unwrap();
    assert_eq!(whole, parts);
    assert_eq!(whole.len() as u64, LAYOUT.sealed_bytes(plain.len() as u64));

    let reader = Payload::open(&content, &prefix).unwrap();
    reader.unseal(3, &mut parts[3 * SEALED_CHUNK_BYTES..], true).unwrap();
    reader.unseal(0, &mut parts[..3 * SEALED_CHUNK_BYTES], false).unwrap();
    for (number, chunk) in parts.chunks(SEALED_CHUNK_BYTES).enumerate() {
        let start = number * CHUNK_BYTES;
        assert_eq!(chunk[..chunk.len() - TAG_BYTES], plain[start..plain.len().min(start + CHUNK_BYTES)]);
    }
}

#[test]
fn damaged_chunks_are_wiped_and_the_first_is_named() {
    let content = content(Aead::Aes128Ccm);
    let (payload, _) = Payload::create(&content).unwrap();
    let mut buffer = layout(&vec![0x5A; 3 * CHUNK_BYTES + 9]);
    payload.seal(7, &mut buffer, true).unwrap();
    buffer[SEALED_CHUNK_BYTES + 1] ^= 1;
    let last = buffer.len() - 1;
    buffer[last] ^= 0x80;
    let error = payload.unseal(7, &mut buffer, true).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ChunkDamaged { chunk: 8 });
    let chunks: Vec<_> = buffer.chunks(SEALED_CHUNK_BYTES).map(|chunk| &chunk[..chunk.len() - TAG_BYTES]).collect();
    for (chunk, expected) in chunks.iter().zip([0x5A, 0, 0x5A, 0]) {
        assert!(chunk.iter().all(|&byte| byte == expected));
    }
}

#[test]
fn chunk_numbers_end() {
    let (payload, _) = Payload::create(&content(Aead::Aes128Ccm)).unwrap();
    let mut one = layout(b"x");
    assert!(payload.seal(MAX_CHUNKS - 1, &mut one, true).is_ok());
    for first in [MAX_CHUNKS, u64::MAX] {
        assert_eq!(payload.seal(first, &mut one, true).unwrap_err().kind, ErrorKind::TooManyChunks);
        assert_eq!(payload.unseal(first, &mut one, true).unwrap_err().kind, ErrorKind::TooManyChunks);
    }
    assert_eq!(payload.unseal(0, &mut [0; 15], true).unwrap_err().kind, ErrorKind::Truncated);
    payload.unseal(MAX_CHUNKS - 1, &mut one, true).unwrap();
    assert_eq!(one[0], b'x');
}

#[test]
fn a_header_is_read_from_any_reader() {
    struct Drip<'a>(&'a [u8]);
    impl std::io::Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = 1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    let bytes = Header::seal(&content(Aead::Aes128Ccm), &to(&[raw(1)])).unwrap();
    assert!(Header::read(&mut Drip(&bytes)).unwrap().open(&of(raw(1))).is_ok());
    assert!(matches!(Header::read(&mut std::io::repeat(0)).unwrap_err().kind, ErrorKind::NotAContainer));
    let absurd = [b"tress/v1 aes-128-ccm\n", &[0xFF; 4][..], &[b'x'; 8192]].concat();
    assert_eq!(Header::read(&mut &absurd[..]).unwrap_err().kind, ErrorKind::HeaderTooLarge);
}

#[test]
fn no_secret_is_shown() {
    let content = content(Aead::Aes128Ccm);
    let bytes = Header::seal(&content, &to(&[raw(0xAB)])).unwrap();
    let header = Header::read(&mut &bytes[..]).unwrap();
    let (payload, prefix) = Payload::create(&content).unwrap();
    let (pair, raw) = (KeyPair::generate().unwrap(), raw(0xAB));
    let (identities, decryptor) = (of(raw.clone()), Decryptor::new(&of(raw.clone()), Threads::ONE));
    let shown = format!("{header:?} {content:?} {payload:?} {raw:?} {pair:?} {identities:?} {decryptor:?}");
    assert!(!shown.contains("171") && !shown.contains(&format!("{:?}", &prefix[24..28])));
    let noise = pair.noise_secret_key().unwrap();
    assert!(!shown.contains(&format!("{:?}", &noise[..4]).replace(['[', ']'], "")), "{shown}");
    assert!(shown.len() < 900, "{shown}");
}
