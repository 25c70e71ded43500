//! Names that a sender gives to its files: relative, `/` between components, below the sender's own folder.
//!
//! The receiver repairs nothing: what would have to be changed to be harmless is refused.

use tress_container::tree::names::{Rules, split};

/// The folder, inside each sender's folder, where the receiver keeps what is not complete.
pub(crate) const STATE_FOLDER: &str = ".tress";
/// Longest component, in bytes: what common file systems take.
const MAX_COMPONENT_BYTES: usize = 255;
/// Deepest folder.
const MAX_DEPTH: usize = 128;

/// The components of a name; `None` for one that is absolute, empty, too long or too deep, holds NUL, `.`, `..`, an empty
/// component, one that this system cannot make as it is (Windows: device names, reserved characters), or begins with the
/// receiver's own folder.
pub(crate) fn components(path: &[u8]) -> Option<Vec<&[u8]>> {
    components_by(path, Rules::HERE)
}

fn components_by(path: &[u8], rules: Rules) -> Option<Vec<&[u8]>> {
    // Trees admit these two; here every name has one form.
    if path.starts_with(b"./") || path.ends_with(b"/") {
        return None;
    }
    let names = split(path, rules)?;
    let first = names.first()?;
    // Where case is folded, any case is that folder.
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
    fn everything_that_leads_elsewhere_is_refused() {
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
