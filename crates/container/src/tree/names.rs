//! Names inside a tree: which ones are allowed, and what a symbolic link may point to.
//!
//! Trees may come from untrusted sources, so their names are checked component by component, and never repaired: a name that would have to
//! be changed to be harmless is rejected. Names are bytes, as in tar; only Windows requires UTF-8.
use std::borrow::Cow;
use std::ffi::OsStr;

/// Longest path below the root of a tree and longest target of a link, in bytes: the limit of a system call (Linux `PATH_MAX` without its
/// NUL), so that every path can be opened from the root's handle in one step.
pub const MAX_PATH_BYTES: usize = 4095;

/// The operating system whose rules a name must follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Any byte but NUL and `/`.
    Unix,
    /// UTF-8 without the characters and names that have a meaning for Win32.
    Windows,
}

impl Rules {
    /// The rules of this system.
    pub const HERE: Rules = if cfg!(windows) { Rules::Windows } else { Rules::Unix };
}

/// Splits the path of an entry into its names. The root, `./`, has none.
///
/// Accepts one leading `./`, which GNU tar writes for the contents of a folder, and one trailing `/`, which marks a folder. Returns `None`
/// for a path that is empty, absolute or too long, or that contains NUL, an empty name, `.`, `..` or a name that the rules forbid.
pub fn split(path: &[u8], rules: Rules) -> Option<Vec<&[u8]>> {
    let names = parts(path)?;
    names.clone().all(|name| is_admitted(name, rules)).then(|| names.collect())
}

/// Whether [`split`] accepts the path of an entry.
pub fn is_path(path: &[u8], rules: Rules) -> bool {
    parts(path).is_some_and(|mut names| names.all(|name| is_admitted(name, rules)))
}

fn parts(path: &[u8]) -> Option<impl Iterator<Item = &[u8]> + Clone> {
    let inner = path.strip_prefix(b"./").unwrap_or(path);
    let inner = inner.strip_suffix(b"/").unwrap_or(inner);
    let is_root = path == b"./";
    let may_be = !path.is_empty() && path.len() <= MAX_PATH_BYTES;
    may_be.then(|| inner.split(|&byte| byte == b'/').skip(is_root.into()))
}

/// Whether a symbolic link below `depth` folders (0 in the root) stays inside the tree.
///
/// `..` is allowed only before the first name; `.` and the empty name count as names here. There it leaves folders that are known to be
/// real, because an entry's parents are never links. After a name it could leave a folder that another link points to: `a/b/up -> ../..`
/// with `x -> a/b/up/..` would point out of the tree although each link looks harmless alone.
pub fn link_stays_inside(depth: usize, target: &[u8], rules: Rules) -> bool {
    if target.is_empty() || target.len() > MAX_PATH_BYTES || target[0] == b'/' {
        return false;
    }
    let mut above = depth;
    let mut has_descended = false;
    for name in target.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => has_descended = true,
            b".." if has_descended || above == 0 => return false,
            b".." => above -= 1,
            name if is_admitted(name, rules) => has_descended = true,
            _ => return false,
        }
    }
    true
}

/// Whether a file may have this name.
fn is_admitted(name: &[u8], rules: Rules) -> bool {
    if name.is_empty() || name == b"." || name == b".." || name.contains(&0) || name.contains(&b'/') {
        return false;
    }
    match rules {
        Rules::Unix => true,
        Rules::Windows => std::str::from_utf8(name).is_ok_and(is_admitted_on_windows),
    }
}

/// Microsoft, "Naming Files, Paths, and Namespaces". A colon would name a drive or an alternate stream. A trailing dot or space is dropped,
/// so that two names would mean the same file.
fn is_admitted_on_windows(name: &str) -> bool {
    let has_meaning = |character: char| character < ' ' || r#"<>:"/\|?*"#.contains(character);
    if name.contains(has_meaning) || name.ends_with(['.', ' ']) {
        return false;
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_uppercase();
    let is_port = ["COM", "LPT"].iter().any(|port| {
        stem.strip_prefix(port).is_some_and(|digit| digit.chars().count() == 1 && digit.contains(is_port_digit))
    });
    !is_port && !["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str())
}

/// Windows accepts the superscript digits of Latin-1 in device names.
fn is_port_digit(character: char) -> bool {
    character.is_ascii_digit() || "¹²³".contains(character)
}

/// A name or pattern as text for patterns: each byte that is not UTF-8 is a character that no name has.
pub fn text(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name) {
        return text.into();
    }
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(0x10_ff00 | u32::from(*byte))));
    }
    text.into()
}

/// A name in the form of the file system; `None` if this system cannot express it.
pub fn to_os(name: &[u8]) -> Option<&OsStr> {
    #[cfg(unix)]
    {
        Some(std::os::unix::ffi::OsStrExt::from_bytes(name))
    }
    #[cfg(not(unix))]
    {
        std::str::from_utf8(name).ok().map(OsStr::new)
    }
}

/// A name as the tree stores it; `None` if it is not Unicode and this system's names are not bytes.
pub fn to_bytes(name: &OsStr) -> Option<&[u8]> {
    #[cfg(unix)]
    {
        Some(std::os::unix::ffi::OsStrExt::as_bytes(name))
    }
    #[cfg(not(unix))]
    {
        name.to_str().map(str::as_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_names() {
        for refused in
            ["a:b", "a\\b", "C:", "con", "Nul.txt", "com1", "LPT².log", "aux .c", "a.", "a ", "a?", "a\u{1}", "conin$"]
        {
            assert!(!is_admitted(refused.as_bytes(), Rules::Windows), "{refused}");
        }
        for admitted in ["a.b", "console", "com10", "com", "ä", ".git", "nul1"] {
            assert!(is_admitted(admitted.as_bytes(), Rules::Windows), "{admitted}");
        }
        assert!(!is_admitted(b"\xff", Rules::Windows));
    }
}
