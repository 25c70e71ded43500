//! A record is complete at every moment, replaces only other records, and is resumed only by a run that fits.

use super::*;
use crate::bench::record::{BenchRow, Machine};

fn document(rows: &[&str]) -> Document {
    let machine = Machine { model: "this one".into(), ..Machine::default() };
    let row = |name: &&str| BenchRow { name: name.to_string(), samples: vec![1.0; 11], ..BenchRow::default() };
    Document { time: 7, complete: false, rows: rows.iter().map(row).collect(), ..Document::new(machine) }
}

fn open(path: &Path, resume: bool) -> Result<(RecordWriter, Vec<String>), Error> {
    let mut fresh = document(&[]);
    let writer = RecordWriter::open(path, resume, &mut fresh)?;
    Ok((writer, fresh.rows.into_iter().map(|row| row.name).collect()))
}

fn names(folder: &Path) -> Vec<String> {
    let entry = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(entry).collect();
    names.sort();
    names
}

#[test]
fn a_record_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let (mut writer, rows) = open(&file, false).unwrap();
    assert!(rows.is_empty() && !file.exists());
    // Not written yet: rows come faster than files are written.
    writer.written = Instant::now() + 1000 * PAUSE;
    writer.write_if_due(&document(&["a"])).unwrap();
    assert!(!file.exists());
    writer.written = Instant::now() - PAUSE;
    writer.write_if_due(&document(&["a"])).unwrap();
    let kept = read(&file).unwrap();
    assert_eq!((kept.complete, kept.rows.len()), (false, 1));
    writer.write(&document(&["a", "b"])).unwrap();
    assert_eq!(read(&file).unwrap().rows.len(), 2);
    assert_eq!(names(folder.path()), ["record.json"]);
}

#[test]
fn a_folder_keeps_earlier_records() {
    let folder = tempfile::tempdir().unwrap();
    // Both are opened before either has written.
    let path = folder.path().join("records/");
    let (mut first, _) = open(&path, false).unwrap();
    let (mut second, _) = open(&path, false).unwrap();
    first.write(&document(&["a"])).unwrap();
    second.write(&document(&["b"])).unwrap();
    second.write(&document(&["b", "c"])).unwrap();
    assert_eq!(names(&path), ["1970-01-01-this-one-2.json", "1970-01-01-this-one.json"]);
    assert_eq!(read(&path.join("1970-01-01-this-one.json")).unwrap().rows.len(), 1);
}

#[test]
fn an_unfinished_record_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, document: &Document| {
        let path = folder.path().join(name);
        fs::write(&path, serde_json::to_vec(document).unwrap()).unwrap();
        path
    };
    let file = write("a.json", &document(&["a", "b"]));
    assert_eq!(open(&file, true).unwrap().1, ["a", "b"]);
    assert!(open(&file, false).unwrap().1.is_empty());
    assert!(open(&folder.path().join("none.json"), true).unwrap().1.is_empty());

    // In a folder, the latest record that fits is resumed; a finished one stays as it is.
    write("b.json", &Document { time: 8, ..document(&["c"]) });
    write("c.json", &Document { time: 9, complete: true, ..document(&["d"]) });
    write("d.json", &Document { time: 9, quick: true, ..document(&["e"]) });
    fs::write(folder.path().join("e.json"), "{\"schema\": 1, \"ro").unwrap();
    let (writer, rows) = open(folder.path(), true).unwrap();
    assert_eq!(rows, ["c"]);
    assert!(writer.file.ends_with("b.json"));
}

#[test]
fn what_was_measured_elsewhere_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let write = |document: &Document| fs::write(&file, serde_json::to_vec(document).unwrap()).unwrap();
    let mut elsewhere = document(&["a"]);
    elsewhere.machine.model = "another".into();
    let mut target = document(&["a"]);
    target.machine.target = "another".into();
    let other_version = Document { tress: "0.0.0".into(), ..document(&["a"]) };
    for (wrong, difference) in [
        (elsewhere, "machines"),
        (target, "targets"),
        (other_version, "versions of Tress"),
        (Document { quick: true, ..document(&["a"]) }, "efforts"),
    ] {
        write(&wrong);
        assert!(
            matches!(open(&file, true), Err(Error::NotResumable { what, .. }) if what.starts_with(difference)),
            "{difference}"
        );
    }
    write(&Document { schema: 2, ..document(&["a"]) });
    assert!(matches!(open(&file, true), Err(Error::Schema { schema: 2, .. })));
    write(&Document { samples_at: Some("a commit".into()), ..document(&["a"]) });
    assert!(matches!(open(&file, true), Err(Error::NoSamples { .. })));
    assert!(open(folder.path(), true).unwrap().1.is_empty());
    fs::write(&file, "{").unwrap();
    assert!(matches!(open(&file, true), Err(Error::Record { .. })));
    // Without --resume, a record is replaced as soon as there is a row.
    for before in [document(&["b", "c"]), Document { schema: 2, ..document(&[]) }] {
        write(&before);
        let text = fs::read(&file).unwrap();
        let (mut writer, _) = open(&file, false).unwrap();
        assert_eq!(fs::read(&file).unwrap(), text);
        writer.write(&document(&["a"])).unwrap();
        assert_eq!(read(&file).unwrap().rows.len(), 1);
    }
}

#[test]
fn what_is_no_record_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes");
    for text in ["precious", "{", "{}", "[1]", "{\"schema\": 1}", "{\"schema\": \"2\"}"] {
        fs::write(&file, text).unwrap();
        assert!(matches!(open(&file, false), Err(Error::NoRecord(_))), "{text}");
        assert_eq!(fs::read(&file).unwrap(), text.as_bytes());
    }
    assert_eq!(names(folder.path()), ["notes"]);
}

#[test]
fn commits_of_both_runs_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let of = |commit: &str| {
        let mut made = document(&["a"]);
        made.machine.commit = Some(commit.into());
        made
    };
    fs::write(&file, serde_json::to_vec(&of("before")).unwrap()).unwrap();
    let mut fresh = of("after");
    RecordWriter::open(&file, true, &mut fresh).unwrap();
    assert_eq!(fresh.machine.commit.as_deref(), Some("before, after"));
    let mut same = of("before");
    RecordWriter::open(&file, true, &mut same).unwrap();
    assert_eq!(same.machine.commit.as_deref(), Some("before"));
}

#[test]
#[cfg(unix)]
fn devices_and_links_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, _) = open(Path::new("/dev/null"), false).unwrap();
    writer.write(&document(&["a"])).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());

    let (file, link) = (folder.path().join("record.json"), folder.path().join("link"));
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    open(&link, false).unwrap().0.write(&document(&["a"])).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&file).unwrap().rows.len(), 1);
}
