//! Names that a sender gives to its files: relative to the sender's folder, with `/` between components.
//!
//! The receiver refuses a harmful name. It never changes a name to make it harmless.

use tress_container::tree::names::{Rules, split};

/// The folder, inside each sender's folder, where the receiver keeps incomplete files.
pub(crate) const STATE_FOLDER: &str = ".tress";
/// Longest component, in bytes: the limit of common file systems.
const MAX_COMPONENT_BYTES: usize = 255;
/// Most components in a name.
const MAX_DEPTH: usize = 128;

/// The components of a name. `None` if the name is absolute, empty, or deeper than 128, if a component is longer than 255 bytes,
/// empty, `.` or `..`, if it holds NUL, if this system cannot represent it (Windows: device names, reserved characters), or if the
/// first component is the receiver's own folder `.tress`.
pub(crate) fn components(path: &[u8]) -> Option<Vec<&[u8]>> {
    components_by(path, Rules::HERE)
}

fn components_by(path: &[u8], rules: Rules) -> Option<Vec<&[u8]>> {
    // Archives of trees may use these two forms; here every name has exactly one form.
    if path.starts_with(b"./") || path.ends_with(b"/") {
        return None;
    }
    let names = split(path, rules)?;
    let first = names.first()?;
    // On a file system that ignores case, `.TRESS` is the same folder.
    let is_ours = first.eq_ignore_ascii_case(STATE_FOLDER.as_bytes());
    let fits = names.len() <= MAX_DEPTH && names.iter().all(|name| name.len() <= MAX_COMPONENT_BYTES);
    (fits && !is_ours).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_names_pass() {
        assert_eq!(components(b"a"), Some(vec![&b"a"[..]]));
        assert_eq!(components(b"a/.b/c d"), Some(vec![&b"a"[..], b".b", b"c d"]));
        assert!(components(&[b'x'; 255]).is_some());
        assert!(components(b"a/.tress").is_some() && components(b".tressed").is_some());
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
            assert_eq!(components(bad), None, "{:?}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn windows_refuses_its_devices() {
        for bad in ["con", "NUL.txt", "a/com1", "a:b", "C:\\x", "a\\b", "..\\x", "x.", "x "] {
            assert_eq!(components_by(bad.as_bytes(), Rules::Windows), None, "{bad}");
        }
        assert!(components_by(b"a/console.log", Rules::Windows).is_some());
    }
}
