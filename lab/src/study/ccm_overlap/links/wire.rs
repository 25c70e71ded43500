//! A real link on one machine: two network namespaces, a pair of virtual Ethernet devices between them, and a token
//! bucket that limits the rate.

use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

/// Payload of a TCP segment in bytes, and its size on the wire as the bucket counts it: 14 bytes of Ethernet, 20 of
/// IP, 32 of TCP with its time stamps are added.
const SEGMENT: f64 = 1448.0;
const FRAME: f64 = 1514.0;
/// Size of the bucket in milliseconds of the rate. The kernel's timer empties a smaller bucket too late, and any TCP
/// connection falls behind. [`Wire::seconds`] subtracts it.
const BUCKET_MS: f64 = 5.0;
/// The longest time in milliseconds that a packet may wait: more than TCP keeps in flight, so that none is lost.
const QUEUE_MS: f64 = 200.0;

/// The receiver's address.
const ADDRESS: &str = "10.77.0.2";
const PORT: u16 = 7878;

/// Two ends and the link between them. Dropping it removes both namespaces.
pub(in super::super) struct Wire {
    /// Prefix of the namespaces' names. `None` for loopback.
    name: Option<String>,
    bits_per_s: f64,
}

/// The end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Sender,
    Receiver,
}

impl Wire {
    /// A link in both directions, without a limit yet.
    ///
    /// # Errors
    /// The reason why there is no link, for people: no right to create namespaces, no `ip` or `tc`, not Linux.
    pub(super) fn new() -> Result<Wire, String> {
        if !cfg!(target_os = "linux") {
            return Err("network namespaces need Linux".into());
        }
        remove_stale();
        let wire = Wire { name: Some(format!("tress-{}", std::process::id())), bits_per_s: f64::INFINITY };
        let (one, other) = (wire.namespace(End::Sender), wire.namespace(End::Receiver));
        let names = [one.clone(), other.clone()];
        crate::interrupted::at_signal(move || names.iter().for_each(|name| drop(ip(&["netns", "delete", name]))));
        ip(&["netns", "add", &one]).map_err(|why| format!("network namespaces need root: {why}"))?;
        ip(&["netns", "add", &other])?;
        let to = ["type", "veth", "peer", "name", "tress", "netns", &other];
        ip(&[&["link", "add", "tress", "netns", &one][..], &to].concat())?;
        for (namespace, address) in [(&one, "10.77.0.1/24"), (&other, "10.77.0.2/24")] {
            ip(&["-n", namespace, "address", "add", address, "dev", "tress"])?;
            ip(&["-n", namespace, "link", "set", "tress", "up"])?;
            ip(&["-n", namespace, "link", "set", "lo", "up"])?;
        }
        Ok(wire)
    }

    /// The loopback device without a limit, which every system and every user has.
    pub(in super::super) fn loopback() -> Wire {
        Wire { name: None, bits_per_s: f64::INFINITY }
    }

    fn namespace(&self, end: End) -> String {
        let name = self.name.as_deref().unwrap_or("none");
        format!("{name}-{}", if end == End::Sender { "a" } else { "b" })
    }

    /// Address on which the receiver listens. Port 0 is any free port.
    pub(super) fn listen(&self) -> String {
        if self.name.is_some() { format!("{ADDRESS}:{PORT}") } else { "127.0.0.1:0".into() }
    }

    /// Limits the payload from sender to receiver to this many bytes per second.
    pub(super) fn set_payload_rate(&mut self, bytes_per_s: f64) -> Result<(), String> {
        self.set_rate(bytes_per_s * 8.0 * FRAME / SEGMENT)
    }

    /// Limits the link from sender to receiver to this many bits per second, headers included.
    pub(super) fn set_rate(&mut self, bits_per_s: f64) -> Result<(), String> {
        let bytes = |ms: f64| format!("{:.0}", (bits_per_s / 8.0 * ms / 1e3).max(4.0 * FRAME));
        let (rate, bucket) = (format!("{bits_per_s:.0}bit"), bytes(BUCKET_MS));
        let tbf = ["root", "tbf", "rate", &rate, "burst", &bucket, "limit", &bytes(QUEUE_MS)];
        self.qdisc("replace", &tbf)?;
        self.bits_per_s = bits_per_s;
        Ok(())
    }

    /// Adds delay and loss, if the kernel has `netem`.
    pub(super) fn set_delay_and_loss(&mut self, bits_per_s: f64, round_trip_ms: u32, loss: &str) -> Result<(), String> {
        let (rate, delay) = (format!("{bits_per_s:.0}bit"), format!("{round_trip_ms}ms"));
        let netem = ["root", "netem", "delay", &delay, "loss", loss, "rate", &rate, "limit", "100000"];
        self.qdisc("replace", &netem)?;
        self.bits_per_s = bits_per_s;
        Ok(())
    }

    fn qdisc(&self, verb: &str, what: &[&str]) -> Result<(), String> {
        let namespace = self.namespace(End::Sender);
        run("tc", &[&["-n", &namespace, "qdisc", verb, "dev", "tress"][..], what].concat()).map(drop)
    }

    /// Bytes that the sender's end has put on the wire so far, headers included.
    pub(super) fn bytes(&self) -> Result<f64, String> {
        let output = run("tc", &["-n", &self.namespace(End::Sender), "-s", "qdisc", "show", "dev", "tress"])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let sent = text.split("Sent ").nth(1).and_then(|rest| rest.split(' ').next());
        sent.and_then(|bytes| bytes.parse().ok()).ok_or(format!("tc said {text:?}"))
    }

    /// Seconds that the wire takes for this many bytes, headers included. The contents of the bucket pass without
    /// delay and are subtracted.
    pub(super) fn seconds(&self, bytes: f64) -> f64 {
        (bytes * 8.0 / self.bits_per_s - BUCKET_MS / 1e3).max(0.0)
    }

    /// A command that runs at one end.
    pub(super) fn command(&self, end: End, program: &Path) -> Command {
        let mut command = Command::new(if self.name.is_none() { program } else { Path::new("ip") });
        if self.name.is_some() {
            command.args(["netns", "exec", &self.namespace(end)]).arg(program);
        }
        tress_terminal::lifeline::tie(&mut command);
        command
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.name.is_none() {
            return;
        }
        for end in [End::Sender, End::Receiver] {
            // A namespace may be missing if `new` failed.
            let _ = ip(&["netns", "delete", &self.namespace(end)]);
        }
    }
}

/// Removes namespaces of processes that were killed.
fn remove_stale() {
    let Ok(entries) = fs::read_dir("/run/netns") else { return };
    for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        if process_of(&name).is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = ip(&["netns", "delete", &name]);
        }
    }
}

/// The process that made a namespace; `None` for those of other programs.
fn process_of(namespace: &str) -> Option<u32> {
    let (process, end) = namespace.strip_prefix("tress-")?.split_once('-')?;
    let is_number = process.bytes().all(|digit| digit.is_ascii_digit());
    if is_number && ["a", "b"].contains(&end) { process.parse().ok() } else { None }
}

fn ip(arguments: &[&str]) -> Result<Output, String> {
    run("ip", arguments)
}

fn run(program: &str, arguments: &[&str]) -> Result<Output, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("`{program}` is not installed (Debian package iproute2)"),
        _ => format!("{program}: {error}"),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {}", arguments.join(" "), said.trim()))
}
