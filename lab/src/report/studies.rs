//! Studies, ready for the page.

use super::drawing::PictureView;
use super::environment;
use super::figures::{Cell, PageTable, anchor, plain};
use super::read::StudySections;
use crate::study::{self, Section, Study, StudyRow, Verdict};

pub(super) struct StudyView {
    pub(super) anchor: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) conditions: String,
    /// How many verdicts there are of each kind, as text.
    pub(super) tally: String,
    pub(super) parts: Vec<PartView>,
    /// The conclusion, in paragraphs.
    pub(super) conclusion: Vec<String>,
}

pub(super) struct PartView {
    pub(super) anchor: String,
    pub(super) title: String,
    /// The text, in paragraphs.
    pub(super) text: Vec<String>,
    pub(super) tables: Vec<PageTable>,
    pub(super) pictures: Vec<PictureView>,
    pub(super) verdicts: Vec<VerdictView>,
}

pub(super) struct VerdictView {
    /// Index in [`WORDS`].
    kind: usize,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) word: &'static str,
    pub(super) text: String,
}

/// Number of verdicts of one kind.
pub(super) struct VerdictCount {
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) word: &'static str,
    pub(super) count: usize,
}

/// Class, sign, word and plural of each kind of verdict.
const WORDS: [(&str, &str, &str, &str); 8] = [
    ("holds", "✓", "holds", "hold"),
    ("misprint", "≠", "misprint", "misprints"),
    ("differs", "✗", "not reproduced", "not reproduced"),
    ("holds", "✓", "as expected", "as expected"),
    ("wrong", "!", "we were wrong", "we were wrong"),
    ("unclear", "?", "unclear", "unclear"),
    ("busy", "?", "unclear: busy", "unclear: busy"),
    ("omitted", "–", "left out", "left out"),
];

/// What the kinds are about, and how many of them are.
const GROUPS: [(&str, usize); 3] = [("What papers claim", 3), ("What Tress expects", 2), ("Left open", 3)];

/// The title of a study, also of an unknown one.
pub(super) fn title(name: &str) -> String {
    study::all().iter().find(|study| study.name == name).map_or_else(|| name.into(), |study| study.title.into())
}

impl StudyView {
    pub(super) fn new(place: usize, kind: &StudySections) -> StudyView {
        let known = study::all().into_iter().find(|study| study.name == kind.name);
        let own = anchor(&format!("study-{}-", place + 1), &kind.name);
        let parts: Vec<PartView> = kind
            .parts
            .iter()
            .enumerate()
            .map(|(number, (name, kept))| {
                let known = known.as_ref().and_then(|study| study.parts.iter().find(|part| part.name == name));
                PartView {
                    anchor: anchor(&format!("{own}-{}-", number + 1), name),
                    title: known.map_or(name.clone(), |part| part.title.into()),
                    text: paragraphs(&kept.section.text),
                    tables: tables(known.map_or(name, |part| part.title), &kept.section),
                    pictures: kept
                        .section
                        .pictures
                        .iter()
                        .enumerate()
                        .map(|(picture, found)| {
                            let name = anchor(&format!("{own}-{}-picture-{}-", number + 1, picture + 1), &found.name);
                            PictureView::new(name, &found.drawing)
                        })
                        .collect(),
                    verdicts: kept.section.verdicts.iter().map(VerdictView::new).collect(),
                }
            })
            .collect();
        let all = || parts.iter().flat_map(|part| &part.verdicts);
        let tally =
            counts(all()).iter().filter(|count| count.count > 0).map(VerdictCount::text).collect::<Vec<_>>().join(", ");
        let mut conditions = environment::conditions(kind);
        if kind.path != kind.name && !kind.path.is_empty() {
            conditions.push_str(&format!(" From {}.", kind.path));
        }
        StudyView {
            anchor: own,
            title: title(&kind.name),
            source: known.as_ref().map_or_else(String::new, Study::source),
            conditions,
            tally,
            conclusion: paragraphs(&known.as_ref().and_then(|study| conclusion(study, kind)).unwrap_or_default()),
            parts,
        }
    }
}

/// The conclusion, from the sections that exist.
fn conclusion(study: &study::Study, kind: &StudySections) -> Option<String> {
    let sections: Vec<(&'static study::StudyPart, Section)> = study
        .parts
        .iter()
        .filter_map(|part| {
            let (_, kept) = kind.parts.iter().find(|(name, _)| name == part.name)?;
            Some((part, kept.section.clone()))
        })
        .collect();
    study::conclusion(study, &sections)
}

/// The figures of a section, and its tables.
fn tables(title: &str, section: &Section) -> Vec<PageTable> {
    let mut tables = Vec::new();
    if !section.rows.is_empty() {
        let names = ["row", "unit", "paper", "model", "simulated", "measured"];
        let notes = ["", "", "", "", "", "95 % interval"];
        let names = names.iter().zip(notes).map(|(name, note)| (name.to_string(), note.to_string()));
        let cells = |row: &StudyRow| {
            vec![
                Cell::text(&row.what),
                Cell::text(&row.unit),
                Cell::parsed(row.paper.as_deref().unwrap_or_default()),
                Cell::number(row.model),
                Cell::number(row.simulated),
                Cell::measured(row.measured),
            ]
        };
        let table = PageTable::with_notes("Figures", names.collect(), section.rows.iter().map(cells).collect());
        tables.push(PageTable { label: plain(&format!("Figures: {title}")), ..table });
    }
    tables.extend(section.tables.iter().map(|table| {
        let names: Vec<&str> = table.header.iter().map(String::as_str).collect();
        let rows = table.rows.iter().map(|row| row.iter().map(|cell| Cell::parsed(cell)).collect());
        let own = PageTable::new(&table.title, &names, rows.collect());
        PageTable { label: plain(&format!("{}: {title}", table.title)), ..own }
    }));
    tables
}

impl VerdictView {
    fn new(verdict: &Verdict) -> VerdictView {
        let (kind, text) = match verdict {
            Verdict::Holds(text) => (0, text),
            Verdict::Misprint(text) => (1, text),
            Verdict::NotReproduced(text) => (2, text),
            Verdict::Expected(text) => (3, text),
            Verdict::Fails(text) => (4, text),
            Verdict::Unclear(text) => (5, text),
            Verdict::Busy(text) => (6, text),
            Verdict::LeftOut(text) => (7, text),
        };
        let (class, sign, word, _) = WORDS[kind];
        VerdictView { kind, class, sign, word, text: text.clone() }
    }
}

impl VerdictCount {
    fn text(&self) -> String {
        format!("{} {}", self.count, self.word)
    }
}

/// Number of verdicts of each kind.
pub(super) fn counts<'a>(verdicts: impl Iterator<Item = &'a VerdictView>) -> Vec<VerdictCount> {
    let mut counts = WORDS.map(|(class, sign, _, word)| VerdictCount { class, sign, word, count: 0 });
    for verdict in verdicts {
        counts[verdict.kind].count += 1;
    }
    for (count, (_, _, one, _)) in counts.iter_mut().zip(WORDS) {
        if count.count == 1 {
            count.word = one;
        }
    }
    counts.into()
}

/// The counts in groups, each with its heading.
pub(super) fn groups(counts: Vec<VerdictCount>) -> Vec<(&'static str, Vec<VerdictCount>)> {
    let mut counts = counts.into_iter();
    GROUPS.iter().map(|&(heading, kinds)| (heading, counts.by_ref().take(kinds).collect())).collect()
}

pub(super) fn overview(studies: &[StudyView]) -> PageTable {
    let mut names = vec!["study", "parts"];
    names.extend(WORDS.map(|(_, _, _, word)| word));
    let whole = |count: usize| Cell::shown(count.to_string(), count as f64);
    let rows = studies.iter().map(|study| {
        let mut row = vec![
            Cell { text: study.title.clone(), link: Some(study.anchor.clone()), ..Cell::default() },
            whole(study.parts.len()),
        ];
        row.extend(counts(study.parts.iter().flat_map(|part| &part.verdicts)).iter().map(|count| whole(count.count)));
        row
    });
    PageTable::new("Studies and their verdicts", &names, rows.collect())
}

fn paragraphs(text: &str) -> Vec<String> {
    text.split("\n\n").map(str::trim).filter(|text| !text.is_empty()).map(str::to_string).collect()
}
