//! Reads vector files, which have Wycheproof's shape with `source` and `licence` at the top (`vectors/README.md`).

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, de::Error as _};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorFile {
    #[serde(rename = "algorithm")]
    _algorithm: String,
    pub(crate) source: String,
    pub(crate) licence: String,
    #[serde(rename = "numberOfTests")]
    pub(crate) number_of_tests: usize,
    #[serde(default, rename = "notes")]
    _notes: serde::de::IgnoredAny,
    #[serde(rename = "testGroups")]
    pub(crate) groups: Vec<VectorGroup>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorGroup {
    #[serde(rename = "type")]
    pub(crate) kind: GroupKind,
    #[serde(default)]
    pub(crate) direction: Option<MonteCarloDirection>,
    #[serde(rename = "keySize")]
    pub(crate) key_bits: usize,
    /// Only for ciphers with several block lengths.
    #[serde(default, rename = "blockSize")]
    pub(crate) block_bits: Option<usize>,
    #[serde(default)]
    pub(crate) rounds: Option<u8>,
    #[serde(default, rename = "ivSize")]
    pub(crate) iv_bits: Option<usize>,
    #[serde(default, rename = "tagSize")]
    pub(crate) tag_bits: Option<usize>,
    pub(crate) tests: Vec<VectorTest>,
}

/// The type of a group, without the cipher's name before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum GroupKind {
    Ecb,
    Cbc,
    CbcPkcs7,
    Ctr,
    Ccm,
    CbcMonteCarlo,
    EcbMonteCarlo,
    /// RC6-32/r/b with the group's number of rounds, one block.
    Rc6General,
    ChaCha20Poly1305,
}

impl TryFrom<String> for GroupKind {
    type Error = String;

    fn try_from(name: String) -> Result<GroupKind, String> {
        // A name comes before its suffixes.
        let kinds = [
            ("EcbMonteCarlo", GroupKind::EcbMonteCarlo),
            ("CbcMonteCarlo", GroupKind::CbcMonteCarlo),
            ("CbcPkcs7", GroupKind::CbcPkcs7),
            ("Rc6General", GroupKind::Rc6General),
            ("ChaCha20Poly1305", GroupKind::ChaCha20Poly1305),
            ("Ecb", GroupKind::Ecb),
            ("Cbc", GroupKind::Cbc),
            ("Ctr", GroupKind::Ctr),
            ("Ccm", GroupKind::Ccm),
        ];
        let found = kinds.into_iter().find(|(end, _)| name.ends_with(end));
        found.map(|(_, kind)| kind).ok_or_else(|| format!("{name} is not a type of group"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MonteCarloDirection {
    Encrypt,
    Decrypt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExpectedResult {
    Valid,
    Invalid,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorTest {
    #[serde(rename = "tcId")]
    pub(crate) id: usize,
    pub(crate) comment: String,
    /// The number of the round, for Monte Carlo tests that keep some of their rounds.
    #[serde(default, rename = "outerRound")]
    pub(crate) outer_round: Option<usize>,
    #[serde(deserialize_with = "hex")]
    pub(crate) key: Vec<u8>,
    /// Initialisation vector, first counter block or nonce.
    #[serde(default, deserialize_with = "hex")]
    pub(crate) iv: Vec<u8>,
    #[serde(default, deserialize_with = "hex")]
    aad: Vec<u8>,
    /// If present, `aad` is repeated up to this many bytes.
    #[serde(default, rename = "aadLength")]
    aad_bytes: Option<usize>,
    /// Absent if the source has no plaintext for an invalid ciphertext.
    #[serde(default, deserialize_with = "optional_hex")]
    pub(crate) msg: Option<Vec<u8>>,
    #[serde(deserialize_with = "hex")]
    pub(crate) ct: Vec<u8>,
    #[serde(default, deserialize_with = "hex")]
    pub(crate) tag: Vec<u8>,
    pub(crate) result: ExpectedResult,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
}

impl VectorFile {
    pub(crate) fn read(cipher: &str, name: &str) -> VectorFile {
        let path = folder(cipher).join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file: VectorFile =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!file.source.is_empty() && !file.licence.is_empty(), "{name} has no source or no licence");
        for group in &file.groups {
            for test in &group.tests {
                assert!(group.iv_bits.is_none_or(|bits| bits == 8 * test.iv.len()), "{name} test {}", test.id);
                // A nonce of a wrong length has no tag.
                let is_whole = |bits| bits == 8 * test.tag.len() || test.tag.is_empty() && !test.is_valid();
                assert!(group.tag_bits.is_none_or(is_whole), "{name} test {}", test.id);
                let has_reason = test.result == ExpectedResult::Valid || !test.flags.is_empty();
                assert!(has_reason, "{name} test {} is invalid without a flag", test.id);
            }
        }
        file
    }

    pub(crate) fn tests_of(&self, kind: GroupKind) -> Vec<&VectorTest> {
        self.groups.iter().filter(|group| group.kind == kind).flat_map(|group| &group.tests).collect()
    }
}

impl VectorTest {
    pub(crate) fn is_valid(&self) -> bool {
        self.result == ExpectedResult::Valid
    }

    pub(crate) fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }

    /// The plaintext, which all vectors have except invalid ones of CCM.
    pub(crate) fn message(&self) -> &[u8] {
        self.msg.as_deref().expect("the vector has a plaintext")
    }

    pub(crate) fn associated_data(&self) -> Vec<u8> {
        let bytes = self.aad_bytes.unwrap_or(self.aad.len());
        self.aad.iter().copied().cycle().take(bytes).collect()
    }
}

/// The folder with the vectors of one cipher.
fn folder(cipher: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(cipher)
}

pub(crate) fn size(cipher: &str, name: &str) -> u64 {
    std::fs::metadata(folder(cipher).join(format!("{name}.json"))).expect("the vector file exists").len()
}

/// The names, without `.json`, of all vector files of a cipher.
pub(crate) fn names(cipher: &str) -> BTreeSet<String> {
    std::fs::read_dir(folder(cipher))
        .expect("the cipher's folder exists")
        .map(|entry| entry.expect("the folder is readable").path())
        .map(|path| path.file_stem().expect("a name").to_str().expect("an ASCII name").to_owned())
        .collect()
}

fn hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
    base16ct::mixed::decode_vec(text.as_bytes()).map_err(D::Error::custom)
}

fn optional_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    hex(deserializer).map(Some)
}
