//! The files in `vectors/sign/`, which `vectors/README.md` describes.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use tress_sign::Hash;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    pub number_of_tests: usize,
    #[serde(rename = "testGroups")]
    pub groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    #[serde(rename = "type")]
    pub kind: String,
    pub sha: String,
    #[serde(default, deserialize_with = "bytes")]
    pub public_key: Vec<u8>,
    #[serde(default, deserialize_with = "some_bytes")]
    pub private_key: Option<Vec<u8>>,
    #[serde(rename = "sLen")]
    pub salt_bytes: Option<usize>,
    pub tests: Vec<Test>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Test {
    pub tc_id: usize,
    #[serde(default, rename = "msg", deserialize_with = "bytes")]
    pub message: Vec<u8>,
    #[serde(default, rename = "sig", deserialize_with = "bytes")]
    pub signature: Vec<u8>,
    pub result: String,
    #[serde(default, deserialize_with = "some_bytes")]
    pub salt: Option<Vec<u8>>,
    #[serde(default, rename = "k", deserialize_with = "some_bytes")]
    pub nonce: Option<Vec<u8>>,
}

impl Test {
    pub fn is_valid(&self) -> bool {
        match self.result.as_str() {
            "valid" => true,
            "invalid" => false,
            other => panic!("unknown result {other}"),
        }
    }
}

impl Group {
    pub fn hash(&self) -> Hash {
        match self.sha.as_str() {
            "SHA-256" => Hash::Sha256,
            "SHA-384" => Hash::Sha384,
            "SHA-512" => Hash::Sha512,
            other => panic!("unknown hash {other}"),
        }
    }
}

impl File {
    pub fn read(name: &str) -> File {
        let path = folder().join(format!("{name}.json"));
        serde_json::from_slice(&fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// The names of all files.
pub fn names() -> Vec<String> {
    let stem =
        |entry: std::io::Result<fs::DirEntry>| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().into();
    fs::read_dir(folder()).unwrap().map(stem).collect()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/sign")
}

pub fn hexadecimal(text: &str) -> Vec<u8> {
    base16ct::mixed::decode_vec(text).expect(text)
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    String::deserialize(deserializer).map(|text| hexadecimal(&text))
}

fn some_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    bytes(deserializer).map(Some)
}
