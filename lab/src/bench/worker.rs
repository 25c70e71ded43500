//! A second process that signs with OpenSSL. An environment variable decides which instructions libcrypto uses when
//! it is loaded, so one process cannot measure both. The worker waits while this process measures, and this process
//! waits while the worker does.
//!
//! Lines on its standard input: the key, PKCS #8 in DER, in Base64; then how many times all digests are to be signed.
//! Lines on its standard output: the nanoseconds of processor time that this took, and the signatures of one time.

use std::env;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64ct::{Base64, Encoding as _};
use tress_peers::{PeerKey as _, openssl_signatures};
use tress_sign::Hash;

use super::Error;
use super::process::LineProcess;
use crate::timing::thread_time;

/// Clears the bit of AVX-512 IFMA in the features that libcrypto reads from leaf 7 of CPUID (OPENSSL_ia32cap(3)).
const WITHOUT_IFMA: (&str, &str) = ("OPENSSL_ia32cap", ":~0x200000");

/// A worker process that has a key.
pub(crate) struct Worker(LineProcess);

impl Worker {
    /// Starts the program as a worker.
    pub(crate) fn start(program: &Path, der: &[u8], count: usize) -> Result<Worker, Error> {
        let mut command = Command::new(program);
        command.args(["bench", "--worker"]).env(WITHOUT_IFMA.0, WITHOUT_IFMA.1);
        let mut worker = LineProcess::start("tress bench --worker".into(), &mut command)?;
        worker.ask(Base64::encode_string(der));
        worker.ask(count);
        Ok(Worker(worker))
    }

    /// Signs all digests `runs` times. Returns the time, and the signatures of one run.
    pub(crate) fn sign(&mut self, runs: u32) -> Result<(Duration, Vec<u8>), Error> {
        self.0.ask(runs);
        let line = self.0.answer()?;
        let parse = |(time, signatures): (&str, &str)| Some((time.parse().ok()?, bytes(signatures).ok()?));
        let (time, signatures) =
            line.trim().split_once(' ').and_then(parse).ok_or_else(|| self.0.failed(malformed()))?;
        Ok((Duration::from_nanos(time), signatures))
    }
}

/// The message with this number, for libraries that hash it themselves.
pub(crate) fn message(number: usize) -> [u8; 8] {
    (number as u64).to_le_bytes()
}

pub(crate) fn digests(count: usize) -> Vec<[u8; 32]> {
    let digest = |number: usize| Hash::Sha256.digest(&message(number));
    (0..count).map(|number| digest(number).try_into().expect("32 bytes")).collect()
}

/// Runs a worker until its input ends.
///
/// # Errors
/// Errors of input, output and OpenSSL; and an error if the environment variable is not set.
pub fn serve(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    if env::var(WITHOUT_IFMA.0).as_deref() != Ok(WITHOUT_IFMA.1) {
        return Err(io::Error::other("a worker is started by tress bench"));
    }
    let mut lines = input.lines();
    let mut next = || lines.next().transpose();
    let (Some(key), Some(count)) = (next()?, next()?) else { return Err(malformed()) };
    let mut key =
        openssl_signatures::SignatureKey::new(&bytes(&key)?).map_err(|error| io::Error::other(error.to_string()))?;
    let digests = digests(count.parse().map_err(|_| malformed())?);
    while let Some(runs) = next()? {
        let runs: u32 = runs.parse().map_err(|_| malformed())?;
        let (mut made, mut all) = (Vec::new(), Vec::new());
        let start = thread_time();
        for _ in 0..runs {
            all.clear();
            for digest in &digests {
                key.sign(&[], digest, &mut made).map_err(|error| io::Error::other(error.to_string()))?;
                all.extend_from_slice(&made);
            }
        }
        let time = (thread_time() - start).as_nanos();
        writeln!(output, "{time} {}", Base64::encode_string(&all))?;
        output.flush()?;
    }
    Ok(())
}

fn bytes(text: &str) -> io::Result<Vec<u8>> {
    Base64::decode_vec(text).map_err(|_| malformed())
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_needs_the_environment_variable() {
        assert!(serve(&b"00\n1\n"[..], Vec::new()).is_err());
    }
}
