//! `tress sign` and `tress verify`: files are hashed on all cores, and signed and verified in lanes.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use tress_container::commands::{self, Sink};
use tress_container::{Control, Error, ErrorKind};
use tress_sign::{Hash, Scheme, VerifyJob, VerifyingKey, verify_batch};

use super::cancellable;
use crate::failure::{self, Failure};
use crate::stdin::Stdin;
use crate::{args, files, signing};

/// Files per round. A round is hashed, then signed, then written, so that memory is bounded and the first signatures appear soon.
const ROUND: usize = 4096;

/// Most bytes read of a signature file, more than the longest signature.
const MAX_SIGNATURE_BYTES: u64 = 4096;

pub(crate) fn sign(options: &args::Sign) -> Result<(), Failure> {
    let mut stdin = claim(&options.inputs)?;
    let writes_stdout = is_stdin(&options.inputs);
    if writes_stdout {
        files::refuse_terminal(&Sink::Stdout)?;
    }
    if let Some(input) = options.inputs.iter().find(|input| tress_terminal::descriptor::number(input).is_some()) {
        return Err(Failure::wrong_use(format!(
            "{}: a descriptor has no name for its signature",
            failure::name(input)
        ))
        .hint("- as the only input signs standard input to standard output"));
    }
    let key = signing::signing_key(options, &mut stdin)?;
    if options.force && !writes_stdout {
        let outputs = options.inputs.iter().map(|input| signature_name(input));
        files::refuse_inputs(outputs, stdin.others().chain(options.inputs.iter().map(PathBuf::as_path)))?;
    }
    let threads = options.threads.wanted().count();
    let sink = |input: &Path| match writes_stdout {
        true => Sink::Stdout,
        false => Sink::Path { path: signature_name(input), force: options.force },
    };
    cancellable(|control| {
        count(&options.inputs, control);
        let mut failures = Failures::new(control);
        for round in options.inputs.chunks(ROUND) {
            let digests = failures.keep(parallel(threads, round, control, |input| {
                // Checked before the work; the system checks again when the file gets its name.
                if let Sink::Path { path, force: false } = sink(input)
                    && path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir())
                {
                    return Err(failure::from_error(Error::new(ErrorKind::OutputExists).at(path)));
                }
                Ok((input, digest(input, key.scheme().hash(), control)?))
            }))?;
            let shares: Vec<_> = shares(&digests, threads).collect();
            let signed = parallel(threads, &shares, control, |share| {
                let digests: Vec<&[u8]> = share.iter().map(|(_, digest)| digest.as_slice()).collect();
                Ok(key.sign_digests(&digests))
            });
            let signatures = failures.keep(signed)?.into_iter().flatten();
            let signatures = digests.iter().zip(signatures).map(|((input, _), signature)| match signature {
                Ok(signature) => Ok((*input, signature)),
                Err(error) => Err(failure::signing(error, failure::name(input))),
            });
            let signatures = failures.keep(signatures.collect())?;
            failures.keep(parallel(threads, &signatures, control, |(input, signature)| {
                commands::store(signature.as_bytes(), &sink(input), control).map_err(failure::from_error)
            }))?;
        }
        failures.finish()
    })
}

pub(crate) fn verify(options: &args::Verify) -> Result<(), Failure> {
    let mut stdin = claim(&options.inputs)?;
    if options.signature.is_some() && options.inputs.len() > 1 {
        return Err(Failure::wrong_use("--signature needs a single input file")
            .hint("without --signature, the signature of each IN is IN.sig"));
    }
    if options.signature.is_none() && is_stdin(&options.inputs) {
        return Err(Failure::wrong_use("standard input needs --signature FILE"));
    }
    if let Some(signature) = &options.signature {
        stdin.claim(signature, "the signature")?;
    }
    let key = signing::verifying_key(options, &mut stdin)?;
    let threads = options.threads.wanted().count();
    cancellable(|control| {
        count(&options.inputs, control);
        let mut failures = Failures::new(control);
        for round in options.inputs.chunks(ROUND) {
            let cases = failures.keep(parallel(threads, round, control, |input| {
                let path = options.signature.clone().unwrap_or_else(|| signature_name(input));
                let mut signature = Vec::new();
                let start = |reader: &mut dyn Read| reader.take(MAX_SIGNATURE_BYTES).read_to_end(&mut signature);
                commands::read(&files::source(&path), control, start).map_err(|error| match fs::metadata(input) {
                    Err(missing) if !is_stdin(&options.inputs) => Failure::io(input, &missing),
                    _ if options.signature.is_some() => failure::from_error(error),
                    _ => {
                        failure::from_error(error).hint("the signature of IN is IN.sig; --signature FILE names another")
                    }
                })?;
                Ok(SignatureToVerify { path, digest: digest(input, key.scheme().hash(), control)?, signature })
            }))?;
            let shares: Vec<_> = shares(&cases, threads).collect();
            let checked = parallel(threads, &shares, control, |share| Ok(check(&key, share)));
            for failure in failures.keep(checked)?.into_iter().flatten() {
                failures.add(failure);
            }
        }
        failures.finish()
    })
}

/// A signature to be verified.
struct SignatureToVerify {
    path: PathBuf,
    digest: Vec<u8>,
    signature: Vec<u8>,
}

/// Verifies signatures. Returns a failure for each one that is not valid.
fn check(key: &VerifyingKey, cases: &[SignatureToVerify]) -> Vec<Failure> {
    let jobs: Vec<VerifyJob<'_>> =
        cases.iter().map(|case| VerifyJob { key, digest: &case.digest, signature: &case.signature }).collect();
    verify_batch(&jobs, 1)
        .into_iter()
        .zip(cases)
        .filter_map(|(outcome, case)| {
            let failure = failure::signing(outcome.err()?, failure::name(&case.path));
            Some(match actual_scheme(key, case) {
                Some(scheme) => {
                    failure.hint(format!("the signature was made with {scheme}: verify it with --scheme {scheme}"))
                }
                None => failure,
            })
        })
        .collect()
}

/// Another scheme under which the signature is valid, for the hint. It is not accepted: only the chosen scheme counts.
fn actual_scheme(key: &VerifyingKey, case: &SignatureToVerify) -> Option<Scheme> {
    let others =
        Scheme::ALL.iter().copied().filter(|&scheme| scheme != key.scheme() && scheme.hash() == key.scheme().hash());
    let mut keys = others.filter_map(|scheme| VerifyingKey::new(key.key().clone(), scheme).ok());
    keys.find(|key| key.verify_digest(&case.digest, &case.signature).is_ok()).map(|key| key.scheme())
}

/// Claims standard input. It must be the only input.
fn claim(inputs: &[PathBuf]) -> Result<Stdin, Failure> {
    let mut stdin = Stdin::default();
    for input in inputs {
        stdin.claim(input, "the data")?;
    }
    if inputs.len() > 1 && inputs.iter().any(|input| input == Path::new("-")) {
        return Err(Failure::wrong_use("standard input cannot be combined with other files"));
    }
    Ok(stdin)
}

fn is_stdin(inputs: &[PathBuf]) -> bool {
    inputs == [PathBuf::from("-")]
}

fn signature_name(input: &Path) -> PathBuf {
    let mut name = OsString::from(input);
    name.push(".sig");
    PathBuf::from(name)
}

/// Sets the number of bytes to hash, for the progress bar.
fn count(inputs: &[PathBuf], control: &Control) {
    let sizes = inputs.iter().filter_map(|input| fs::metadata(input).ok()).map(|metadata| metadata.len());
    control.set_total(sizes.fold(0, u64::saturating_add));
}

/// A reader that counts its bytes.
struct CountingReader<'c, R>(R, &'c Control);

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.read(buffer)?;
        self.1.add_done(bytes as u64);
        Ok(bytes)
    }
}

/// Computes the digest of a file. Fails if the file changes while it is read.
fn digest(input: &Path, hash: Hash, control: &Control) -> Result<Vec<u8>, Failure> {
    let digest = |reader: &mut dyn Read| hash.digest_reader(CountingReader(reader, control));
    commands::read(&files::source(input), control, digest).map_err(failure::from_error)
}

/// Splits into about as many shares as threads, with lengths that are multiples of the eight lanes.
fn shares<T>(items: &[T], threads: usize) -> impl Iterator<Item = &[T]> {
    let length = items.len().div_ceil(threads).next_multiple_of(8);
    items.chunks(length.max(8))
}

/// Calls `work` on every item, on this number of threads. Returns the results in order. After a cancellation, items that were not
/// started are errors.
fn parallel<'a, T: Sync, R: Send>(
    threads: usize,
    items: &'a [T],
    control: &Control,
    work: impl Fn(&'a T) -> Result<R, Failure> + Sync,
) -> Vec<Result<R, Failure>> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R, Failure>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let run = || {
        while !control.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            // If the system refuses a thread, fewer do the work.
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    let done = |result: Mutex<Option<_>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    results
        .into_iter()
        .map(|result| done(result).unwrap_or_else(|| Err(failure::from_error(Error::new(ErrorKind::Interrupted)))))
        .collect()
}

/// Collects failures, so that one failed file does not stop the others.
struct Failures<'a> {
    control: &'a Control,
    last: Option<Failure>,
}

impl<'a> Failures<'a> {
    fn new(control: &'a Control) -> Self {
        Self { control, last: None }
    }

    /// Returns the successful results, and keeps the failures. A cancellation is an error.
    fn keep<R>(&mut self, results: Vec<Result<R, Failure>>) -> Result<Vec<R>, Failure> {
        if self.control.is_cancelled() {
            return Err(failure::from_error(Error::new(ErrorKind::Interrupted)));
        }
        let mut kept = Vec::with_capacity(results.len());
        for result in results {
            match result {
                Ok(value) => kept.push(value),
                Err(failure) => self.add(failure),
            }
        }
        Ok(kept)
    }

    /// Adds a failure. Every failure is printed except the last one, which is the outcome.
    fn add(&mut self, failure: Failure) {
        if let Some(before) = self.last.replace(failure) {
            crate::progress::aside(|| before.print());
        }
    }

    fn finish(self) -> Result<(), Failure> {
        self.last.map_or(Ok(()), Err)
    }
}
