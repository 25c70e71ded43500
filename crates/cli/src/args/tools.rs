//! The commands `raw`, `ciphers` and `plan`, and the commands that make completions and man pages.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::{Output, Sync};
use crate::units;

/// Encrypt or decrypt with a bare cipher and mode
///
/// For tests and for exchanging data with other systems. The key is on the command line: every user of this machine can see it
/// in the process list, and the shell keeps it in its history. To protect data, use 'tress encrypt'.
#[derive(Args)]
pub(crate) struct Raw {
    #[command(subcommand)]
    pub(crate) direction: RawDirection,
}

#[derive(Subcommand)]
pub(crate) enum RawDirection {
    /// Encrypt with a bare cipher; other users can see the key
    ///
    /// The key is on the command line: every user of this machine can see it in the process list, and the shell keeps it in
    /// its history. To protect data, use 'tress encrypt'.
    ///
    /// ecb, cbc and ctr work on a stream and authenticate nothing. ccm and chacha20-poly1305 hold their message in memory, at
    /// most 1 GiB, and write the ciphertext, then the tag.
    ///
    /// RC6 was a finalist of the AES contest and is not a standard. LEA is a standard for small devices. PIPO has 64-bit blocks:
    /// after a few gigabytes under one key, blocks repeat and reveal plaintext, and its ctr fails after 65,536 blocks. Prefer
    /// AES.
    Encrypt(RawOptions),
    /// Decrypt with a bare cipher; other users can see the key
    ///
    /// The key is on the command line: every user of this machine can see it in the process list, and the shell keeps it in
    /// its history.
    ///
    /// ecb, cbc and ctr work on a stream and authenticate nothing. ccm and chacha20-poly1305 read the ciphertext, then the tag;
    /// they hold their message in memory, at most 1 GiB, and write nothing before the tag is verified.
    Decrypt(RawOptions),
}

#[derive(Args)]
pub(crate) struct RawOptions {
    /// Cipher and mode, e.g. aes-128-cbc; 'tress ciphers' lists them
    ///
    /// NAME is CIPHER-MODE, such as aes-128-cbc, rijndael-256-192-cbc (block, then key), rc6-128-ctr or pipo-256-ecb. The mode
    /// ccm needs a cipher with 128-bit blocks. chacha20-poly1305 is the AEAD of RFC 8439.
    #[arg(long, value_name = "NAME")]
    pub(crate) cipher: String,
    /// Key in hexadecimal; other users can see it
    #[arg(long, value_name = "HEX", value_parser = units::hex)]
    pub(crate) key: units::Hex,
    /// IV (cbc), first counter block (ctr) or nonce (ccm, chacha20-poly1305), in hexadecimal
    ///
    /// Required except for ecb. Use a new one for every message under a key. A nonce of ccm has 7 to 13 bytes, one of
    /// chacha20-poly1305 has 12; an IV or a counter block is as long as a block.
    #[arg(long, value_name = "HEX", value_parser = units::hex)]
    pub(crate) iv: Option<units::Hex>,
    /// Associated data in hexadecimal (ccm, chacha20-poly1305)
    #[arg(long, value_name = "HEX", value_parser = units::hex)]
    pub(crate) aad: Option<units::Hex>,
    /// File with the associated data, or - for standard input (ccm, chacha20-poly1305)
    ///
    /// At most 64 MiB.
    #[arg(long, value_name = "FILE", conflicts_with = "aad", value_hint = ValueHint::FilePath)]
    pub(crate) aad_file: Option<PathBuf>,
    /// Length of the tag in bytes: 4, 6, 8, 10, 12, 14 or 16 (ccm) [default: 16]
    #[arg(long, value_name = "N")]
    pub(crate) tag_length: Option<usize>,
    /// Neither add nor remove PKCS #7 padding (ecb, cbc); the input must be whole blocks
    #[arg(long)]
    pub(crate) no_padding: bool,
    /// Use this backend instead of the fastest one; 'tress ciphers' lists them
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Input file [default: standard input]
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true, value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
}

/// List ciphers, their modes, and backends on this machine
#[derive(Args)]
pub(crate) struct Ciphers {
    /// Print one JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Plan a transfer: its time, stages and cores
///
/// Computes the time to encrypt and send when the two overlap, the number of stages, the cores for each side, and what limits
/// the result. --measure measures this machine and keeps the result; later plans use it for rates that are not given.
///
/// A rate is an amount per second, such as 25MB, 1Gbit or 27027027 (bytes), or the time per byte, such as 0.037us/B.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress plan --size 10GB --compute-rate 0.037us/B --link-rate 100Mbit
  tress plan --measure --size 100GiB --link-rate 1Gbit
  tress plan --size 1TiB --compute-rate 4GB --link-rate 10Gbit -o plan.svg
  tress plan --from record.json --link-rate 10Gbit")]
pub(crate) struct Plan {
    /// Bytes to encrypt and send [default with --measure or --from: 1GiB]
    #[arg(long, value_name = "BYTES", value_parser = units::size, allow_hyphen_values = true)]
    pub(crate) size: Option<u64>,
    /// Rate at which one core encrypts [default: as measured]
    #[arg(long, value_name = "RATE", value_parser = units::rate, allow_hyphen_values = true)]
    pub(crate) compute_rate: Option<f64>,
    /// Rate of one link [default: as measured over loopback]
    #[arg(long, value_name = "RATE", value_parser = units::rate, allow_hyphen_values = true)]
    pub(crate) link_rate: Option<f64>,
    /// Time for one synchronisation [default: as measured; 10us if both rates are given]
    #[arg(long, value_name = "DURATION", value_parser = units::duration, allow_hyphen_values = true)]
    pub(crate) sync_cost: Option<f64>,
    /// Cores of both sides together [default: all; one more than the links if both rates are given]
    ///
    /// From 1 to 1024.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) cores: Option<u16>,
    /// Links used at the same time, each by a separate core
    ///
    /// From 1 to 1024.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) links: u16,
    /// How cores share the encryption (with --compute-rate)
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Strategy::Chunks, hide_short_help = true)]
    pub(crate) strategy: Strategy,
    /// Smallest stage [default: a chunk of 16 KiB; none if both rates are given]
    #[arg(long, value_name = "BYTES", value_parser = units::size, allow_hyphen_values = true)]
    pub(crate) min_batch: Option<u64>,
    /// Largest stage [default: none]
    #[arg(long, value_name = "BYTES", value_parser = units::size, allow_hyphen_values = true)]
    pub(crate) buffer: Option<u64>,
    /// Measure this machine first, and keep the result
    #[arg(long)]
    pub(crate) measure: bool,
    /// Use the rates in a record of 'tress bench', from any machine
    #[arg(long, value_name = "RECORD", value_hint = ValueHint::FilePath, conflicts_with = "measure")]
    pub(crate) from: Option<PathBuf>,
    /// Kind of synchronisation whose measured time to use
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Sync::Counter, hide_short_help = true)]
    pub(crate) sync: Sync,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Also draw time against number of stages, as SVG
    ///
    /// With -, the picture goes to standard output instead of the table.
    #[arg(short, long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// How cores share the encryption.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// One core encrypts
    Serial,
    /// One message: all cores compute CTR, then one computes the MAC
    CtrSplit,
    /// One message: one core computes the MAC, the others CTR
    MacApart,
    /// Many chunks, each with a separate MAC
    Chunks,
}

/// A command that is a separate program.
#[derive(Args)]
pub(crate) struct External {
    /// Arguments of that program
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<OsString>,
}

/// Print the completion script for a shell
#[derive(Args)]
pub(crate) struct Completions {
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Print the man page of tress, or write all man pages to a folder
#[derive(Args)]
pub(crate) struct Man {
    /// Write the man pages of tress and of every command to this folder
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
}
