//! `tress encrypt`, `decrypt` and `rewrap`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tress_container::commands::{self, DecryptOptions, EncryptOptions};
use tress_container::format::Format;
use tress_container::keys::encoding_fault;
use tress_container::tree::{LeftOut, PackOptions, Packed, names};
use tress_container::{Control, Error, ErrorKind};

use super::{cancellable, note};
use crate::failure::{self, Failure, foreign};
use crate::stdin::Stdin;
use crate::units::count_text;
use crate::{args, files, keys};
use tress_terminal::shown::in_full;

/// Most bytes of a file of patterns.
const MAX_PATTERN_BYTES: usize = 16 << 20;

pub(crate) fn encrypt(options: &args::Encrypt) -> Result<(), Failure> {
    let sources: Vec<_> = options.inputs.iter().map(|input| files::source(input)).collect();
    let sink = files::sink(&options.output);
    let format = options.format.format.unwrap_or_default();
    if options.armor && format != Format::Age {
        return Err(Failure::wrong_use("--armor is for age files").hint("add --format age"));
    }
    if options.aead.is_some() && format != Format::Tress {
        return Err(Failure::wrong_use(format!("the algorithm of {} is fixed", format.name())).hint("leave out --aead"));
    }
    if !options.armor {
        files::refuse_terminal(&sink)?;
    }
    let stdin = &mut Stdin::default();
    for input in &options.inputs {
        stdin.claim(input, "the data")?;
    }
    files::check_names(&options.inputs, &options.output)?;
    let recipients = keys::recipients(&options.recipients, &options.identities, &options.format, stdin)?;
    let mut encrypt = EncryptOptions::default().format(format).armor(options.armor).threads(options.threads.wanted());
    encrypt.aead = options.aead;
    encrypt.tree = pack_options(&options.folders, stdin)?;
    stdin.keep(&options.output)?;
    let (mut skipped, mut special, is_quiet) = (0, 0, options.folders.quiet);
    let mut on_error = |error: &Error| {
        special += u64::from(error.kind == ErrorKind::TreeSpecialFile);
        let is_skipped = error.kind == ErrorKind::TreeSpecialFile && options.folders.skip_special;
        skipped += u64::from(is_skipped);
        if !is_quiet {
            note(&format!("{}{error}", if is_skipped { "skipped " } else { "" }));
        }
    };
    const SPECIAL_HINT: &str = "--special stores FIFOs and devices, --skip-special leaves special files out on purpose";
    let mut run = |control: &Control| {
        commands::encrypt_all(&sources, &sink, &recipients, &encrypt, control, &mut on_error).map_err(|error| {
            let is_special = error.kind == ErrorKind::TreeSpecialFile;
            let failure = failure::from_error(error);
            if is_special { failure.hint(SPECIAL_HINT) } else { failure }
        })
    };
    let report = cancellable(|control| run(control)).map_err(|failure| failure.with_force(options.output.force))?;
    if skipped > 0 {
        note(&format!("skipped in all: {skipped}"));
    }
    let Packed { entries, left_out, changed, .. } = report.packed;
    if left_out + changed == 0 {
        return Ok(());
    }
    let (count, all) = (count_text(left_out + changed), count_text(entries + left_out));
    let message =
        format!("done, but {count} of {all} files are not in it, changed while they were read or lack attributes");
    let failure = Failure::left_out(message);
    Err(if special > skipped { failure.hint(SPECIAL_HINT) } else { failure })
}

fn pack_options(folders: &args::Folders, stdin: &mut Stdin) -> Result<PackOptions, Failure> {
    let mut options = PackOptions::default();
    options.go_on = !folders.strict;
    (options.special, options.skip_special) = (folders.special, folders.skip_special);
    options.without_attributes = folders.no_xattrs;
    options.one_file_system = folders.one_file_system;
    let pattern = |bytes: &[u8]| names::text(bytes).into_owned();
    options.exclude.extend(folders.exclude.iter().map(|given| pattern(given.as_encoded_bytes())));
    for path in &folders.exclude_from {
        stdin.claim(path, "patterns")?;
        let bytes = files::read_small(path, MAX_PATTERN_BYTES)?;
        if let Some(fault) = encoding_fault(&bytes).or(bytes.contains(&0).then_some("is no text")) {
            return Err(Failure::failed(format!("{}: {fault}", failure::name(path))));
        }
        let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        options.exclude.extend(lines.map(pattern));
    }
    Ok(options)
}

pub(crate) fn decrypt(options: &args::Decrypt) -> Result<(), Failure> {
    let source = files::source(&options.input);
    let sink = files::sink(&options.output);
    // `-o -` means the terminal on purpose; the library still refuses plaintext that is not text.
    if options.output.output.as_deref() != Some(Path::new("-")) {
        files::refuse_terminal(&sink).map_err(|failure| failure.hint("-o FILE writes a file, -o - shows text"))?;
    }
    let stdin = &mut Stdin::with_data(&options.input)?;
    files::check_names(std::slice::from_ref(&options.input), &options.output)?;
    let identities = keys::some_identities(&options.identities, &options.format, stdin)?;
    stdin.keep(&options.output)?;
    let mut decrypt = DecryptOptions::default().threads(options.threads.wanted());
    (decrypt.range, decrypt.format) = (options.range, options.format.format);
    (decrypt.preserve, decrypt.numeric_owner, decrypt.salvage) =
        (options.preserve, options.numeric_owner, options.salvage);
    decrypt.members.clone_from(&options.members);
    let report = cancellable(|control| {
        commands::decrypt(&source, &sink, &identities, &decrypt, control).map_err(|error| {
            let hint = match (&error.kind, &error.path) {
                (ErrorKind::ChunkDamaged { .. } | ErrorKind::Truncated, _) if !options.salvage => {
                    "--salvage gives whole files of a folder, standard output what is before"
                }
                (ErrorKind::Io(io::ErrorKind::NotFound), Some(path)) if options.members.contains(path) => {
                    "tress list shows the paths in it"
                }
                _ => return failure::from_error(error),
            };
            failure::from_error(error).hint(hint)
        })
    })
    .map_err(|failure| failure.with_force(options.output.force))?;
    for left in &report.left_out {
        let (what, first) = (left.kind.name(), foreign(&left.first));
        note(&format!("left out: {what} ({}, the first is {first})", count_text(left.count)));
    }
    for path in &report.lost {
        note(&format!("damaged, not given out: {}", in_full(path)));
    }
    if !report.lost.is_empty() || report.gaps > 0 {
        let mut message = format!("done, but damaged files: {}", count_text(report.lost.len() as u64));
        if report.gaps > 0 {
            message.push_str(&format!("; places where others may be missing: {}", count_text(report.gaps)));
        }
        return Err(Failure::left_out(message));
    }
    // With --preserve, owners and attributes are asked for as well.
    let counts = |left: &&LeftOut| options.preserve || left.kind.is_entry();
    match report.left_out.iter().filter(counts).map(|left| left.count).sum() {
        0 => Ok(()),
        count if options.preserve => Err(Failure::left_out(format!("done, but left out: {}", count_text(count)))),
        count => Err(Failure::left_out(format!("done, but entries left out: {}", count_text(count)))
            .hint("--preserve makes everything: only for archives that you trust")),
    }
}

pub(crate) fn rewrap(options: args::Rewrap) -> Result<(), Failure> {
    if options.files.iter().any(|file| file == Path::new("-")) {
        return Err(Failure::wrong_use("rewrap edits a file in place; it cannot read standard input"));
    }
    let mut stdin = Stdin::default();
    let old = args::Identities {
        identities: options.identities,
        key_file: options.open_key_file,
        passphrase: args::Passphrase {
            passphrase: options.open_passphrase,
            passphrase_file: options.open_passphrase_file,
            passphrase_fd: options.open_passphrase_fd,
        },
    };
    let format = args::FileFormat::default();
    let identities = keys::some_identities(&old, &format, &mut stdin)?;
    let recipients = keys::recipients(&options.recipients, &[], &format, &mut stdin)?;
    // A file that is named twice has the new recipients the second time, and the identities need not open it.
    let mut seen = HashSet::new();
    let mut is_new = |file: &&PathBuf| seen.insert(fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf()));
    let files: Vec<&PathBuf> = options.files.iter().filter(|file| is_new(file)).collect();
    let mut failed = cancellable(|control| {
        let mut failed = Vec::new();
        for file in &files {
            // The question for another file, without a line of progress before the first byte.
            crate::prompt::unanswered();
            control.set_done_of(0, 0);
            crate::progress::aside(|| ());
            match commands::rewrap(file, &identities, &recipients, control) {
                Err(error) if error.kind == ErrorKind::Interrupted => return Err(failure::from_error(error)),
                done => {
                    failed.extend(done.err().map(|error| failure::without_format(error, "rewrap changes recipients")))
                }
            }
        }
        Ok(failed)
    })?;
    let Some(last) = failed.pop() else { return Ok(()) };
    if files.len() == 1 {
        return Err(last);
    }
    failed.iter().chain([&last]).for_each(Failure::print);
    Err(Failure::failed(format!("{} of {} files keep their recipients", failed.len() + 1, files.len())))
}
