//! The formats of encrypted files by name, and what tells them apart. The files of `format/` read and write them.

/// A format of encrypted files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Our container: AES-CCM, a name, folders, recipients that change in place.
    #[default]
    Tress,
    /// The format of `age` and `rage`.
    Age,
    /// C2SP Cobblestone-128: AES-128-GCM under a key of 16 bytes.
    Cobblestone128,
    /// C2SP Cobblestone-256: AES-256-GCM under a key of 32 bytes.
    Cobblestone256,
}

impl Format {
    /// All formats.
    pub const ALL: &[Format] = &[Format::Tress, Format::Age, Format::Cobblestone128, Format::Cobblestone256];

    /// The name, the first bytes of a file, and the length of the key in place of recipients.
    const fn facts(self) -> (&'static str, Option<&'static [u8]>, Option<usize>) {
        match self {
            Format::Tress => ("tress", Some(b"tress/"), None),
            Format::Age => ("age", Some(b"age-encryption.org/"), None),
            Format::Cobblestone128 => ("cobblestone-128", None, Some(16)),
            Format::Cobblestone256 => ("cobblestone-256", None, Some(32)),
        }
    }

    /// The name on the command line and in the output of `inspect`.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// The first bytes of a file; `None` if it may begin with any.
    pub(crate) const fn magic(self) -> Option<&'static [u8]> {
        self.facts().1
    }

    /// Bytes of the one key of a file; `None` for a format that has recipients.
    pub const fn key_bytes(self) -> Option<usize> {
        self.facts().2
    }

    /// The format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Format> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format whose magic these bytes begin with.
    pub(crate) fn recognise(bytes: &[u8]) -> Option<Format> {
        Self::ALL.iter().copied().find(|format| format.magic().is_some_and(|magic| bytes.starts_with(magic)))
    }
}
