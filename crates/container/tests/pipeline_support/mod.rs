//! A temporary folder, two keys, and FIFOs with a thread at the other end.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::ops::RangeBounds;
use std::path::PathBuf;
use std::thread;

use tress_container::commands::{DecryptOptions, EncryptOptions, Report, Sink, Source, decrypt, encrypt};
use tress_container::keys::{Identities, Recipients, key_file};
use tress_container::{Control, Error, container};

/// Bytes that differ between chunks.
pub(crate) fn plain(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// A copy with one bit flipped.
pub(crate) fn damaged(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    copy[at] ^= 0x10;
    copy
}

pub(crate) struct TestFolder {
    folder: tempfile::TempDir,
}

impl TestFolder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn recipients(&self) -> Recipients {
        key_file(&[1; 16]).unwrap().into()
    }

    pub(crate) fn identities(&self) -> Identities {
        key_file(&[1; 16]).unwrap().into()
    }

    pub(crate) fn other_recipients(&self) -> Recipients {
        key_file(&[2; 32]).unwrap().into()
    }

    pub(crate) fn options(&self, threads: usize) -> EncryptOptions {
        EncryptOptions::default().threads(threads)
    }

    pub(crate) fn encrypt(&self, from: &str, to: &str, threads: usize) -> Result<Report, Error> {
        let sink = Sink::Path { path: self.path(to), force: true };
        self.encrypt_from(&Source::Path(self.path(from)), &sink, threads)
    }

    pub(crate) fn encrypt_new(&self, from: &str, to: &str) -> Result<Report, Error> {
        let sink = Sink::Path { path: self.path(to), force: false };
        self.encrypt_from(&Source::Path(self.path(from)), &sink, 2)
    }

    pub(crate) fn encrypt_from(&self, source: &Source, sink: &Sink, threads: usize) -> Result<Report, Error> {
        encrypt(source, sink, &self.recipients(), &self.options(threads), &Control::new())
    }

    pub(crate) fn decrypt(&self, from: &str, to: &str, threads: usize) -> Result<Report, Error> {
        let sink = Sink::Path { path: self.path(to), force: true };
        self.decrypt_from(&Source::Path(self.path(from)), &sink, threads)
    }

    pub(crate) fn decrypt_from(&self, source: &Source, sink: &Sink, threads: usize) -> Result<Report, Error> {
        let options = DecryptOptions::default().threads(threads);
        decrypt(source, sink, &self.identities(), &options, &Control::new())
    }

    pub(crate) fn decrypt_range(
        &self,
        from: &str,
        to: &str,
        range: impl RangeBounds<u64>,
        threads: usize,
    ) -> Result<Report, Error> {
        let sink = Sink::Path { path: self.path(to), force: true };
        let options = DecryptOptions::default().threads(threads).range(range);
        decrypt(&Source::Path(self.path(from)), &sink, &self.identities(), &options, &Control::new())
    }

    /// Offset of the first chunk in the container `box`.
    pub(crate) fn chunks_offset(&self) -> usize {
        let mut file = File::open(self.path("box")).unwrap();
        container::Header::read(&mut file).unwrap().header_bytes() as usize + container::PREFIX_BYTES
    }

    pub(crate) fn fifo(&self, name: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.path(name)).status().unwrap();
        assert!(made.success());
    }

    /// Runs `command` with a FIFO as its source, which delivers `input`.
    pub(crate) fn out_of_fifo<T>(&self, input: &[u8], command: impl FnOnce(&Source) -> T) -> T {
        self.fifo("fifo-in");
        let path = self.path("fifo-in");
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                // A command that fails early closes its end, and the write fails.
                let _ = File::options().write(true).open(&path).unwrap().write_all(input);
            });
            command(&Source::Path(path.clone()))
        });
        fs::remove_file(path).unwrap();
        result
    }

    /// Runs `command` with FIFOs as source and sink. `output` gets what it wrote, even if it failed.
    pub(crate) fn between_fifos<T>(
        &self,
        input: &[u8],
        output: &mut Vec<u8>,
        command: impl FnOnce(&Source, &Sink) -> T,
    ) -> T {
        self.fifo("fifo-out");
        let path = self.path("fifo-out");
        let result = thread::scope(|scope| {
            scope.spawn(|| File::open(&path).unwrap().read_to_end(output).unwrap());
            self.out_of_fifo(input, |source| command(source, &Sink::Path { path: path.clone(), force: false }))
        });
        fs::remove_file(path).unwrap();
        result
    }

    /// Returns what `command` wrote.
    pub(crate) fn through_fifos(
        &self,
        input: &[u8],
        command: impl FnOnce(&Source, &Sink) -> Result<Report, Error>,
    ) -> Result<Vec<u8>, Error> {
        let mut output = Vec::new();
        self.between_fifos(input, &mut output, command)?;
        Ok(output)
    }
}
