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
    files::refuse_stdout(&options.file)?;
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
    let listed = cancellable(|control| {
        let listed = commands::list(&source, &identities, control, &mut print);
        listed.map_err(|error| failure::without_format(error, "list shows the files of a folder"))
    })?;
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

/// The modification time as RFC 3339 has it, which has the years 0 to 9999; in others, seconds since 1970.
fn time(member: &Member) -> String {
    let seconds = member.modified.0;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days of years that begin in March, in periods of 400 years.
    let day = days + 719_468;
    let (period, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    let year = year + 400 * period + i64::from(month < 3);
    match year {
        0..=9999 => {
            format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
        }
        _ => format!("{seconds} s"),
    }
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
