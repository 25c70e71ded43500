//! Makes untrusted text safe to print: names inside containers and trees may hold terminal control sequences or hidden characters, and be
//! a mebibyte long.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

/// Number of characters of a name that are shown.
const MAX_CHARACTERS: usize = 200;

/// Whether a terminal obeys this character, hides it, or reorders its neighbours: controls, formats (among them bidirectional ones),
/// separators other than the space, unassigned and private characters, and those that Unicode lets a display ignore.
pub fn is_hidden(character: char) -> bool {
    match character {
        ' '..='~' => false,
        // Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 16.0, where the general categories do not cover it.
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}' => true,
        // `escape_debug` escapes the categories Cc, Cf, Cn, Co, Zl, Zp and Zs, and at the start of a text also accents, which are harmless.
        character => String::from_iter(['a', character]).escape_debug().nth(1) == Some('\\'),
    }
}

/// Formats an untrusted name: escapes hidden characters, backslashes and bytes that are not UTF-8, so that no two names look alike, and
/// shortens it.
pub fn foreign(name: impl AsRef<OsStr>) -> String {
    let name = name.as_ref();
    let also: &[char] = match letters(name).next() {
        // Only an empty name looks like quotes.
        None => return "\"\"".into(),
        Some(Ok('"')) => &['\\', '"'],
        Some(_) => &['\\'],
    };
    let mut shown = String::new();
    push_escaped(&mut shown, letters(name).take(MAX_CHARACTERS), also);
    if letters(name).nth(MAX_CHARACTERS).is_some() {
        let _ = write!(shown, "... ({} bytes)", name.len());
    }
    shown
}

/// Formats a path as [`foreign`] does, but in full, for programs that read it. On Windows, where no name has a backslash, it separates
/// names.
pub fn in_full(path: &Path) -> String {
    let mut shown = String::new();
    push_escaped(&mut shown, letters(path.as_os_str()), if cfg!(windows) { &[] } else { &['\\'] });
    shown
}

/// Formats a path that the user gave. It is quoted if it holds hidden characters or is not UTF-8, so that an error stays on one line.
pub fn given(path: impl AsRef<OsStr>) -> String {
    let path = path.as_ref();
    if let Some(plain) = path.to_str()
        && !plain.starts_with('"')
        && !plain.chars().any(is_hidden)
    {
        return plain.into();
    }
    let mut shown = String::from("\"");
    push_escaped(&mut shown, letters(path), &['\\', '"']);
    shown.push('"');
    shown
}

/// The characters of a name, and the bytes that belong to none.
fn letters(name: &OsStr) -> impl Iterator<Item = Result<char, u8>> {
    let chunks = name.as_encoded_bytes().utf8_chunks();
    chunks.flat_map(|chunk| chunk.valid().chars().map(Ok).chain(chunk.invalid().iter().copied().map(Err)))
}

fn push_escaped(shown: &mut String, letters: impl Iterator<Item = Result<char, u8>>, also: &[char]) {
    for letter in letters {
        match letter {
            Ok(character) if is_hidden(character) || also.contains(&character) => {
                shown.extend(character.escape_default());
            }
            Ok(character) => shown.push(character),
            Err(byte) => {
                let _ = write!(shown, "\\x{byte:02x}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the Unicode tables: categories from UnicodeData.txt, the others from DerivedCoreProperties.txt.
    #[test]
    fn what_is_hidden() {
        let hidden = [
            ("Cc", "\0\u{7}\n\t\u{1b}\u{7f}\u{85}\u{9b}"),
            (
                "Cf",
                "\u{ad}\u{61c}\u{6dd}\u{70f}\u{180e}\u{200b}\u{200e}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\u{fffb}",
            ),
            ("tags", "\u{e0001}\u{e0041}\u{e007f}"),
            (
                "ignorable characters and marks",
                "\u{34f}\u{115f}\u{1160}\u{17b4}\u{180b}\u{3164}\u{fe0f}\u{ffa0}\u{e0100}\u{e01ef}",
            ),
            ("Zl, Zp, Zs", "\u{2028}\u{2029}\u{a0}\u{2003}\u{3000}"),
            ("Co, Cn", "\u{e000}\u{378}\u{10ffff}"),
        ];
        for (what, characters) in hidden {
            for character in characters.chars() {
                assert!(is_hidden(character), "{what}: {character:?}");
            }
        }
        for character in "aZ09 ~\\'\"ée\u{301}ЖאعकिไทยΩ漢かな가😀—€".chars() {
            assert!(!is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn untrusted_names() {
        assert_eq!(foreign("a\nb"), "a\\nb");
        assert_eq!(foreign("a\\nb"), "a\\\\nb");
        assert_eq!(foreign("\u{202e}é"), "\\u{202e}é");
        assert_eq!(foreign(""), "\"\"");
        let long = foreign("\u{e0041}".repeat(1 << 18));
        assert!(long.len() < 20 * MAX_CHARACTERS && long.ends_with("... (1048576 bytes)"), "{long}");
        assert_eq!(foreign("a".repeat(MAX_CHARACTERS)), "a".repeat(MAX_CHARACTERS));
    }

    #[test]
    fn paths_of_the_user() {
        assert_eq!(given("C:\\a b"), "C:\\a b");
        assert_eq!(given("a\nb\\n\u{61c}"), "\"a\\nb\\\\n\\u{61c}\"");
    }

    #[cfg(unix)]
    #[test]
    fn different_names_look_different() {
        use std::os::unix::ffi::OsStrExt as _;
        let names = b"|\"\"|\\\"\\\"|a\nb|a\\nb|a\\\\nb|\"a\\nb\"|\xff|\xfe|\\xff|\\\\xff|\"\xff\"|\"\\xff\"|\xef\xbf\xbd|\xef\xbf|\xed\xa0\x80|\xc2\x85|\\u{85}";
        let names: Vec<&OsStr> = names.split(|&byte| byte == b'|').map(OsStr::from_bytes).collect();
        for show in [|name: &OsStr| foreign(name), |name: &OsStr| given(name), |name: &OsStr| in_full(Path::new(name))]
        {
            let shown: std::collections::BTreeSet<_> = names.iter().map(|name| show(name)).collect();
            assert!(shown.len() == names.len() && !shown.iter().any(|shown| shown.contains(is_hidden)), "{shown:?}");
        }
        assert_eq!(in_full(Path::new(OsStr::from_bytes(b"d/a\\\n\xff"))), r"d/a\\\n\xff");
    }
}
