//! `raw` on files against OpenSSL: ECB and CBC with and without padding, CTR and CCM, in both directions, on any backend.
//! Ciphertext with a wrong tag or padding is refused, and then there is no output.

use std::fs;
use std::path::PathBuf;

use tress_cipher::Backend;
use tress_cipher::BlockCipher as _;
use tress_cipher::aes::Aes;
use tress_container::commands::{RawCcm, RawDirection, RawMode, Sink, Source, raw, raw_ccm};
use tress_container::{Control, Error, ErrorKind};
use tress_peers::{Direction, Mode, openssl};

use crate::input::Input;
use crate::temp_folder;

const BLOCK_BYTES: usize = 16;

/// Panics if OpenSSL gives another result.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let available: Vec<Backend> = Aes::BACKENDS.iter().copied().filter(|backend| backend.is_available()).collect();
    let backend = *input.pick(&available);
    let length = *input.pick(&[16, 24, 32]);
    let key = input.message(length);
    let files = RawFiles::new();
    let aes = Aes::with_backend(&key, backend).expect("a key of its length");
    match input.byte() % 4 {
        0 => check_ccm(&mut input, &key, &aes, &files),
        kind => check_block_modes(&mut input, kind, &key, &aes, &files),
    }
}

/// An input file and an output file.
struct RawFiles {
    source: Source,
    sink: Sink,
    paths: [PathBuf; 2],
}

impl RawFiles {
    fn new() -> Self {
        let folder = temp_folder::emptied();
        let paths = [folder.join("in"), folder.join("out")];
        let sink = Sink::Path { path: paths[1].clone(), force: false };
        Self { source: Source::Path(paths[0].clone()), sink, paths }
    }

    /// Runs a command on these bytes and returns its output. Panics if it leaves a file after a failure.
    fn run_command(
        &self,
        bytes: &[u8],
        command: impl FnOnce(&Source, &Sink) -> Result<(), Error>,
    ) -> Result<Vec<u8>, ErrorKind> {
        fs::write(&self.paths[0], bytes).expect("a file");
        let result = command(&self.source, &self.sink);
        let names = temp_folder::names(self.paths[0].parent().expect("a folder"));
        match result {
            Ok(()) => {
                assert_eq!(names, ["in", "out"]);
                let made = fs::read(&self.paths[1]).expect("an output");
                fs::remove_file(&self.paths[1]).expect("our output");
                Ok(made)
            }
            Err(error) => {
                assert_eq!(names, ["in"]);
                Err(error.kind)
            }
        }
    }
}

fn check_block_modes(input: &mut Input<'_>, kind: u8, key: &[u8], aes: &Aes, files: &RawFiles) {
    let iv = input.fixed::<BLOCK_BYTES>();
    let padding = input.flag();
    let (mode, their_mode, their_iv) = match kind {
        1 => (RawMode::Ecb { padding }, Mode::Ecb, &[][..]),
        2 => (RawMode::Cbc { iv: iv.to_vec(), padding }, Mode::Cbc, &iv[..]),
        _ => (RawMode::Ctr { counter: iv.to_vec() }, Mode::Ctr, &iv[..]),
    };
    let is_padded = padding && kind != 3;
    let theirs = |direction, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let mut cipher = openssl::Cipher::new(their_mode, key, direction).expect("OpenSSL 3 (Debian's libssl3)");
        cipher.apply(their_iv, &mut bytes).expect("a message that OpenSSL takes");
        bytes
    };
    let ours = |direction, bytes: &[u8]| {
        files.run_command(bytes, |source, sink| raw(source, sink, aes, &mode, direction, &Control::new()))
    };
    let length = input.below(700);
    let plain = input.message(length);
    let mut padded = plain.clone();
    if is_padded {
        // The padding of RFC 5652 section 6.3.
        let count = BLOCK_BYTES - plain.len() % BLOCK_BYTES;
        padded.extend(std::iter::repeat_n(count as u8, count));
    }
    let is_whole = kind == 3 || padded.len().is_multiple_of(BLOCK_BYTES);
    let expected = if is_whole { Ok(theirs(Direction::Encrypt, &padded)) } else { Err(()) };
    let sealed = ours(RawDirection::Encrypt, &plain);
    assert!(sealed.as_ref().ok() == expected.as_ref().ok(), "encrypted {sealed:?}");

    // Damage some ciphertexts.
    let mut sealed = sealed.unwrap_or(plain);
    match input.byte() {
        0..0x60 => {}
        0x60..0xa0 => sealed.truncate(input.below(sealed.len() + 1)),
        _ if sealed.is_empty() => {}
        _ => {
            let at = sealed.len() - 1 - input.below(sealed.len().min(40));
            sealed[at] ^= input.byte();
        }
    }
    let expected = match sealed.len() % BLOCK_BYTES {
        0 if is_padded => unpadded(theirs(Direction::Decrypt, &sealed)),
        0 => Some(theirs(Direction::Decrypt, &sealed)),
        _ if kind == 3 => Some(theirs(Direction::Decrypt, &sealed)),
        _ => None,
    };
    let opened = ours(RawDirection::Decrypt, &sealed);
    assert!(opened.as_ref().ok() == expected.as_ref(), "decrypted {opened:?}");
}

/// Removes the padding; `None` if it is not valid.
fn unpadded(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let count = usize::from(*bytes.last()?);
    let start = bytes.len().checked_sub(count)?;
    let is_padding =
        (1..=BLOCK_BYTES).contains(&count) && bytes[start..].iter().all(|byte| usize::from(*byte) == count);
    bytes.truncate(start);
    is_padding.then_some(bytes)
}

fn check_ccm(input: &mut Input<'_>, key: &[u8], aes: &Aes, files: &RawFiles) {
    let nonce = input.fixed::<16>();
    // Lengths that CCM does not have are refused.
    let nonce = &nonce[..input.below(16)];
    let tag_bytes = input.below(18);
    let is_ccm = (7..=13).contains(&nonce.len()) && matches!(tag_bytes, 4 | 6 | 8 | 10 | 12 | 14 | 16);
    let (aad, plain) = {
        let (aad, plain) = (input.below(70), input.below(700));
        (input.message(aad), input.message(plain))
    };
    let parameters = RawCcm { nonce: nonce.to_vec(), associated_data: aad.clone(), tag_bytes };
    let ours = |direction, bytes: &[u8]| {
        files.run_command(bytes, |source, sink| raw_ccm(source, sink, aes, &parameters, direction, &Control::new()))
    };
    let sealed = ours(RawDirection::Encrypt, &plain);
    if !is_ccm {
        assert!(matches!(sealed, Err(ErrorKind::Cipher(_))), "{sealed:?}");
        return;
    }
    let (mut theirs, mut tag) = (plain.clone(), vec![0; tag_bytes]);
    openssl::Ccm::new(key, nonce.len(), tag_bytes, Direction::Encrypt)
        .and_then(|mut aead| aead.encrypt(nonce, &aad, &mut theirs, &mut tag))
        .expect("a message that OpenSSL takes");
    theirs.extend(tag);
    assert!(sealed == Ok(theirs.clone()), "{sealed:?}");
    let whole = theirs.clone();
    match input.byte() {
        0..0x60 => {}
        0x60..0xa0 => theirs.truncate(input.below(theirs.len() + 1)),
        _ => {
            let at = input.below(theirs.len());
            theirs[at] ^= 1 << input.below(8);
        }
    }
    let opened = ours(RawDirection::Decrypt, &theirs);
    if theirs == whole {
        assert!(opened == Ok(plain));
    } else {
        assert!(matches!(opened, Err(ErrorKind::Cipher(_) | ErrorKind::Truncated)), "{opened:?}");
    }
}
