//! Figures of a study's parts, for its conclusion.

use super::{Section, StudyPart, StudyRow, Verdict};

/// Sections by the names of their parts.
#[derive(Clone, Copy)]
pub struct Findings<'a>(&'a [(&'static StudyPart, Section)]);

impl<'a> Findings<'a> {
    pub(super) fn new(sections: &'a [(&'static StudyPart, Section)]) -> Findings<'a> {
        Findings(sections)
    }

    /// The section of a part, if it was run.
    pub fn section(self, part: &str) -> Option<&'a Section> {
        self.0.iter().find(|(of, _)| of.name == part).map(|(_, section)| section)
    }

    /// `None` unless all of these parts were run.
    pub(super) fn ran(self, parts: &[&str]) -> Option<()> {
        parts.iter().all(|part| self.section(part).is_some()).then_some(())
    }

    /// The last row of a part with this name and unit. Before its name, a row can say what it is for and a colon: of
    /// rows for every backend, this is the best backend's. Rows with different units can share a name, so both have to
    /// match.
    pub fn row(self, part: &str, name: &str, unit: &str) -> Option<&'a StudyRow> {
        let is_named = |what: &str| what.strip_suffix(name).is_some_and(|of| of.is_empty() || of.ends_with(": "));
        self.section(part)?.rows.iter().rfind(|row| is_named(&row.what) && row.unit == unit)
    }

    /// The measured median of that row.
    pub fn measured(self, part: &str, name: &str, unit: &str) -> Option<f64> {
        Some(self.row(part, name, unit)?.measured?.median)
    }

    /// The simulated figure of that row.
    pub fn simulated(self, part: &str, name: &str, unit: &str) -> Option<f64> {
        self.row(part, name, unit)?.simulated
    }

    /// A cell of a part's own tables, by the names of its row and column.
    pub fn cell(self, part: &str, row: &str, column: &str) -> Option<&'a str> {
        self.section(part)?.tables.iter().find_map(|table| {
            let column = table.header.iter().position(|name| name == column)?;
            let row = table.rows.iter().find(|cells| cells.first().is_some_and(|name| name == row))?;
            row.get(column).map(String::as_str)
        })
    }

    /// Number of claims of a part that are unclear because the machine was busy.
    pub fn busy(self, part: &str) -> usize {
        let verdicts = self.section(part).map_or(&[][..], |section| &section.verdicts);
        verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Busy(_))).count()
    }

    /// Number of claims of these parts that hold, and the number of all of them. Claims that were left out or are
    /// unclear do not count.
    pub fn holding(self, parts: &[&str]) -> (usize, usize) {
        self.count(parts, |_| true)
    }

    /// The same of the paper's claims alone, without what we expected.
    pub fn holding_of_paper(self, parts: &[&str]) -> (usize, usize) {
        self.count(parts, |verdict| !matches!(verdict, Verdict::Expected(_) | Verdict::Fails(_)))
    }

    fn count(self, parts: &[&str], counts: impl Fn(&&Verdict) -> bool) -> (usize, usize) {
        let verdicts = || {
            let wanted = self.0.iter().filter(|(part, _)| parts.contains(&part.name));
            wanted.flat_map(|(_, section)| &section.verdicts).filter(&counts)
        };
        let holds = verdicts().filter(|verdict| verdict.holds()).count();
        (holds, holds + verdicts().filter(|verdict| verdict.is_refuted()).count())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{StudyTable, test_part as part};
    use super::*;

    #[test]
    fn by_name() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let row = |what: &str, simulated| StudyRow { what: what.into(), simulated, ..StudyRow::default() };
        let in_cycles = StudyRow { unit: "cycles".into(), ..row("fast: gain", Some(3.0)) };
        let section = Section {
            rows: vec![row("slow: gain", Some(1.0)), row("fast: gain", Some(2.0)), row("gain of all", None), in_cycles],
            tables: vec![
                StudyTable { title: String::new(), header: words(&["", "a"]), rows: vec![words(&["r", "1"])] },
                StudyTable {
                    title: String::new(),
                    header: words(&["", "b"]),
                    rows: vec![words(&["q"]), words(&["r", "2"])],
                },
            ],
            verdicts: [
                Verdict::Holds,
                Verdict::Expected,
                Verdict::Fails,
                Verdict::Misprint,
                Verdict::NotReproduced,
                Verdict::Unclear,
                Verdict::Busy,
            ]
            .map(|verdict| verdict("v".into()))
            .into(),
            ..Section::default()
        };
        let sections = [(part("one"), section), (part("two"), Section::default())];
        let found = Findings::new(&sections);
        assert_eq!(found.simulated("one", "gain", ""), Some(2.0));
        assert_eq!(found.simulated("one", "gain", "cycles"), Some(3.0));
        assert_eq!((found.simulated("two", "gain", ""), found.measured("one", "gain", "")), (None, None));
        assert_eq!(found.simulated("one", "ain", ""), None);
        assert_eq!((found.cell("one", "r", "a"), found.cell("one", "r", "b")), (Some("1"), Some("2")));
        assert_eq!((found.cell("one", "q", "b"), found.cell("one", "r", "c")), (None, None));
        assert_eq!((found.holding(&["one", "two"]), found.holding(&["two"])), ((2, 5), (0, 0)));
        assert_eq!(found.holding_of_paper(&["one", "two"]), (1, 3));
        assert_eq!((found.busy("one"), found.busy("two"), found.busy("three")), (1, 0, 0));
    }
}
