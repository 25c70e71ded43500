//! Checks who owns a folder: another user of the machine may have made one where the receiver expects its own.

use std::io;
use std::path::Path;

use cap_std::fs::Dir;

/// Permission bit: users outside the group may write.
pub(crate) const OTHERS_WRITE: u32 = 0o002;
pub(crate) const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
pub(crate) const GROUP_OR_OTHERS: u32 = 0o077;
/// Permission bit: only the owner of an entry, and of this folder, may remove or rename the entry.
#[cfg(unix)]
const STICKY: u32 = 0o1000;

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

/// Returns an error if a stranger may have made the receiver's folder or one above it, or may exchange one. On Windows it checks nothing.
/// `path` is for messages.
pub(crate) fn check_base(base: &Dir, path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        let user = rustix::process::geteuid().as_raw();
        let (mut folder, mut found, mut level) = (base.try_clone()?, base.dir_metadata()?, 0);
        // macOS cannot open a folder that this user may not read.
        while let Ok(parent) = folder.open_parent_dir(cap_std::ambient_authority()) {
            let above = parent.dir_metadata()?;
            if let Err(problem) = check_level(user, level, (found.uid(), found.mode()), (above.uid(), above.mode())) {
                let path = path.canonicalize()?;
                let text = format!("the folder {} {problem}", path.ancestors().nth(level).unwrap_or(&path).display());
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
            }
            if (above.dev(), above.ino()) == (found.dev(), found.ino()) {
                break;
            }
            (folder, found, level) = (parent, above, level + 1);
        }
    }
    let _ = (base, path);
    Ok(())
}

/// The rule for the folder `level` levels above the receiver's: owner and mode of the folder, and of the one above it.
#[cfg(unix)]
fn check_level(user: u32, level: usize, folder: (u32, u32), above: (u32, u32)) -> Result<(), &'static str> {
    let may_be_planted = level == 0 || above.1 & OTHERS_WRITE != 0 && folder.0 != above.0;
    if folder.0 != user && folder.0 != 0 && may_be_planted {
        return Err("belongs to another user");
    }
    if folder.1 & OTHERS_WRITE != 0 && folder.1 & STICKY == 0 { Err("can be changed by other users") } else { Ok(()) }
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

    #[test]
    fn whose_folders_may_contain_the_receivers() {
        let (us, them, shared) = ((7, 0o755), (8, 0o755), (0, 0o1777));
        let good = [(0, us, shared), (0, (7, 0o1777), shared), (0, shared, us), (0, (7, 0o775), us), (1, them, us)];
        let more = [(1, us, shared), (1, them, (8, 0o1777)), (3, shared, us)];
        let bad = [(0, (7, 0o777), us), (0, them, us), (0, (8, 0o1777), us), (1, them, shared), (3, (0, 0o777), us)];
        let cases = good.iter().chain(&more).map(|case| (case, true)).chain(bad.iter().map(|case| (case, false)));
        for (&(level, folder, above), is_good) in cases {
            assert_eq!(check_level(7, level, folder, above).is_ok(), is_good, "{level} {folder:?} {above:?}");
        }
    }
}
