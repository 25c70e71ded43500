//! A second process that signs with OpenSSL: which instructions libcrypto uses is decided when it is loaded, by a variable of
//! the environment, so one process cannot have it both ways. The worker waits while we measure ourselves, and we while it
//! measures itself.
//!
//! Lines on its standard input: the key, PKCS #8 in DER, in hexadecimal; then how many times all digests are to be signed.
//! Lines on its standard output: the nanoseconds of processor time that this took, and the signatures of one time.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use tress_peers::openssl_signatures;

use super::{Error, sample::thread_time, signatures::digests};

/// The bit of AVX-512 IFMA in what CPUID's leaf 7 says, taken away (OPENSSL_ia32cap(3)).
const WITHOUT_IFMA: (&str, &str) = ("OPENSSL_ia32cap", ":~0x200000");

/// A worker that has a key.
pub(crate) struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts the program as a worker.
    pub(crate) fn start(program: &Path, der: &[u8], count: usize) -> Result<Worker, Error> {
        let mut command = Command::new(program);
        command.args(["bench", "--worker"]).env(WITHOUT_IFMA.0, WITHOUT_IFMA.1);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::Error::from(io::ErrorKind::BrokenPipe)));
        };
        let mut worker = Worker { child, requests, answers: BufReader::new(answers) };
        let key: String = der.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(worker.requests, "{key}\n{count}").map_err(failed)?;
        Ok(worker)
    }

    /// Signs all digests so many times. The time that it took, and the signatures of one time.
    pub(crate) fn sign(&mut self, runs: u32) -> Result<(Duration, Vec<u8>), Error> {
        writeln!(self.requests, "{runs}").map_err(failed)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(failed)?;
        let (time, signatures) = line.trim().split_once(' ').ok_or_else(|| failed(malformed()))?;
        let time = Duration::from_nanos(time.parse().map_err(|_| failed(malformed()))?);
        Ok((time, bytes(signatures).map_err(failed)?))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a worker does until its input ends.
///
/// # Errors
/// What goes wrong with its input and output, or with OpenSSL; and where the variable of the environment is not set.
pub fn serve(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    if env::var(WITHOUT_IFMA.0).as_deref() != Ok(WITHOUT_IFMA.1) {
        return Err(io::Error::other("a worker is started by tress bench"));
    }
    let mut lines = input.lines();
    let mut next = || lines.next().transpose();
    let (Some(key), Some(count)) = (next()?, next()?) else { return Err(malformed()) };
    let mut key = openssl_signatures::Key::new(&bytes(&key)?).map_err(|error| io::Error::other(error.to_string()))?;
    let digests = digests(count.parse().map_err(|_| malformed())?);
    while let Some(runs) = next()? {
        let runs: u32 = runs.parse().map_err(|_| malformed())?;
        let (mut made, mut all) = (Vec::new(), Vec::new());
        let start = thread_time();
        for _ in 0..runs {
            all.clear();
            for digest in &digests {
                key.sign(digest, &mut made).map_err(|error| io::Error::other(error.to_string()))?;
                all.extend_from_slice(&made);
            }
        }
        let time = (thread_time() - start).as_nanos();
        let all: String = all.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(output, "{time} {all}")?;
        output.flush()?;
    }
    Ok(())
}

fn bytes(hexadecimal: &str) -> io::Result<Vec<u8>> {
    let (pairs, []) = hexadecimal.as_bytes().as_chunks::<2>() else { return Err(malformed()) };
    let digit = |digit: u8| (digit as char).to_digit(16).map(|digit| digit as u8).ok_or_else(malformed);
    pairs.iter().map(|[high, low]| Ok(digit(*high)? << 4 | digit(*low)?)).collect()
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

fn failed(error: io::Error) -> Error {
    Error::Command { program: "tress bench --worker".into(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal() {
        assert_eq!(bytes("00fF10").unwrap(), [0, 255, 16]);
        assert!(bytes("0").is_err() && bytes("0g").is_err());
    }

    #[test]
    fn nobody_else_starts_a_worker() {
        assert!(serve(&b"00\n1\n"[..], Vec::new()).is_err());
    }
}
