//! `tress encrypt`, `decrypt` and `rewrap`.

use std::path::Path;

use tress_container::{
    Control, Error, ErrorKind,
    commands::{self, DecryptOptions, EncryptOptions},
    format::Format,
};

use super::{cancellable, note};
use crate::{
    args,
    failure::{self, Failure},
    files, keys,
    stdin::Stdin,
};

pub(crate) fn encrypt(options: &args::Encrypt) -> Result<(), Failure> {
    let source = files::source(&options.input);
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
    let stdin = &mut Stdin::with_data(&options.input)?;
    let recipients = keys::recipients(&options.recipients, &options.identities, &options.format, stdin)?;
    let mut encrypt = EncryptOptions::default().format(format).armor(options.armor).threads(options.threads.wanted());
    encrypt.aead = options.aead;
    let run = |control: &Control| {
        if !options.skip_special {
            return commands::encrypt(&source, &sink, &recipients, &encrypt, control).map_err(|error| {
                let hint = match error.kind {
                    ErrorKind::TreeLink => "--skip-special also leaves out links that lead out of the folder",
                    ErrorKind::TreeSpecialFile => "--skip-special leaves out files such as sockets, FIFOs and devices",
                    _ => return failure::from_error(error),
                };
                failure::from_error(error).hint(hint)
            });
        }
        let mut count = 0;
        let mut skipped = |error: &Error| {
            count += 1;
            note(&format!("skipped {error}"));
        };
        let report = commands::encrypt_skipping(&source, &sink, &recipients, &encrypt, control, &mut skipped)
            .map_err(failure::from_error)?;
        if count > 0 {
            note(&format!("skipped in all: {count}"));
        }
        Ok(report)
    };
    cancellable(|control| run(control)).map(drop).map_err(|failure| failure.with_force(options.output.force))
}

pub(crate) fn decrypt(options: &args::Decrypt) -> Result<(), Failure> {
    let source = files::source(&options.input);
    let sink = files::sink(&options.output);
    // `-o -` means the terminal on purpose; the library still refuses plaintext that is not text.
    if options.output.output.as_deref() != Some(Path::new("-")) {
        files::refuse_terminal(&sink).map_err(|failure| failure.hint("-o FILE writes a file, -o - shows text"))?;
    }
    let stdin = &mut Stdin::with_data(&options.input)?;
    let identities = keys::some_identities(&options.identities, &options.format, stdin)?;
    let mut decrypt = DecryptOptions::default().threads(options.threads.wanted());
    (decrypt.range, decrypt.format) = (options.range, options.format.format);
    cancellable(|control| {
        commands::decrypt(&source, &sink, &identities, &decrypt, control).map_err(failure::from_error)
    })
    .map(drop)
    .map_err(|failure| failure.with_force(options.output.force))
}

pub(crate) fn rewrap(options: args::Rewrap) -> Result<(), Failure> {
    if options.file == Path::new("-") {
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
    cancellable(|control| {
        commands::rewrap(&options.file, &identities, &recipients, control).map_err(failure::from_error)
    })?;
    Ok(())
}
