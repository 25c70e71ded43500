//! `tress report`: the studies and records in a folder, as one self-contained HTML page.
//!
//! [`make`] reads the folder (`read`), turns sections and records into tables, verdicts and pictures (`studies`,
//! `records`, `environment`), and fills page.html. The template escapes every text except that of the pictures
//! (`drawing`), which are escaped there. The samples of records are in the page as JSON, for tables.js. The page's
//! content policy lets it load nothing and run only the script of this crate.

mod drawing;
mod environment;
mod error;
mod figures;
mod read;
mod records;
mod studies;

use std::path::Path;

use askama::Template;
use base64ct::{Base64, Encoding as _};
use serde::Serialize;
use tress_sign::Hash;

pub use error::Error;
use figures::{Cell, PageTable};

const SCRIPT: &str = concat!(
    "\"use strict\";\n{\n",
    include_str!("tables.js"),
    include_str!("pictures.js"),
    include_str!("page.js"),
    "}\n"
);

/// A page, and the files that were left out.
#[derive(Clone, Debug)]
pub struct Report {
    pub html: String,
    /// Files that are not on the page, with the reason; one line each.
    pub notes: Vec<String>,
}

/// Makes the page of a folder.
///
/// # Errors
/// An error if the folder cannot be read, or contains nothing for a report.
pub fn make(folder: &Path) -> Result<Report, Error> {
    let found = read::read(folder)?;
    if found.studies.is_empty() && found.records.is_empty() {
        return Err(match found.notes.first() {
            Some(note) => Error::Unusable { path: folder.into(), note: note.clone() },
            None => Error::Nothing(folder.into()),
        });
    }
    let page = Page::new(&found)?;
    let html = page.render().map_err(|error| Error::Page(error.to_string()))?;
    Ok(Report { html, notes: found.notes })
}

/// The values in page.html.
#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    lead: String,
    version: &'static str,
    policy: String,
    style: String,
    script: &'static str,
    /// Records for tables.js, addressed by the tables' `data-samples`: JSON in which no text can end the script element.
    data: String,
    sources: String,
    notes: Vec<String>,
    counts: Vec<(&'static str, Vec<studies::VerdictCount>)>,
    overview: PageTable,
    /// Whether the overview shows its verdicts without a click.
    is_short: bool,
    record_overview: PageTable,
    studies: Vec<studies::StudyView>,
    records: Vec<records::RecordView>,
    changes: Vec<records::Changes>,
    machines: Vec<Vec<(&'static str, String)>>,
    runs: PageTable,
    peers: PageTable,
}

impl Page {
    fn new(found: &read::FolderContents) -> Result<Page, Error> {
        let studies: Vec<studies::StudyView> =
            found.studies.iter().enumerate().map(|(place, kind)| studies::StudyView::new(place, kind)).collect();
        let has_samples = records::has_samples(&found.records);
        let records: Vec<records::RecordView> = found
            .records
            .iter()
            .enumerate()
            .map(|(place, record)| records::RecordView::new(place, record, has_samples))
            .collect();
        let verdicts = || studies.iter().flat_map(|study| &study.parts).flat_map(|part| &part.verdicts);
        Ok(Page {
            title: title(found),
            lead: lead(found),
            version: env!("CARGO_PKG_VERSION"),
            policy: policy(),
            style: style(),
            script: SCRIPT,
            data: json(&records::data(&found.records))?,
            sources: sources(found),
            notes: found.notes.clone(),
            counts: studies::groups(studies::counts(verdicts())),
            overview: studies::overview(&studies),
            record_overview: record_overview(&records, found),
            changes: records::changes(&found.records),
            machines: environment::machines(found),
            runs: environment::runs(found),
            // More verdicts than fit on a screen are folded.
            is_short: verdicts().count() <= 20,
            peers: environment::peers(&found.records),
            studies,
            records,
        })
    }
}

fn title(found: &read::FolderContents) -> String {
    match (found.studies.as_slice(), found.records.as_slice()) {
        ([one], []) => studies::title(&one.name),
        ([], _) => "Measurements".into(),
        (_, []) => "Studies".into(),
        _ => "Studies and measurements".into(),
    }
}

fn lead(found: &read::FolderContents) -> String {
    let environments = environment::names(found);
    let quick = environment::is_any_quick(found);
    let mut lead = environments.join("; ");
    if quick {
        lead.push_str(". Some figures are from a quick run: few samples of small messages");
    }
    lead + "."
}

fn sources(found: &read::FolderContents) -> String {
    let parts: usize = found.studies.iter().map(|kind| kind.parts.len()).sum();
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let both = [(parts, count(parts, "study section")), (found.records.len(), count(found.records.len(), "record"))];
    both.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect::<Vec<_>>().join(" and ")
}

fn record_overview(records: &[records::RecordView], found: &read::FolderContents) -> PageTable {
    let rows = records.iter().zip(&found.records).map(|(record, read::Record { path, document, .. })| {
        vec![
            Cell { text: figures::moment(document.time), link: Some(record.anchor.clone()), ..Cell::default() },
            Cell::text(path),
            Cell::text(&document.machine.model),
            Cell::shown(document.rows.len().to_string(), document.rows.len() as f64),
            Cell::text(if document.quick { "quick" } else { "full" }),
        ]
    });
    PageTable::new("Records", &["time", "file", "machine", "rows", "effort"], rows.collect())
}

/// The style of pictures in files, then that of the page, which overrides their colours.
fn style() -> String {
    format!("{}\n{}", crate::picture::STYLE, include_str!("page.css"))
}

/// Content policy: loads nothing; allows only the script and the style of this crate.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", Base64::encode_string(&Hash::Sha256.digest(text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(&style())
    )
}

/// JSON that stays inside its element: no text in it can end a script or begin a comment.
fn json(data: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(data).map_err(|error| Error::Page(error.to_string()))?;
    Ok(text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e"))
}

#[cfg(test)]
#[path = "report_test.rs"]
mod tests;
