//! Names that a sender gives to its files: relative to the sender's folder, with `/` between components.
//!
//! The receiver refuses a harmful name. It never changes a name to make it harmless.

use std::path::PathBuf;

use tress_container::tree::names::{MAX_PATH_BYTES, Rules, split, to_os};

/// The folder, inside each sender's folder, where the receiver keeps incomplete files.
pub(crate) const STATE_FOLDER: &str = ".tress";
/// Longest component, in bytes: the limit of common file systems.
const MAX_COMPONENT_BYTES: usize = 255;
/// Suffix of containers.
const SUFFIX: &[u8] = b".tress";
/// Most bytes of the first part of a name that is too long for [`SUFFIX`].
const LONG_HEAD_BYTES: usize = 150;
/// Most components in a name.
const MAX_DEPTH: usize = 128;

/// The components of a name, or the reason why it is refused: the name is absolute, empty, or deeper than 128, a component is longer than
/// 255 bytes, empty, `.` or `..`, it holds NUL, this system cannot represent it (Windows: device names, reserved characters), or the
/// first component is the receiver's own folder `.tress`.
pub(crate) fn components(path: &[u8]) -> Result<Vec<&[u8]>, &'static str> {
    components_by(path, Rules::HERE)
}

/// The path of a name below the sender's folder; `None` for a name that is refused.
pub(crate) fn path_of(name: &[u8]) -> Option<PathBuf> {
    components(name).ok()?.into_iter().map(to_os).collect()
}

fn components_by(path: &[u8], rules: Rules) -> Result<Vec<&[u8]>, &'static str> {
    if path.len() > MAX_PATH_BYTES {
        return Err("the path is longer than 4095 bytes");
    }
    // Archives of trees may use these two forms; here every name has exactly one form.
    let names = if path.starts_with(b"./") || path.ends_with(b"/") { None } else { split(path, rules) };
    let Some(names) = names else {
        return Err("it must be relative, without .. and without characters that are reserved here");
    };
    // On a file system that ignores case, `.TRESS` is the same folder.
    if names.first().is_none_or(|first| first.eq_ignore_ascii_case(STATE_FOLDER.as_bytes())) {
        return Err("the receiver keeps its own files in .tress");
    }
    if names.iter().any(|name| name.len() > MAX_COMPONENT_BYTES) {
        return Err("a name in the path is longer than 255 bytes");
    }
    if names.len() > MAX_DEPTH { Err("the path has more than 128 names") } else { Ok(names) }
}

/// Whether a symbolic link below `depth` folders, none of them a link, stays inside the outermost.
///
/// `..` may come before all names only: behind the name of a link it would leave the folder that this link points to, and what is a folder
/// now may be a link when the receiver's user has removed it.
pub(crate) fn link_stays_inside(depth: usize, target: &[u8]) -> bool {
    let is_relative = (1..=MAX_PATH_BYTES).contains(&target.len()) && target[0] != b'/';
    let mut names = target.split(|&byte| byte == b'/').filter(|name| !matches!(*name, b"" | b".")).peekable();
    let up = std::iter::from_fn(|| names.next_if(|name| *name == b"..")).count();
    is_relative && up <= depth && names.all(|name| split(name, Rules::HERE).is_some())
}

/// The name of a file that is encrypted on the way, `NAME.tress`. Where that is too long for a file system, it is a folder with the
/// beginning of the name and a file with its rest, as in `tress_dataset` (names.py): `BEGINNING.tress-long/REST.tress`.
pub(crate) fn sealed_name(path: &[u8]) -> Vec<u8> {
    let (folders, name) = path.split_at(path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1));
    if name.len() + SUFFIX.len() <= MAX_COMPONENT_BYTES {
        return [path, SUFFIX].concat();
    }
    // Not inside a character of UTF-8.
    let is_start = |&end: &usize| name[end] & 0xc0 != 0x80;
    let (head, rest) =
        name.split_at((LONG_HEAD_BYTES - 3..=LONG_HEAD_BYTES).rev().find(is_start).unwrap_or(LONG_HEAD_BYTES));
    [folders, head, b".tress-long/", rest, SUFFIX].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_names_pass() {
        assert_eq!(components(b"a"), Ok(vec![&b"a"[..]]));
        assert_eq!(components(b"a/.b/c d"), Ok(vec![&b"a"[..], b".b", b"c d"]));
        assert!(components(&[b'x'; 255]).is_ok());
        assert!(components(b"a/.tress").is_ok() && components(b".tressed").is_ok());
    }

    #[test]
    fn names_outside_the_folder_are_refused() {
        let deep = [&b"a/".repeat(128)[..], b"a"].concat();
        let long = [b'x'; 256];
        for bad in [
            &b""[..],
            b"/",
            b"/etc/passwd",
            b".",
            b"./a",
            b"..",
            b"../a",
            b"a/..",
            b"a/../../b",
            b"a//b",
            b"a/",
            b"a\0b",
            b".tress",
            b".tress/x.part",
            b".TRESS/x",
            &deep,
            &long,
        ] {
            assert!(components(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }

    /// In a folder two levels deep.
    #[test]
    fn targets_of_links() {
        let good = ["a", "x/y", "../x", "../..", "./a", "./../a", ".//.././../x/.", "..//..", "a//b/", "l/x", "."];
        let bad = ["/", "/a", "../../..", "../x/..", "a/..", "a/../x", "a/b/../..", "./a/./../l", "a\0", ""];
        let good = good.into_iter().map(|target| (target, true));
        for (target, stays) in good.chain(bad.into_iter().map(|target| (target, false))) {
            assert_eq!(link_stays_inside(2, target.as_bytes()), stays, "{target}");
        }
    }

    #[test]
    fn windows_refuses_its_devices() {
        for bad in ["con", "NUL.txt", "a/com1", "a:b", "C:\\x", "a\\b", "..\\x", "x.", "x "] {
            assert!(components_by(bad.as_bytes(), Rules::Windows).is_err(), "{bad}");
        }
        assert!(components_by(b"a/console.log", Rules::Windows).is_ok());
    }

    /// The right answer is that of `container_name` in python/dataset/tress_dataset/names.py.
    #[test]
    fn names_of_containers_fit() {
        // Characters of one byte and of four, 37 of which are 148 bytes.
        for (letter, count, head) in [("x", 249, 0), ("x", 250, 150), ("x", 255, 150), ("😀", 62, 0), ("😀", 63, 37)]
        {
            let folder = if head > 0 { letter.repeat(head) + ".tress-long/" } else { String::new() };
            let sealed = sealed_name(("d/e/".to_string() + &letter.repeat(count)).as_bytes());
            let expected = format!("d/e/{folder}{}.tress", letter.repeat(count - head));
            assert!(sealed == expected.as_bytes() && components(&sealed).is_ok(), "{letter} {count}");
        }
        // Names of Windows are Unicode.
        assert_eq!(components(&sealed_name(&[0x80; 255])).is_ok(), cfg!(unix));
    }
}
