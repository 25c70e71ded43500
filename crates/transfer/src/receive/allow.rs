//! Which senders a receiver accepts.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use zeroize::Zeroizing;

use crate::wire::noise::NoisePublicKey;
use tress_container::keys::{Address, key_lines, read_key_file};
use tress_container::sys::{Kind, Os, Status, System};
use tress_container::workers::lock;
use tress_container::{Error, ErrorKind};

/// The senders that a receiver accepts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Allow {
    /// Only senders with these public keys; an empty list accepts nobody.
    Only(Vec<Address>),
    /// Only senders that this file names when they connect.
    File(AllowFile),
    /// Every sender that knows the receiver's public key.
    Any,
}

/// An allow file that is looked at in every handshake, and read if it has changed. While it cannot be read, the senders that it named
/// before are accepted.
#[derive(Clone, Debug)]
pub struct AllowFile {
    path: PathBuf,
    list: Arc<Mutex<List>>,
}

#[derive(Debug)]
struct List {
    addresses: Vec<Address>,
    /// What the file held when it was read last.
    found: Result<Zeroizing<Vec<u8>>, ErrorKind>,
    /// The file's status before that, if the next change of the file will change it.
    status: Option<Status>,
}

impl Allow {
    /// Reads an allow file: one address (`tress1…`) per line. Empty lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// `BadRecipient` with the line number; `Io`.
    pub fn read(reader: impl Read) -> Result<Self, Error> {
        parse(&read_key_file(reader, ErrorKind::BadRecipient)?).map(Self::Only)
    }

    /// Accepts the senders that a regular file names, now and whenever it has changed.
    ///
    /// # Errors
    /// Those of [`Allow::read`].
    pub fn file(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let found = read(&Os, &path)?;
        let addresses = parse(&found).map_err(|error| error.at(&path))?;
        let list = List { addresses, found: Ok(found), status: None };
        Ok(Self::File(AllowFile { path, list: Arc::new(Mutex::new(list)) }))
    }

    /// Whether a sender is accepted, and why a file that has changed could not be read.
    pub(crate) fn admits(&self, system: &dyn System, sender: &NoisePublicKey) -> (bool, Option<Error>) {
        let names = |addresses: &[Address]| addresses.iter().any(|address| address.noise_public_key() == sender);
        match self {
            Self::Any => (true, None),
            Self::Only(addresses) => (names(addresses), None),
            Self::File(file) => {
                let mut list = lock(&file.list);
                let status = system.status_of(&file.path).ok().filter(is_settled);
                if status.is_some() && status == list.status {
                    return (names(&list.addresses), None);
                }
                let found = read(system, &file.path);
                list.status = status.filter(|_| found.is_ok());
                let fault = list.update(found).err();
                (names(&list.addresses), fault.map(|error| error.at(&file.path)))
            }
        }
    }
}

impl List {
    /// Takes the content of the file. Content that was found before is no error again.
    fn update(&mut self, found: Result<Zeroizing<Vec<u8>>, Error>) -> Result<(), Error> {
        let kind = found.as_ref().map_err(|error| &error.kind);
        if kind == self.found.as_ref() {
            return Ok(());
        }
        self.found = kind.cloned().map_err(ErrorKind::clone);
        self.addresses = parse(&found?)?;
        Ok(())
    }
}

/// Whether the next change of the file will change its times: no file system counts in steps of more than two seconds.
fn is_settled(status: &Status) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i128);
    status.modified_ns.max(status.changed_ns) < now - 2_000_000_000
}

fn read(system: &dyn System, path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let at_path = |error| Error::from(error).at(path);
    let file = system.open(path).map_err(at_path)?;
    if system.status(&file).map_err(at_path)?.kind != Kind::Regular {
        return Err(Error::new(ErrorKind::Usage).with_detail("not a regular file").at(path));
    }
    read_key_file(&file, ErrorKind::BadRecipient).map_err(|error| error.at(path))
}

fn parse(bytes: &[u8]) -> Result<Vec<Address>, Error> {
    let mut addresses = Vec::new();
    for (number, line) in key_lines(bytes, &ErrorKind::BadRecipient)? {
        let bad = || Error::new(ErrorKind::BadRecipient).with_detail(format!("line {number}: not a tress address"));
        if !line.starts_with('#') {
            addresses.push(line.parse().map_err(|_| bad())?);
        }
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
    use std::{fs, io};

    use super::*;
    use tress_container::keys::KeyPair;

    fn address() -> Address {
        KeyPair::generate().unwrap().address().unwrap()
    }

    #[test]
    fn an_allow_file_admits_whom_it_names() {
        let address = address();
        let admits = |allow: &Allow, key| allow.admits(&Os, key).0;
        let allow = Allow::read(format!("# team\n\n  {address} \r\n").as_bytes()).unwrap();
        assert!(admits(&allow, address.noise_public_key()) && !admits(&allow, &[0; 32]));
        assert!(!admits(&Allow::read(&b"# nobody\n"[..]).unwrap(), address.noise_public_key()));
        assert!(admits(&Allow::Any, &[0; 32]));
        for (bad, text) in [
            ("age1xyz", "line 1"),
            (&format!("{address}\n\u{feff}{address}\n"), "line 2: begins with a byte order mark"),
            (&format!("{address} x"), "not a tress address"),
        ] {
            let error = Allow::read(bad.as_bytes()).unwrap_err();
            assert!(error.kind == ErrorKind::BadRecipient && error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn a_changed_allow_file_is_read_again_and_a_bad_one_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("allow");
        let (one, other) = (address(), address());
        fs::write(&path, one.to_string()).unwrap();
        let allow = Allow::file(&path).unwrap();
        let admits = |address: &Address| {
            let (admitted, fault) = allow.admits(&Os, address.noise_public_key());
            (admitted, fault.map(|error| error.to_string()))
        };
        assert_eq!((admits(&one), admits(&other)), ((true, None), (false, None)));
        fs::write(&path, format!("{other}\nnobody\n")).unwrap();
        let (admitted, fault) = admits(&one);
        assert!(admitted && fault.unwrap().contains("line 2"));
        assert_eq!((admits(&one), admits(&other)), ((true, None), (false, None)), "a fault is reported once");
        fs::remove_file(&path).unwrap();
        assert!(admits(&one).1.is_some());
        fs::create_dir(&path).unwrap();
        assert!(admits(&one).1.is_some());
        assert_eq!(admits(&one), (true, None));
        fs::remove_dir(&path).unwrap();
        fs::write(&path, other.to_string()).unwrap();
        assert_eq!((admits(&one), admits(&other)), ((false, None), (true, None)));
    }

    #[test]
    fn an_unchanged_allow_file_is_read_once() {
        /// A file with this time in seconds, which cannot be opened at 3, and the number of attempts to open it.
        #[derive(Default)]
        struct Dated(AtomicI64, AtomicU64);
        impl System for Dated {
            fn status_of(&self, path: &Path) -> io::Result<Status> {
                let time = i128::from(self.0.load(Relaxed)) * 1_000_000_000;
                Ok(Status { modified_ns: time, changed_ns: time, ..Os.status_of(path)? })
            }

            fn open(&self, path: &Path) -> io::Result<fs::File> {
                self.1.fetch_add(1, Relaxed);
                if self.0.load(Relaxed) == 3 { Err(io::ErrorKind::Other.into()) } else { Os.open(path) }
            }
        }
        let (file, address, system) = (tempfile::NamedTempFile::new().unwrap(), address(), Dated::default());
        fs::write(file.path(), address.to_string()).unwrap();
        let allow = Allow::file(file.path()).unwrap();
        // A time in the future, or of this second: the next change may have the same.
        let future = i64::from(u32::MAX);
        for (time, opened) in [(1, 1), (1, 1), (2, 2), (2, 2), (3, 3), (3, 4), (future, 5), (future, 6), (1, 7), (1, 7)]
        {
            system.0.store(time, Relaxed);
            assert!(allow.admits(&system, address.noise_public_key()).0);
            assert_eq!(system.1.load(Relaxed), opened, "{time}");
        }
    }
}
