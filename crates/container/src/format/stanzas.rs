//! Inspects an age header's recipient stanzas: their number, their types, and the identity that opens one.

use std::cell::RefCell;

use age::{DecryptError, Identity};
use age_core::format::{FileKey, Stanza};

use crate::keys::Identities;

/// Counts the lines that begin like a stanza, up to the end of the age header. Called before the header is parsed, because age's parser
/// starts again at every line.
pub(super) fn count_stanzas(age_file: &[u8]) -> usize {
    age_file
        .split(|&byte| byte == b'\n')
        .take_while(|line| !line.starts_with(b"---"))
        .filter(|line| line.starts_with(b"->"))
        .count()
}

/// Whether the body of every stanza ends in a line of fewer than 64 characters, which may be empty, as age's specification requires.
/// age's parser accepts the next stanza or the MAC as the end.
pub(super) fn have_final_lines(age_file: &[u8]) -> bool {
    let mut is_open = false;
    for line in age_file.split(|&byte| byte == b'\n') {
        if line.starts_with(b"->") || line.starts_with(b"---") {
            if is_open || line.starts_with(b"---") {
                return !is_open;
            }
            is_open = true;
        } else if line.len() < 64 {
            is_open = false;
        }
    }
    true
}

/// An identity that opens nothing and records the types of the stanzas.
#[derive(Default)]
pub(super) struct StanzaTypes(RefCell<Vec<String>>);

impl StanzaTypes {
    pub(super) fn into_types(self) -> Vec<String> {
        self.0.into_inner()
    }
}

impl Identity for StanzaTypes {
    fn unwrap_stanza(&self, _: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        None
    }

    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        self.0.replace(stanzas.iter().map(|stanza| stanza.tag.clone()).collect());
        None
    }
}

/// Several identities as one. `age` stops at the first one that fails, so of two passphrases it would try only the first. Here a failed
/// decryption continues with the next identity, and any other error is final.
pub(super) struct EachIdentity<'a>(pub(super) &'a Identities);

impl Identity for EachIdentity<'_> {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        self.first(|identity| identity.unwrap_stanza(stanza))
    }

    fn unwrap_stanzas(&self, stanzas: &[Stanza]) -> Option<Result<FileKey, DecryptError>> {
        self.first(|identity| identity.unwrap_stanzas(stanzas))
    }
}

impl EachIdentity<'_> {
    fn first(
        &self,
        unwrap: impl Fn(&dyn Identity) -> Option<Result<FileKey, DecryptError>>,
    ) -> Option<Result<FileKey, DecryptError>> {
        let mut failed = false;
        for identity in self.0.members() {
            match unwrap(identity) {
                None => {}
                Some(Err(DecryptError::DecryptionFailed)) => failed = true,
                Some(result) => return Some(result),
            }
        }
        failed.then_some(Err(DecryptError::DecryptionFailed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `stanza_missing_body` and `stanza_missing_final_line` of age's test vectors, and the valid stanzas that they derive from.
    #[test]
    fn bodies_end_in_a_short_line() {
        let (full, short) = ("A".repeat(64), "A".repeat(43));
        let cases = [
            (format!("-> a\n{short}\n--- mac\n"), true),
            (format!("-> a\n\n-> b\n{full}\n{short}\n--- mac\n"), true),
            (format!("-> a\n{full}\n\n--- mac\n->"), true),
            ("-> a\n--- mac\n".into(), false),
            (format!("-> a\n-> b\n{short}\n--- mac\n"), false),
            (format!("-> a\n{short}\n-> b\n{full}\n--- mac\n"), false),
        ];
        for (header, expected) in cases {
            assert_eq!(have_final_lines(format!("age-encryption.org/v1\n{header}").as_bytes()), expected, "{header}");
        }
    }
}
