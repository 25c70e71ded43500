//! The commands for keys and containers, and options that other commands share with them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use tress_container::format::{Aead, Format};
use tress_sign::discrete::GroupSize;

use super::Threads;
use crate::units;

/// Create an identity or a signing key
///
/// Without --rsa, --dsa or --schnorr, creates an identity: an age identity file that also holds the key for 'tress send' and
/// 'tress receive'. Its recipient (age1...) and address (tress1...), which others need, go to standard error.
///
/// A signing key is PKCS #8 in PEM and is not encrypted; 'openssl pkcs8 -topk8' encrypts it with a passphrase.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress keygen -o me.key
  tress keygen --public me.key
  tress keygen --rsa 3072 -o sign.pem
  tress keygen --public sign.pem > sign.pub")]
pub(crate) struct Keygen {
    /// Write the key to this new file, mode 0600 [default: standard output]
    ///
    /// An existing file is never replaced.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Create a post-quantum identity, for age 1.3 or newer
    ///
    /// Its recipient is age1pq1.... Files for it can be recorded today and not be decrypted by a quantum computer later. Such
    /// recipients cannot share a file with others. The identity has no address: 'tress send' and 'tress receive' are not
    /// post-quantum.
    #[arg(long, group = "kind")]
    pub(crate) pq: bool,
    /// Create an RSA signing key of 2048 to 8192 bits
    #[arg(long, value_name = "BITS", group = "kind", value_parser = clap::value_parser!(u16).range(2048..=8192))]
    pub(crate) rsa: Option<u16>,
    /// Create a DSA signing key of 2048 or 3072 bits [default: 3072]
    #[arg(long, value_name = "BITS", group = "kind", num_args = 0..=1, default_missing_value = "3072")]
    #[arg(value_parser = group_size(), hide_possible_values = true)]
    pub(crate) dsa: Option<GroupSize>,
    /// Create a Schnorr signing key of 2048 or 3072 bits [default: 3072]
    #[arg(long, value_name = "BITS", group = "kind", num_args = 0..=1, default_missing_value = "3072")]
    #[arg(value_parser = group_size(), hide_possible_values = true)]
    pub(crate) schnorr: Option<GroupSize>,
    /// Print the public part of the identity or signing key in this file
    ///
    /// For an identity these are its recipient (age1...) and its address (tress1...), for a signing key the public key in
    /// PEM. If the signing key is encrypted, give its passphrase with one of the options below.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "kind"], value_hint = ValueHint::FilePath)]
    pub(crate) public: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
}

/// Parses the length in bits of the prime p of a DSA or Schnorr key.
fn group_size() -> impl TypedValueParser<Value = GroupSize> {
    let bits = PossibleValuesParser::new(["2048", "3072"]);
    bits.map(|bits| if bits == "2048" { GroupSize::Bits2048 } else { GroupSize::Bits3072 })
}

// Recipients of a container. At least one is needed; a passphrase excludes all others.
#[derive(Args)]
pub(crate) struct Recipients {
    /// Encrypt to this recipient: age1..., tress1... or an SSH public key; repeatable
    ///
    /// RECIPIENT is age1..., tress1..., ssh-ed25519 ..., ssh-rsa ... or a recipient of an age plugin. Any one of the
    /// recipients can decrypt the container.
    #[arg(short, long = "recipient", value_name = "RECIPIENT", conflicts_with_all = ["passphrase", "passphrase_file", "passphrase_fd"])]
    pub(crate) recipients: Vec<String>,
    /// Encrypt to all recipients in this file, one per line; repeatable
    ///
    /// A line that begins with # is a comment.
    #[arg(short = 'R', long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["passphrase", "passphrase_file", "passphrase_fd"])]
    pub(crate) recipients_file: Vec<PathBuf>,
    /// Encrypt with a raw key: a file of exactly 16 or 32 bytes; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["passphrase", "passphrase_file", "passphrase_fd"])]
    pub(crate) key_file: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
}

// Keys to decrypt with.
#[derive(Args)]
pub(crate) struct Identities {
    /// Use the identities in this file (age or SSH); repeatable
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    /// Use a raw key: a file of exactly 16 or 32 bytes; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key_file: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: Passphrase,
}

// Sources of a passphrase. It is never read from the standard input that holds the data.
#[derive(Args)]
pub(crate) struct Passphrase {
    /// Ask for the passphrase on the terminal
    #[arg(short, long, conflicts_with_all = ["passphrase_file", "passphrase_fd"])]
    pub(crate) passphrase: bool,
    /// Read the passphrase from this file
    ///
    /// One newline at its end is not part of the passphrase.
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd", value_hint = ValueHint::FilePath)]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Read the passphrase from this open file descriptor
    ///
    /// One newline at its end is not part of the passphrase.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) passphrase_fd: Option<u32>,
}

impl Passphrase {
    /// Whether a source of a passphrase is given.
    pub(crate) fn is_some(&self) -> bool {
        self.passphrase || self.passphrase_file.is_some() || self.passphrase_fd.is_some()
    }
}

// The format of a file, and what a Cobblestone file needs besides its key.
#[derive(Args, Default)]
pub(crate) struct FileFormat {
    /// Format of the file: tress, age, cobblestone-128 or cobblestone-256
    ///
    /// tress is the container of this program, age the format of age and rage. Cobblestone files have no recipients: their key is a
    /// file of 16 or 32 random bytes, given with --key-file. Files in tress and age are recognised, Cobblestone files are not.
    #[arg(long, value_name = "FORMAT", value_parser = format(), hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// Context of a Cobblestone file, as text [default: empty]
    ///
    /// Both sides must give the same context. It is not secret and not in the file.
    #[arg(long, value_name = "TEXT", conflicts_with = "context_file", hide_short_help = true)]
    pub(crate) context: Option<String>,
    /// Context of a Cobblestone file: the bytes of this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) context_file: Option<PathBuf>,
}

fn format() -> impl TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(Format::ALL.iter().map(|format| format.name()));
    names.map(|name| Format::from_name(&name).expect("a name of the list"))
}

// Where to write the result.
#[derive(Args)]
pub(crate) struct Output {
    /// Write to this file [default: standard output]
    ///
    /// The output appears under this name when it is complete.
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing output
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// Encrypt files, folders or standard input
///
/// Writes a container that any of its recipients can decrypt. Encryption needs only recipients, which are public: the machine
/// that encrypts need not be able to decrypt. A folder, or several inputs, are packed with everything that tar keeps: owners, modes,
/// times, links, attributes, access lists and holes.
///
/// An entry that cannot be read, or changes while it is read, is reported, and the exit status is 3: the container is complete but
/// for it.
///
/// With --format it writes a file that other programs open, such as age. Such a file holds no folder.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress encrypt -r age1... -o big.tress big.img
  tress encrypt --format age -r age1... -o big.img.age big.img
  tar c src | tress encrypt -R team.txt > src.tar.tress
  tress encrypt -p -o photos.tress Photos/
  tress encrypt -R backup.txt --exclude '*.tmp' -o etc.tress /etc")]
pub(crate) struct Encrypt {
    #[command(flatten)]
    pub(crate) recipients: Recipients,
    /// Encrypt to the owner of the identities in this file (age or SSH); repeatable
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath, conflicts_with_all = ["passphrase", "passphrase_file", "passphrase_fd"])]
    pub(crate) identities: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FileFormat,
    /// Write an age file as text, which mail and chats carry
    #[arg(short, long)]
    pub(crate) armor: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Algorithm for the payload of a container [default: aes-128-ccm]
    #[arg(long, value_parser = aead())]
    pub(crate) aead: Option<Aead>,
    #[command(flatten)]
    pub(crate) folders: Folders,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Files and folders to encrypt [default: standard input]
    ///
    /// Several become one container, in which they lie side by side.
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true, value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
}

// What of a folder is packed.
#[derive(Args)]
pub(crate) struct Folders {
    /// Leave out what this pattern matches; repeatable
    ///
    /// A pattern without / matches names anywhere, one with / paths below the folder. * matches all but /, ** matches all.
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<OsString>,
    /// Leave out what the patterns in this file match, one a line; repeatable
    ///
    /// Empty lines and lines that begin with # are ignored.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) exclude_from: Vec<PathBuf>,
    /// Do not enter folders on other file systems, such as /proc
    #[arg(long, hide_short_help = true)]
    pub(crate) one_file_system: bool,
    /// Fail if an entry cannot be read or changes, instead of leaving it out
    #[arg(long, hide_short_help = true)]
    pub(crate) strict: bool,
    /// Store FIFOs and devices too; sockets never
    #[arg(long, hide_short_help = true)]
    pub(crate) special: bool,
    /// Leave out sockets (without --special, FIFOs and devices too) with exit status 0
    #[arg(long, hide_short_help = true)]
    pub(crate) skip_special: bool,
    /// Do not store extended attributes and access lists
    #[arg(long, hide_short_help = true)]
    pub(crate) no_xattrs: bool,
    /// Do not report each entry that is left out, only their number
    #[arg(short, long, hide_short_help = true)]
    pub(crate) quiet: bool,
}

fn aead() -> impl TypedValueParser<Value = Aead> {
    let names = PossibleValuesParser::new(Aead::ALL.iter().map(|aead| aead.name()));
    names.map(|name| Aead::from_name(&name).expect("a name of the list"))
}

/// Decrypt a container or an age file, or a byte range of it
///
/// With -o, the output appears when all of it is decrypted and verified. On standard output, each chunk appears as soon as it
/// is verified. A later chunk may still prove damaged, so check the exit status before you use the output.
///
/// If the container holds a folder, -o names the new folder; without -o, its tar stream goes to standard output. With PATH, only these
/// files and folders are given out: a single file as its bytes. Without --preserve, a folder is made without what could harm: links
/// that lead out of it, devices, FIFOs, setuid and setgid bits, owners, access lists, and attributes other than user.*. Their numbers are
/// reported.
///
/// Files of age and rage are recognised, with or without armor. A Cobblestone file needs --format and --key-file.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress decrypt -i me.key -o big.img big.tress
  tress decrypt -i me.key --range 10GiB:11GiB big.tress > piece
  tress decrypt -p -o Photos photos.tress
  tress decrypt -i me.key etc.tress hosts > hosts
  tress decrypt -i me.key --preserve -o /restored etc.tress")]
pub(crate) struct Decrypt {
    #[command(flatten)]
    pub(crate) identities: Identities,
    #[command(flatten)]
    pub(crate) format: FileFormat,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Decrypt only the bytes from START up to END, e.g. 10MiB:11MiB
    ///
    /// The byte at END is not included; without END, the range extends to the end of the plaintext. Units are kB, MB, GB, TB
    /// (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024). Only the chunks of the range are read, and the last chunk,
    /// which proves that the container is not truncated. Of a container that holds a folder, it is a range of the file PATH.
    #[arg(long, value_name = "START:[END]", value_parser = units::range)]
    pub(crate) range: Option<units::ByteRange>,
    /// Make everything that a folder holds: owners, all modes, links, devices, attributes
    ///
    /// Owners are set by name where this system knows them, else by number. Only root can set owners.
    #[arg(long)]
    pub(crate) preserve: bool,
    /// With --preserve, set owners by number
    #[arg(long, requires = "preserve", hide_short_help = true)]
    pub(crate) numeric_owner: bool,
    /// Give out the files of a damaged or cut folder that are whole, and list the others
    ///
    /// The exit status is 3 if some are not.
    #[arg(long)]
    pub(crate) salvage: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// File to decrypt [default: standard input]
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true, value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    /// Files and folders of the container to give out, or patterns [default: all]
    ///
    /// 'tress list' prints the paths. A pattern such as 'etc/*.conf' counts where there is no such name.
    #[arg(value_name = "PATH")]
    pub(crate) members: Vec<PathBuf>,
}

/// List the files of a container that holds a folder
///
/// Reads the index, and not the files. A container of 0.2, or one that is cut, has none: then all of it is read.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress list -i me.key etc.tress
  tress list -i me.key -l etc.tress")]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) identities: Identities,
    /// Also print modes, owners, sizes and times, as 'ls -l' does
    #[arg(short, long)]
    pub(crate) long: bool,
    /// Print a JSON array with one object for each file
    #[arg(long, conflicts_with = "long")]
    pub(crate) json: bool,
    /// File to list
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

/// Change the recipients of containers or age files
///
/// Writes a new header and leaves the payload unchanged, byte for byte. Each file is replaced when the new one is complete.
///
/// This does not revoke access: anyone who could open the file before may have kept its key.
#[derive(Args)]
#[command(after_help = "\
Example:
  tress rewrap -i me.key -r age1... -r age1... big.tress")]
pub(crate) struct Rewrap {
    /// Open the container with the identities in this file (age or SSH); repeatable
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    /// Open the container with a raw key: a file of exactly 16 or 32 bytes; repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) open_key_file: Vec<PathBuf>,
    /// Ask on the terminal for the passphrase that opens the container
    #[arg(long, conflicts_with_all = ["open_passphrase_file", "open_passphrase_fd"])]
    pub(crate) open_passphrase: bool,
    /// Open the container with the passphrase in this file
    ///
    /// One newline at its end is not part of the passphrase.
    #[arg(long, value_name = "FILE", conflicts_with = "open_passphrase_fd", value_hint = ValueHint::FilePath)]
    pub(crate) open_passphrase_file: Option<PathBuf>,
    /// Open the container with the passphrase from this open file descriptor
    ///
    /// One newline at its end is not part of the passphrase.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) open_passphrase_fd: Option<u32>,
    #[command(flatten)]
    pub(crate) recipients: Recipients,
    /// Files to change in place
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

/// Show what is in an encrypted file, and verify it
///
/// Without a key, shows format, algorithm, kinds of recipients and size; none of these is verified. With a key, also verifies
/// the header, the commitment and the last chunk, and shows content type and name.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tress inspect big.tress
  tress inspect -i me.key --json big.tress")]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) identities: Identities,
    #[command(flatten)]
    pub(crate) format: FileFormat,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// File to inspect
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}
