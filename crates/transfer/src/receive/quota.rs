//! The quota of each sender at a receiver. It counts the bytes of the sender's files, complete or not, and 4 KiB for
//! every file and folder, so that empty ones are not free. That covers the receiver's own records about a file, too.
//!
//! Existing files are counted when a sender connects. From then on everything is counted before it is written. A file
//! counts in full from its offer on. When it is complete or abandoned, only the bytes that remain on disk count.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, Weak};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use crate::wire::names::STATE_FOLDER;
use crate::wire::noise::NoisePublicKey;
use tress_container::Refusal;
use tress_container::sys::{Os, System as _};
use tress_container::workers::lock;

/// Bytes that every file or folder counts in addition to its content.
pub(crate) const ENTRY_BYTES: u64 = 4096;

/// The quotas of a receiver.
pub(crate) struct Quotas {
    most_bytes: Option<u64>,
    /// Usage of the senders that have a session.
    senders: Mutex<HashMap<NoisePublicKey, Weak<Usage>>>,
}

/// The bytes that one sender uses.
pub(crate) struct Usage {
    most_bytes: u64,
    /// `None` until the existing files have been counted.
    used_bytes: Mutex<Option<u64>>,
}

/// The part of a sender's usage that belongs to one file.
pub(crate) struct Reservation {
    usage: Arc<Usage>,
    bytes: Mutex<u64>,
}

impl Quotas {
    pub(crate) fn new(most_bytes: Option<u64>) -> Self {
        Self { most_bytes, senders: Mutex::default() }
    }

    /// The usage of the sender with this folder; `None` if there is no quota.
    pub(crate) fn of(&self, sender: &NoisePublicKey, folder: &Dir) -> io::Result<Option<Arc<Usage>>> {
        let Some(most_bytes) = self.most_bytes else { return Ok(None) };
        let usage = {
            let mut senders = lock(&self.senders);
            senders.retain(|_, usage| usage.strong_count() > 0);
            senders.get(sender).and_then(Weak::upgrade).unwrap_or_else(|| {
                let usage = Arc::new(Usage { most_bytes, used_bytes: Mutex::default() });
                senders.insert(*sender, Arc::downgrade(&usage));
                usage
            })
        };
        // Counting may take long: only other sessions of this sender wait for it.
        let mut used = lock(&usage.used_bytes);
        if used.is_none() {
            *used = Some(used_bytes(folder)?);
        }
        drop(used);
        Ok(Some(usage))
    }
}

impl Usage {
    /// Counts these bytes, or returns `Quota` if they exceed the limit.
    pub(crate) fn add(&self, bytes: u64) -> Result<(), Refusal> {
        let mut used = lock(&self.used_bytes);
        let after = used.unwrap_or(0).saturating_add(bytes);
        if after > self.most_bytes {
            return Err(Refusal::Quota);
        }
        *used = Some(after);
        Ok(())
    }

    /// Reverses [`Usage::add`].
    pub(crate) fn give_back(&self, bytes: u64) {
        self.change(bytes, 0);
    }

    fn change(&self, before: u64, after: u64) {
        let mut used = lock(&self.used_bytes);
        *used = Some(used.unwrap_or(0).saturating_sub(before).saturating_add(after));
    }

    #[cfg(test)]
    pub(crate) fn used_bytes(&self) -> u64 {
        lock(&self.used_bytes).expect("counted")
    }

    /// The reservation of a file, of which `bytes` are already counted.
    pub(crate) fn file(self: &Arc<Self>, bytes: u64) -> Reservation {
        Reservation { usage: self.clone(), bytes: Mutex::new(bytes) }
    }
}

impl Reservation {
    /// Counts at least `bytes` for the file.
    pub(crate) fn grow_to(&self, bytes: u64) -> Result<(), Refusal> {
        let mut now = lock(&self.bytes);
        if bytes > *now {
            self.usage.add(bytes - *now)?;
            *now = bytes;
        }
        Ok(())
    }

    /// Counts exactly `bytes` for the file.
    pub(crate) fn settle(&self, bytes: u64) {
        let mut now = lock(&self.bytes);
        self.usage.change(*now, bytes);
        *now = bytes;
    }
}

/// Bytes that the content of a sender's folder counts: of the state folder only the incomplete files. A link counts only itself.
pub(crate) fn used_bytes(root: &Dir) -> io::Result<u64> {
    let state = match root.open_dir_nofollow(STATE_FOLDER) {
        Ok(state) => count(&state, &|name| name.ends_with(".part"))?,
        Err(_) => 0,
    };
    Ok(state.saturating_add(count(root, &|name| name != STATE_FOLDER)?))
}

fn count(folder: &Dir, counts: &dyn Fn(&str) -> bool) -> io::Result<u64> {
    // Folders are opened after the listing, which holds a descriptor.
    let (mut sum, mut folders) = (0_u64, Vec::new());
    for entry in folder.entries()? {
        let name = entry?.file_name();
        if !counts(&name.to_string_lossy()) {
            continue;
        }
        // Not `DirEntry::metadata`, which panics at a time of -2^63 s.
        let content = match Os.metadata_in(folder, &name) {
            // The entry was removed after the listing, as may happen to folders below.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Ok(metadata) if metadata.is_dir() => {
                folders.push(name);
                0
            }
            metadata => metadata?.len(),
        };
        sum = sum.saturating_add(ENTRY_BYTES).saturating_add(content);
    }
    for name in folders {
        let inner = match folder.open_dir_nofollow(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            inner => inner?,
        };
        sum = sum.saturating_add(count(&inner, &|_| true)?);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_bytes_are_counted_and_returned() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("a")).unwrap();
        std::fs::write(root.path().join("a/b"), [0; 1000]).unwrap();
        let folder = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        assert!(Quotas::new(None).of(&[1; 32], &folder).unwrap().is_none());
        let quotas = Quotas::new(Some(20_000));
        let usage = quotas.of(&[1; 32], &folder).unwrap().unwrap();
        // A folder and a file of 1000 bytes: 9192.
        assert_eq!(usage.add(10_809), Err(Refusal::Quota));
        usage.add(5_000).unwrap();
        // A second session of the same sender has the same quota; another sender has its own.
        let again = quotas.of(&[1; 32], &folder).unwrap().unwrap();
        assert_eq!(again.add(6_000), Err(Refusal::Quota));
        assert!(quotas.of(&[2; 32], &folder).unwrap().unwrap().add(6_000).is_ok());
        let file = again.file(0);
        file.grow_to(5_000).unwrap();
        file.grow_to(3_000).unwrap();
        assert_eq!(file.grow_to(6_000), Err(Refusal::Quota));
        assert_eq!(usage.add(1_000), Err(Refusal::Quota));
        file.settle(100);
        usage.add(5_000).unwrap();
        assert_eq!(usage.add(u64::MAX), Err(Refusal::Quota));
    }
    /// A sender whose folder takes long to count does not delay other senders.
    #[test]
    fn counting_one_sender_delays_no_other() {
        let root = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        let quotas = Quotas::new(Some(20_000));
        let slow = quotas.of(&[1; 32], &folder).unwrap().unwrap();
        // Holds the lock, like a count in progress.
        let counting = lock(&slow.used_bytes);
        std::thread::scope(|scope| {
            let (done, over) = std::sync::mpsc::channel();
            let (quotas, folder) = (&quotas, &folder);
            scope.spawn(move || done.send(quotas.of(&[1; 32], folder).is_ok()));
            std::thread::sleep(std::time::Duration::from_millis(100));
            let (other_done, other_over) = std::sync::mpsc::channel();
            scope.spawn(move || other_done.send(quotas.of(&[2; 32], folder).is_ok()));
            let heard = other_over.recv_timeout(std::time::Duration::from_secs(1200));
            drop(counting);
            assert_eq!((heard, over.recv()), (Ok(true), Ok(true)));
        });
    }
}
