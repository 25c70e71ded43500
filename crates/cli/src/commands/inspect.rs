//! `tress inspect`: shows what a container's header says, and verifies it if a key is given.

use serde::Serialize;
use tress_container::Control;
use tress_container::commands::{self, Inspection};
use tress_container::format::Format;

use crate::failure::{self, Failure, escape, foreign};
use crate::stdin::Stdin;
use crate::{args, files, keys, units};

/// The JSON object, whose keys scripts rely on. The last two are null without an identity.
#[derive(Serialize)]
struct InspectReport<'a> {
    format: &'a str,
    version: &'a str,
    aead: &'a str,
    recipients: &'a [String],
    header_bytes: u64,
    chunks: u64,
    plaintext_bytes: u64,
    verified: bool,
    content_type: Option<&'a str>,
    name: Option<&'a str>,
}

pub(crate) fn run(options: &args::Inspect) -> Result<(), Failure> {
    let stdin = &mut Stdin::with_data(&options.file)?;
    files::refuse_stdout(&options.file)?;
    let identities = keys::identities(&options.identities, &options.format, stdin)?;
    let identities = (!identities.is_empty()).then_some(&identities);
    let source = files::source(&options.file);
    let found = commands::inspect_with(&source, options.format.format, identities, &Control::new());
    let found = found.map_err(failure::from_error)?;
    if options.json { files::print_json(&row(&found)) } else { files::print(&text(&found)) }
}

fn row(found: &Inspection) -> InspectReport<'_> {
    InspectReport {
        format: found.format.name(),
        version: found.version,
        aead: found.aead.name(),
        recipients: &found.recipients,
        header_bytes: found.header_bytes,
        chunks: found.chunks,
        plaintext_bytes: found.plaintext_bytes,
        verified: found.verified,
        content_type: found.content_type.map(|content_type| content_type.name()),
        name: found.name.as_deref(),
    }
}

fn text(found: &Inspection) -> String {
    let mut recipients = escape(&found.recipients.iter().map(foreign).collect::<Vec<_>>().join(", ")).to_string();
    let mut how = "-i IDENTITY";
    if found.format.key_bytes().is_some() {
        (recipients, how) = ("none, but a key".into(), "--key-file");
    }
    let mut text = format!(
        "format      {}\nversion     {}\naead        {}\nrecipients  {}\nplaintext   {} bytes ({}) in {} chunks\n",
        found.format.name(),
        found.version,
        found.aead.name(),
        recipients,
        found.plaintext_bytes,
        units::bytes_text(found.plaintext_bytes),
        found.chunks,
    );
    if let Some(content_type) = found.content_type {
        text.push_str(&format!("content     {}\n", content_type.name()));
    }
    if let Some(name) = &found.name {
        text.push_str(&format!("name        {}\n", escape(&foreign(name))));
    }
    text.push_str(&match found.verified {
        true if found.format == Format::Tress => "verified    header, commitment and last chunk\n".to_owned(),
        true => "verified    header and last chunk\n".to_owned(),
        false => format!("verified    nothing (add {how} to verify)\n"),
    });
    text
}
