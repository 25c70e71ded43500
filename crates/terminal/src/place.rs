//! Where a path leads.

use std::path::Path;

/// Whether a path is that of this folder, or leads into it. Both are canonical, but a folder may be mounted in several places.
pub fn is_below(path: &Path, folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
        let of_folder = identity(folder);
        if of_folder.is_some() && path.ancestors().any(|above| identity(above) == of_folder) {
            return true;
        }
    }
    path.starts_with(folder)
}
