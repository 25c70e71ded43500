//! Checks who owns a folder: another user of the machine may have made one where the receiver expects its own.

use std::io;

use cap_std::fs::Dir;

/// Permission bit: users outside the group may write.
pub(crate) const OTHERS_WRITE: u32 = 0o002;
pub(crate) const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
pub(crate) const GROUP_OR_OTHERS: u32 = 0o077;

/// Returns an error unless the folder belongs to the user of this process and has none of the `forbidden` permission bits. On Windows it
/// checks nothing.
pub(crate) fn check(folder: &Dir, what: &str, forbidden: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        let metadata = folder.dir_metadata()?;
        check_owner_and_mode(metadata.uid(), rustix::process::geteuid().as_raw(), metadata.mode(), forbidden)
            .map_err(|problem| io::Error::new(io::ErrorKind::PermissionDenied, format!("{what} {problem}")))
    }
    #[cfg(not(unix))]
    {
        let _ = (folder, what, forbidden);
        Ok(())
    }
}

#[cfg(unix)]
fn check_owner_and_mode(owner: u32, user: u32, mode: u32, forbidden: u32) -> Result<(), &'static str> {
    match (owner == user, mode & forbidden) {
        (false, _) => Err("belongs to another user"),
        (true, 0) => Ok(()),
        (true, _) => Err("can be changed by other users"),
    }
}

/// Removes the write permission of others, which a new folder has if the umask is 0.
pub(crate) fn deny_others_write(folder: &Dir) -> io::Result<()> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        let mode = folder.dir_metadata()?.mode();
        if mode & OTHERS_WRITE != 0 {
            let mode = rustix::fs::Mode::from_raw_mode((mode & 0o7777 & !OTHERS_WRITE) as rustix::fs::RawMode);
            rustix::fs::fchmod(folder, mode)?;
        }
    }
    let _ = folder;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn owners_and_modes() {
        for (owner, mode, forbidden, is_good) in [
            (7, 0o755, OTHERS_WRITE, true),
            (7, 0o775, OTHERS_WRITE, true),
            (7, 0o777, OTHERS_WRITE, false),
            (7, 0o1777, OTHERS_WRITE, false),
            (7, 0o775, GROUP_OR_OTHERS_WRITE, false),
            (7, 0o700, GROUP_OR_OTHERS, true),
            (7, 0o710, GROUP_OR_OTHERS, false),
            // Not even a folder of root; and root does not accept a folder of another user.
            (0, 0o700, OTHERS_WRITE, false),
            (8, 0o700, OTHERS_WRITE, false),
        ] {
            assert_eq!(
                check_owner_and_mode(owner, 7, mode, forbidden).is_ok(),
                is_good,
                "{owner} {mode:o} {forbidden:o}"
            );
        }
        assert!(check_owner_and_mode(7, 0, 0o700, 0).is_err());
    }
}
