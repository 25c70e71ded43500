//! The commands `send` and `receive`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};

use super::Threads;
use crate::units;

/// Send files and folders to a receiver
///
/// The other machine runs 'tress receive'. Both need an identity made by 'tress keygen'. The sender names the receiver's
/// address with -r, and the receiver has the sender's address in its --allow file.
///
/// After an interruption, run the same command again: it continues where the receiver stopped. Standard input cannot be
/// resumed. Modes, modification times and symbolic links are kept. Devices, FIFOs and links that lead out of a folder, and files
/// that change while they are sent, are errors: all other files are sent, and the exit status is 1.
#[derive(Args)]
#[command(override_usage = "tress send [OPTIONS] --to <HOST:PORT> -r <ADDRESS> -i <IDENTITY> <IN>...")]
#[command(after_help = "\
Examples:
  tress send --to host:7878 -r tress1... -i me.key big.img
  tress send --to host:7878 -r tress1... -i me.key --streams 4 Photos/
  tar c src | tress send --to host:7878 -r tress1... -i me.key --name src.tar -")]
pub(crate) struct Send {
    /// Host and port of the receiver
    #[arg(long, value_name = "HOST:PORT", value_parser = units::endpoint)]
    pub(crate) to: String,
    /// Address of the receiver (tress1...); nothing is sent to any other machine
    #[arg(short, long = "recipient", value_name = "ADDRESS")]
    pub(crate) recipient: String,
    /// Your identity, made by 'tress keygen'
    #[arg(short, long, value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identity: PathBuf,
    /// Number of connections that carry data, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) streams: u16,
    /// Send at most this much per second, e.g. 25MB or 1Gbit
    #[arg(long, value_name = "RATE", value_parser = units::link_rate)]
    pub(crate) rate: Option<u64>,
    /// Have the receiver store containers instead of plaintext
    ///
    /// Containers and age files are sent unchanged. Other inputs are encrypted to the receiver's identity first and named NAME.tress; they
    /// cannot be resumed.
    #[arg(long)]
    pub(crate) keep_sealed: bool,
    /// Discard what the receiver holds of an earlier version of the input
    #[arg(long)]
    pub(crate) restart: bool,
    /// Send no file or folder that matches this pattern; repeatable
    ///
    /// A pattern without / matches a name anywhere, one with / a path below the folder. * does not match /, ** does.
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<OsString>,
    /// Print the files that would be sent, and connect to nobody
    #[arg(short = 'n', long, conflicts_with = "json")]
    pub(crate) dry_run: bool,
    /// Resume a file also after chmod, mv or ln, which change its time of change
    #[arg(long, hide_short_help = true)]
    pub(crate) ignore_ctime: bool,
    /// Name for the data from standard input; 'stdin' without it
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print one JSON object with the number of files, bytes and seconds
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a timeline of workers and connections to this file, in Chrome's trace format
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) trace: Option<PathBuf>,
    /// Replace an existing trace
    #[arg(short, long, requires = "trace", hide_short_help = true)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Files and folders to send, or - for standard input
    #[arg(value_name = "IN", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
}

/// Receive files and folders from senders
///
/// Each sender gets a separate folder in DIR, named after its key. Existing files are never overwritten. The path of each
/// file is printed on standard output when the file is complete and on disk.
///
/// One of --allow and --allow-any is required. An empty allow file accepts nobody.
#[derive(Args)]
#[command(override_usage = "tress receive [OPTIONS] --listen <ADDR> -i <IDENTITY> -o <DIR>
                     (--allow <FILE> | --allow-any)")]
#[command(group = ArgGroup::new("senders").required(true))]
#[command(after_help = "\
Examples:
  tress receive --listen 0.0.0.0:7878 -i me.key --allow senders.txt -o incoming
  tress receive --listen 127.0.0.1:0 -i me.key --allow-any -o incoming --once")]
pub(crate) struct Receive {
    /// Address and port to listen on; port 0 takes a free port and reports it
    #[arg(long, value_name = "ADDR", value_parser = units::endpoint)]
    pub(crate) listen: String,
    /// Your identity, made by 'tress keygen'
    #[arg(short, long, value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identity: PathBuf,
    /// Accept the senders whose addresses (tress1...) are in this file, one per line
    ///
    /// It is looked at whenever somebody connects.
    #[arg(long, value_name = "FILE", group = "senders", value_hint = ValueHint::FilePath)]
    pub(crate) allow: Option<PathBuf>,
    /// Accept every sender that knows the address of this receiver
    #[arg(long, group = "senders")]
    pub(crate) allow_any: bool,
    /// Folder for the received files; created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Limit for each sender: bytes, plus 4 KiB for every file and folder
    ///
    /// Incomplete files count in full.
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) quota: Option<u64>,
    /// Exit after one session of an accepted sender
    #[arg(long)]
    pub(crate) once: bool,
    /// Print a JSON object for each received file, each on one line
    #[arg(long)]
    pub(crate) json: bool,
    /// End the path of each received file with NUL, and escape nothing
    #[arg(short = '0', long, conflicts_with = "json")]
    pub(crate) null: bool,
}
