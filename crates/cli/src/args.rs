//! The command line, as one definition: help, man pages and completions are all made from it.
//!
//! The verbs and options are DESIGN.md's "Command contract"; scripts rely on them, so they are added to and never
//! changed.

mod measure;
mod simulate;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use tress_sign::Scheme;

use crate::units;
pub(crate) use measure::{Bench, Measure, Modular, Report, Roofs, Study};
pub(crate) use simulate::{Followed, Simulate, Variable};

const AFTER_HELP: &str = "\
Examples:
  tress keygen -o me.key
  tress encrypt -r age1... -o big.tress big.img
  tress decrypt -i me.key -o big.img big.tress

Exit status: 0 done, 1 failed (wrong key, damaged input, I/O), 2 wrong use.";

/// Authenticated encryption of large data under AES-CCM, in parallel lanes.
#[derive(Parser)]
#[command(name = "tress", version, max_term_width = 100, after_help = AFTER_HELP)]
#[command(subcommand_required = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Say more on standard error: what the system refuses that would keep keys off the disk
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Make an identity or a signing key, or print the public parts of one
    Keygen(Keygen),
    /// Encrypt a file, a folder or standard input into a container
    Encrypt(Encrypt),
    /// Decrypt a container, or a range of it
    Decrypt(Decrypt),
    /// Change the recipients of a container, leaving its payload alone
    Rewrap(Rewrap),
    /// Send files and folders to a receiver
    Send(Send),
    /// Receive files from senders
    Receive(Receive),
    /// Sign files, many at a time
    Sign(Sign),
    /// Check signatures of files
    Verify(Verify),
    /// Show what a container is, and check it where a key is given
    Inspect(Inspect),
    /// A bare cipher in a bare mode, for tests and for talking to other systems
    Raw(Raw),
    /// List every cipher, its modes and its backends on this machine
    Ciphers(Ciphers),
    /// Plan a transfer: how long, in how many stages, on how many cores
    Plan(Plan),
    /// Measure the ciphers on this machine
    Bench(Bench),
    /// Run a program for RISC-V, and say what it took
    Simulate(Simulate),
    /// Put what a paper says beside its model and beside this machine
    Study(Study),
    /// Make one page of studies and records, to look at and to pass on
    Report(Report),
    /// Print the completion script of a shell
    #[command(hide = true)]
    Completions(Completions),
    /// Print the man page of the command, or write all of them to a folder
    #[command(hide = true)]
    Man(Man),
}

#[derive(Args)]
#[command(after_help = "\
Without --rsa, --dsa or --schnorr it makes an identity, for encrypting and sending. A signing key is PKCS #8 in PEM, not
encrypted; `openssl pkcs8 -topk8` puts it under a passphrase.

Examples:
  tress keygen -o me.key
  tress keygen --rsa 3072 -o sign.pem
  tress keygen --public sign.pem > sign.pub")]
pub(crate) struct Keygen {
    /// Write the identity or key to this file (mode 0600) rather than to standard output; an existing file is refused
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Make an RSA key for signing, 2048 to 8192 bits
    #[arg(long, value_name = "BITS", group = "kind", value_parser = clap::value_parser!(u16).range(2048..=8192))]
    pub(crate) rsa: Option<u16>,
    /// Make a DSA key for signing, 2048 or 3072 bits [default: 3072]
    #[arg(long, value_name = "BITS", group = "kind", num_args = 0..=1, default_missing_value = "3072")]
    pub(crate) dsa: Option<GroupBits>,
    /// Make a Schnorr key for signing, 2048 or 3072 bits [default: 3072]
    #[arg(long, value_name = "BITS", group = "kind", num_args = 0..=1, default_missing_value = "3072")]
    pub(crate) schnorr: Option<GroupBits>,
    /// Print recipient (age1...) and address (tress1...) of the identity in this file, or the public key of a signing key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "kind"], value_hint = ValueHint::FilePath)]
    pub(crate) public: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
}

/// Length of p of a DSA or Schnorr key.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum GroupBits {
    #[value(name = "2048")]
    Bits2048,
    #[value(name = "3072")]
    Bits3072,
}

#[derive(Args)]
#[command(after_help = "\
Writes the signature of IN to IN.sig, as OpenSSL does (docs/signatures.md has the commands); that of - goes to standard
output. The scheme is rsa-pss-sha256, dsa-sha256 or schnorr-sha256, as the key is; rsa-pkcs1-sha256 has to be said. A file
that cannot be signed is an error, but the others are signed.

Examples:
  tress sign --key sign.pem release.tar
  tress sign --key sign.pem --scheme rsa-pkcs1-sha256 out/*.deb")]
pub(crate) struct Sign {
    /// The private key: PKCS #8 (encrypted or not) or PKCS #1, PEM or DER
    #[arg(long, value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// How to sign [default: as the key is]
    #[arg(long, value_name = "SCHEME", value_parser = scheme())]
    pub(crate) scheme: Option<Scheme>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
    /// Replace existing signatures
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// What to sign: files, or - for standard input
    #[arg(value_name = "IN", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Says nothing where all signatures hold.

Examples:
  tress verify --key sign.pub --signature release.tar.sig release.tar
  tress verify --key sign.pub out/*.deb")]
pub(crate) struct Verify {
    /// The public key: SubjectPublicKeyInfo or PKCS #1, PEM or DER
    #[arg(long, value_name = "PUBLIC", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// How it was signed [default: as the key is]
    #[arg(long, value_name = "SCHEME", value_parser = scheme())]
    pub(crate) scheme: Option<Scheme>,
    /// The signature, for one IN [default: IN.sig]
    #[arg(long, value_name = "SIG", value_hint = ValueHint::FilePath)]
    pub(crate) signature: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// What was signed: files, or - for standard input
    #[arg(value_name = "IN", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
}

/// The names of the schemes.
fn scheme() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::ALL.map(Scheme::name)).try_map(|name| name.parse::<Scheme>())
}

// For whom to encrypt. At least one is needed; a passphrase excludes the others.
#[derive(Args)]
pub(crate) struct Recipients {
    /// Encrypt to this recipient: age1..., tress1..., ssh-ed25519 or ssh-rsa; repeatable
    #[arg(short, long = "recipient", value_name = "RECIPIENT", conflicts_with_all = ["passphrase", "passphrase_file", "passphrase_fd"])]
    pub(crate) recipients: Vec<String>,
    /// Encrypt to the recipients in this file, one a line; repeatable
    #[arg(short = 'R', long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["passphrase", "passphrase_file", "passphrase_fd"])]
    pub(crate) recipients_file: Vec<PathBuf>,
    /// Encrypt under a raw key: a file of exactly 16 or 32 bytes; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["passphrase", "passphrase_file", "passphrase_fd"])]
    pub(crate) key_file: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
}

// What to decrypt with.
#[derive(Args)]
pub(crate) struct Identities {
    /// Decrypt with the identities in this file (age or SSH); repeatable
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    /// Decrypt with a raw key: a file of exactly 16 or 32 bytes; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key_file: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
}

// Where a passphrase comes from; never from the data's standard input.
#[derive(Args)]
pub(crate) struct Passphrase {
    /// Ask for a passphrase on the terminal
    #[arg(short, long, conflicts_with_all = ["passphrase_file", "passphrase_fd"])]
    pub(crate) passphrase: bool,
    /// Read the passphrase from this file, less one trailing newline
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd", value_hint = ValueHint::FilePath)]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Read the passphrase from this open file descriptor, less one trailing newline
    #[arg(long, value_name = "N")]
    pub(crate) passphrase_fd: Option<u32>,
}

// Where a result goes.
#[derive(Args)]
pub(crate) struct Output {
    /// Write to this file (a folder for a tree) rather than to standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Args)]
#[command(after_help = "\
A folder is packed as a tree: names, modes and times are kept.

Examples:
  tress encrypt -r age1... -o big.tress big.img
  tar c src | tress encrypt -R team.txt > src.tar.tress
  tress encrypt -p -o photos.tress Photos/")]
pub(crate) struct Encrypt {
    #[command(flatten)]
    pub(crate) recipients: Recipients,
    #[command(flatten)]
    pub(crate) output: Output,
    /// The payload's algorithm
    #[arg(long, value_enum, default_value_t = Aead::Aes128Ccm)]
    pub(crate) aead: Aead,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// What to encrypt: a file, a folder, or - for standard input
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true, value_hint = ValueHint::AnyPath)]
    pub(crate) input: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  tress decrypt -i me.key -o big.img big.tress
  tress decrypt -i me.key --range 10GiB:11GiB big.tress > piece
  tress decrypt -p -o Photos photos.tress")]
pub(crate) struct Decrypt {
    #[command(flatten)]
    pub(crate) identities: Identities,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Decrypt the bytes from START up to, but not including, END only; sizes such as 10MiB work
    #[arg(long, value_name = "START:[END]", value_parser = units::range)]
    pub(crate) range: Option<units::ByteRange>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// The container, or - for standard input
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true, value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
This is no revocation: who once opened the container can have kept its key.

Example:
  tress rewrap -i me.key -r age1... -r age1... big.tress")]
pub(crate) struct Rewrap {
    /// Open with the identities in this file (age or SSH); repeatable
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    /// Open with a raw key: a file of exactly 16 or 32 bytes; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) open_key_file: Vec<PathBuf>,
    /// Open with a passphrase asked for on the terminal
    #[arg(long, conflicts_with_all = ["open_passphrase_file", "open_passphrase_fd"])]
    pub(crate) open_passphrase: bool,
    /// Open with the passphrase in this file, less one trailing newline
    #[arg(long, value_name = "FILE", conflicts_with = "open_passphrase_fd", value_hint = ValueHint::FilePath)]
    pub(crate) open_passphrase_file: Option<PathBuf>,
    /// Open with the passphrase from this open file descriptor, less one trailing newline
    #[arg(long, value_name = "N")]
    pub(crate) open_passphrase_fd: Option<u32>,
    #[command(flatten)]
    pub(crate) recipients: Recipients,
    /// The container, changed in place
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
After an interruption the same command goes on where the receiver has it. Standard input cannot be sent again. Symbolic
links inside a folder are not sent; the others are, and the exit status is 1.

Examples:
  tress send --to host:7878 -r tress1... -i me.key big.img
  tress send --to host:7878 -r tress1... -i me.key --streams 4 --rate 25MB Photos/
  tar c src | tress send --to host:7878 -r tress1... -i me.key --name src.tar -")]
pub(crate) struct Send {
    /// The receiver's host and port
    #[arg(long, value_name = "HOST:PORT", value_parser = units::endpoint)]
    pub(crate) to: String,
    /// The receiver's address (tress1...); nobody else is talked to
    #[arg(short, long = "recipient", value_name = "ADDRESS")]
    pub(crate) recipient: String,
    /// Your identity, made by tress keygen
    #[arg(short, long, value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identity: PathBuf,
    /// Connections that carry data, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) streams: u16,
    /// Most that goes out in a second: bytes, or with a unit such as 25MB or 1Gbit
    #[arg(long, value_name = "RATE", value_parser = units::link_rate)]
    pub(crate) rate: Option<u64>,
    /// Have the receiver store containers: what is none is sealed to the receiver first, and named NAME.tress
    #[arg(long)]
    pub(crate) keep_sealed: bool,
    /// Have the receiver forget what it holds of an earlier version of the input
    #[arg(long)]
    pub(crate) restart: bool,
    /// The name of what comes from standard input
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    pub(crate) name: String,
    /// How workers and connections wait for each other
    #[arg(long, value_enum, default_value_t = Sync::Counter)]
    pub(crate) sync: Sync,
    /// Bytes of a stage, in whole chunks, at most 16MiB; without it as planned while it runs
    #[arg(long, value_name = "SIZE", value_parser = units::size, conflicts_with = "sequential")]
    pub(crate) stage: Option<u64>,
    /// Hold each sealing thread to this rate, to see what a slower machine would do
    #[arg(long, value_name = "RATE", value_parser = units::rate)]
    pub(crate) compute_rate: Option<f64>,
    /// Seal all of a file before sending any of it, for comparison; at most 1 GiB, which is held in memory
    #[arg(long, conflicts_with_all = ["sync", "keep_sealed"])]
    pub(crate) sequential: bool,
    /// Say what was sent, and how long it took, as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write who did what when to this file, in Chrome's trace format
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// What to send: files, folders, or - for standard input
    #[arg(value_name = "IN", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Each sender has a folder of its own in DIR, named after its key. Nothing that exists is ever overwritten. The path of each
file appears on standard output when it is complete and on disk.

Examples:
  tress receive --listen 0.0.0.0:7878 -i me.key --allow senders.txt -o incoming
  tress receive --listen 127.0.0.1:0 -i me.key --allow-any -o incoming --once")]
pub(crate) struct Receive {
    /// Address and port to listen on; port 0 takes a free one and shows it
    #[arg(long, value_name = "ADDR", value_parser = units::endpoint)]
    pub(crate) listen: String,
    /// Your identity, made by tress keygen
    #[arg(short, long, value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identity: PathBuf,
    /// Admit the senders whose addresses (tress1...) are in this file, one a line
    #[arg(long, value_name = "FILE", required_unless_present = "allow_any", value_hint = ValueHint::FilePath)]
    pub(crate) allow: Option<PathBuf>,
    /// Admit everyone who knows this receiver's address
    #[arg(long, conflicts_with = "allow")]
    pub(crate) allow_any: bool,
    /// The folder that everything goes to; it has to exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Most that each sender may leave: bytes, and 4 KiB for every file and folder
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) quota: Option<u64>,
    /// End after one session
    #[arg(long)]
    pub(crate) once: bool,
}

#[derive(Args)]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) identities: Identities,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The container
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
The key stands on the command line: every user of this machine can read it in the list of processes, and the shell \
keeps it in its history. Use `tress encrypt` for anything that matters.")]
pub(crate) struct Raw {
    #[command(subcommand)]
    pub(crate) direction: RawDirection,
}

#[derive(Subcommand)]
pub(crate) enum RawDirection {
    /// Encrypt with a bare cipher; the key on the command line is no secret
    Encrypt(RawOptions),
    /// Decrypt with a bare cipher; the key on the command line is no secret
    Decrypt(RawOptions),
}

#[derive(Args)]
#[command(after_help = "\
The key stands on the command line: every user of this machine can read it in the list of processes, and the shell \
keeps it in its history. Use `tress encrypt` for anything that matters.

ecb, cbc and ctr are streamed and authenticate nothing; ccm holds its message in memory, at most 1 GiB, and writes or \
reads ciphertext then tag.

RC6 was a finalist of the AES contest and never standardised. PIPO has blocks of 64 bits: beyond some gigabytes under one \
key blocks repeat and give the plaintext away, and its ctr counts 65,536 blocks, then fails. Prefer AES.")]
pub(crate) struct RawOptions {
    /// CIPHER-MODE, e.g. aes-128-cbc, rijndael-256-192-cbc (block, key), rc6-128-ctr, pipo-256-ecb; ccm for 128-bit blocks
    #[arg(long, value_name = "NAME")]
    pub(crate) cipher: String,
    /// The key, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = units::hex)]
    pub(crate) key: units::Hex,
    /// Initialisation vector (cbc), first counter block (ctr) or nonce (ccm, 7 to 13 bytes); needed by all but ecb
    #[arg(long, value_name = "HEX", value_parser = units::hex)]
    pub(crate) iv: Option<units::Hex>,
    /// Associated data (ccm only)
    #[arg(long, value_name = "HEX", value_parser = units::hex)]
    pub(crate) aad: Option<units::Hex>,
    /// Bytes of the tag: 4, 6, 8, 10, 12, 14 or 16 (ccm only; 16 without this option)
    #[arg(long, value_name = "N")]
    pub(crate) tag_length: Option<usize>,
    /// Neither add nor remove PKCS#7 padding (ecb, cbc): the input is whole blocks
    #[arg(long)]
    pub(crate) no_padding: bool,
    /// Use this backend (`tress ciphers` lists them) rather than the best one
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// The data, or - for standard input
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true, value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
}

#[derive(Args)]
pub(crate) struct Ciphers {
    /// Print one JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
A rate is a second's: 25MB, 1Gbit, 27027027 (bytes); or the time for a byte: 0.037us/B. The compute rate is that of one
core, the link rate that of one link. What is measured is kept for this machine, and stands in for rates that are not
given.

Examples:
  tress plan --size 10GB --compute-rate 0.037us/B --link-rate 100Mbit
  tress plan --size 1TiB --compute-rate 4GB --link-rate 10Gbit --links 4 --cores 16 -o plan.svg
  tress plan --measure --size 100GiB --link-rate 1Gbit
  tress plan --from bench/record/2026-11-22-server.json --size 1TiB --link-rate 10Gbit")]
pub(crate) struct Plan {
    /// Bytes to encrypt and send; 1GiB with --measure or --from
    #[arg(long, value_name = "BYTES", value_parser = units::size, allow_hyphen_values = true)]
    pub(crate) size: Option<u64>,
    /// What one core encrypts a second [default: as measured]
    #[arg(long, value_name = "RATE", value_parser = units::rate, allow_hyphen_values = true)]
    pub(crate) compute_rate: Option<f64>,
    /// What one link takes a second [default: as measured between two sockets of this machine]
    #[arg(long, value_name = "RATE", value_parser = units::rate, allow_hyphen_values = true)]
    pub(crate) link_rate: Option<f64>,
    /// What one synchronisation costs [default: 10us where both rates are given, else as measured]
    #[arg(long, value_name = "DURATION", value_parser = units::duration, allow_hyphen_values = true)]
    pub(crate) sync_cost: Option<f64>,
    /// Cores of both sides together, 1 to 1024 [default: 2 where both rates are given, else those of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) cores: Option<u16>,
    /// Links that can be used at once, 1 to 1024, each with a core of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) links: u16,
    /// How several cores share the computing, with --compute-rate: a stage of many chunks, or of one message
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Strategy::Chunks)]
    pub(crate) strategy: Strategy,
    /// The smallest stage [default: none where both rates are given, else a chunk of 16 KiB]
    #[arg(long, value_name = "BYTES", value_parser = units::size, allow_hyphen_values = true)]
    pub(crate) min_batch: Option<u64>,
    /// The largest stage [default: none]
    #[arg(long, value_name = "BYTES", value_parser = units::size, allow_hyphen_values = true)]
    pub(crate) buffer: Option<u64>,
    /// Measure this machine first, and keep the result
    #[arg(long)]
    pub(crate) measure: bool,
    /// Plan with the rates of a record of `tress bench --record`, of this machine or another
    #[arg(long, value_name = "RECORD", value_hint = ValueHint::FilePath, conflicts_with = "measure")]
    pub(crate) from: Option<PathBuf>,
    /// Which measured synchronisation to count
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Sync::Counter)]
    pub(crate) sync: Sync,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw time against number of stages into this SVG file, or to standard output (-) instead of the table
    #[arg(short, long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// How several cores share the computing.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// Nothing is shared
    Serial,
    /// One message: CTR split over all cores, then its MAC on one
    CtrSplit,
    /// One message: its MAC on one core, CTR on the others
    MacApart,
    /// Many chunks, each with a MAC of its own
    Chunks,
}

/// How the sides wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sync {
    /// All for all, at every stage
    Barrier,
    /// Each for the one that it needs
    Counter,
}

#[derive(Args)]
pub(crate) struct Completions {
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// Write the page of the command and one of each verb into this folder
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Threads {
    /// Worker threads, 1 to 1024 [default: one for each core]
    #[arg(long = "threads", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) count: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Aead {
    #[value(name = "aes-128-ccm")]
    Aes128Ccm,
    #[value(name = "aes-256-ccm")]
    Aes256Ccm,
}
