//! `tress list`: the files of a container that holds a folder.

use std::borrow::Cow;
use std::io::{BufWriter, Write};

use serde::Serialize;
use tress_container::tree::Member;
use tress_container::{Error, commands};

use super::{cancellable, note};
use crate::failure::{self, Failure, foreign};
use crate::stdin::Stdin;
use crate::{args, files, keys};
use tress_terminal::shown::in_full;

/// An object of the JSON array, whose keys scripts rely on. `path_hex` is only there for a path that is not UTF-8.
#[derive(Serialize)]
struct MemberRow<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    r#type: &'a str,
    mode: String,
    size: u64,
    mtime: String,
    uid: u32,
    gid: u32,
    user: String,
    group: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    changed: bool,
}

pub(crate) fn run(options: &args::List) -> Result<(), Failure> {
    let stdin = &mut Stdin::with_data(&options.file)?;
    let identities = keys::some_identities(&options.identities, &args::FileFormat::default(), stdin)?;
    let source = files::source(&options.file);
    let mut out = BufWriter::with_capacity(1 << 16, files::stdout());
    let mut count = 0;
    let mut print = |member: &Member| {
        count += 1;
        if options.json {
            out.write_all(if count == 1 { b"[\n" } else { b",\n" })?;
            return out.write_all(files::in_ascii(&serde_json::to_string(&row(member))?).as_bytes());
        }
        match options.long {
            true => writeln!(out, "{}{}{}", long(member), path(member), arrow(member)),
            false => out.write_all(path(member).as_bytes()).and_then(|()| out.write_all(b"\n")),
        }
    };
    let mut print = |member: &Member| print(member).map_err(|error| Error::from(error).at("standard output").into());
    let listed =
        cancellable(|control| commands::list(&source, &identities, control, &mut print).map_err(failure::from_error))?;
    if options.json {
        let end: &[u8] = if count == 0 { b"[]\n" } else { b"\n]\n" };
        out.write_all(end).map_err(|error| Failure::stdout(&error))?;
    }
    out.flush().map_err(|error| Failure::stdout(&error))?;
    if listed.is_damaged {
        return Err(Failure::left_out("the file is damaged or truncated: more may have been in it"));
    }
    if !listed.has_index {
        note("it has no index, so all of it was read");
    }
    Ok(())
}

fn path(member: &Member) -> Cow<'_, str> {
    let is_plain = member.path.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\');
    match std::str::from_utf8(&member.path) {
        Ok(path) if is_plain && !path.is_empty() => path.into(),
        _ => in_full(&member.shown_path()).into(),
    }
}

fn arrow(member: &Member) -> String {
    let target = || foreign(&*String::from_utf8_lossy(&member.target)).to_string();
    match member.flag {
        b'1' => format!(" link to {}", target()),
        b'2' => format!(" -> {}", target()),
        _ if member.is_changed => " (changed while it was stored)".into(),
        _ => String::new(),
    }
}

fn kind(member: &Member) -> (&'static str, char) {
    match member.flag {
        b'1' => ("hard link", 'h'),
        b'2' => ("link", 'l'),
        b'3' => ("character device", 'c'),
        b'4' => ("block device", 'b'),
        b'5' => ("folder", 'd'),
        b'6' => ("fifo", 'p'),
        _ => ("file", '-'),
    }
}

/// The columns of `ls -l` before the name.
fn long(member: &Member) -> String {
    let mut letters: Vec<char> =
        (0..9).rev().map(|bit| if member.mode >> bit & 1 == 0 { '-' } else { ['x', 'w', 'r'][bit % 3] }).collect();
    for (bit, place, letter) in [(11, 2, 's'), (10, 5, 's'), (9, 8, 't')] {
        if member.mode >> bit & 1 == 1 {
            letters[place] = if letters[place] == 'x' { letter } else { letter.to_ascii_uppercase() };
        }
    }
    let owner = |which: usize| match &member.owner_names[which][..] {
        [] => member.owner_ids[which].to_string(),
        name => foreign(&*String::from_utf8_lossy(name)).to_string(),
    };
    format!(
        "{}{} {:<8} {:<8} {:>12} {} ",
        kind(member).1,
        letters.iter().collect::<String>(),
        owner(0),
        owner(1),
        member.size_bytes,
        time(member).replace('T', " "),
    )
}

/// The modification time as RFC 3339 has it.
fn time(member: &Member) -> String {
    let time = u64::try_from(member.modified.0)
        .ok()
        .and_then(|seconds| std::time::UNIX_EPOCH.checked_add(std::time::Duration::new(seconds, member.modified.1)));
    let known = time.filter(|_| member.modified.0 < 253_402_300_800);
    known.map_or_else(|| format!("{} s", member.modified.0), |time| humantime::format_rfc3339_seconds(time).to_string())
}

fn row(member: &Member) -> MemberRow<'_> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let path_hex = std::str::from_utf8(&member.path).is_err();
    MemberRow {
        path: if member.path.is_empty() { ".".into() } else { text(&member.path) },
        path_hex: path_hex.then(|| member.path.iter().map(|byte| format!("{byte:02x}")).collect()),
        r#type: kind(member).0,
        mode: format!("{:04o}", member.mode),
        size: member.size_bytes,
        mtime: time(member),
        uid: member.owner_ids[0],
        gid: member.owner_ids[1],
        user: text(&member.owner_names[0]),
        group: text(&member.owner_names[1]),
        target: (!member.target.is_empty()).then(|| text(&member.target)),
        changed: member.is_changed,
    }
}
