//! Patterns for entries of a folder to leave out.
use super::names;
use crate::{Error, ErrorKind};
use glob::{MatchOptions, Pattern};
use std::ffi::OsStr;
use std::path::Path;

/// Patterns for entries of a folder to leave out. One without `/` matches a name anywhere, one with `/` a path below the folder. `*` does
/// not match `/`, `**` does.
#[derive(Clone, Debug, Default)]
pub struct Exclude(Vec<(Pattern, bool)>);

impl Exclude {
    /// Parses patterns. A `/` at the end of one has no meaning, nor have `./` and a second `/`.
    ///
    /// # Errors
    /// `Usage` for a wrong pattern.
    pub fn parse(patterns: &[String]) -> Result<Self, Error> {
        let parse = |given: &String| {
            let is_path = given.trim_end_matches('/').contains('/');
            let names: Vec<&str> = given.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
            let pattern = Pattern::new(&names.join("/"));
            let wrong =
                |error: glob::PatternError| Error::new(ErrorKind::Usage).with_detail(format!("{given}: {}", error.msg));
            Ok((pattern.map_err(wrong)?, is_path))
        };
        patterns.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a name in a folder is left out. The folder's path is below the folder that the patterns are for.
    pub fn matches(&self, folder: &Path, name: &OsStr) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let text = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        let path = if self.0.iter().any(|(_, is_path)| *is_path) { text(&folder.join(name)) } else { Vec::new() };
        let (name, path) = (names::text(name.as_encoded_bytes()), names::text(&path));
        let matches =
            |(pattern, is_path): &(Pattern, bool)| pattern.matches_with(if *is_path { &path } else { &name }, options);
        self.0.iter().any(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the folder and the name that it leaves out, and whether the same name elsewhere.
    #[test]
    fn paths_have_one_meaning_in_all_spellings() {
        for (pattern, folder, name, anywhere) in [
            ("a", "", "a", true),
            ("a/", "", "a", true),
            ("a//", "", "a", true),
            ("/a", "", "a", false),
            ("./a", "", "a", false),
            ("././/a/", "", "a", false),
            ("a/b", "a", "b", false),
            ("a//b", "a", "b", false),
            ("./a/./*b", "a", "b", false),
            ("**/b", "a", "b", true),
        ] {
            let exclude = Exclude::parse(&[pattern.into()]).unwrap();
            assert!(exclude.matches(Path::new(folder), name.as_ref()), "{pattern}");
            assert_eq!(exclude.matches(Path::new("x/y"), name.as_ref()), anywhere, "{pattern}");
            assert!(!exclude.matches(Path::new(folder), "c".as_ref()), "{pattern}");
        }
    }
}
