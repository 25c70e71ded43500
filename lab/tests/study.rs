//! `study::run` as the command calls it: its output, continuing after an interruption, and its errors.

use std::fs;
use std::path::Path;

use tress_lab::study::{Effort, Error, Options, all, run};

fn study(name: &str, folder: Option<&Path>) -> Result<String, Error> {
    let mut out = Vec::new();
    let effort = Effort { is_quick: true, ..Effort::default() };
    let options = Options { name: name.into(), folder: folder.map(Path::to_path_buf), effort, ..Options::default() };
    run(&options, &mut out)?;
    Ok(String::from_utf8(out).expect("text"))
}

/// Checks that a page has the parts that pages.txt lists for a run.
pub(crate) fn has_parts(page: &str, run: &str) {
    let heading = format!("# {run}\n");
    let parts = include_str!("pages.txt").split("\n\n").find_map(|parts| parts.strip_prefix(&heading));
    let parts = parts.expect("parts of this run").lines();
    let missing: Vec<&str> = parts.filter(|part| !page.contains(part)).collect();
    assert!(missing.is_empty(), "{missing:#?}: {page}");
}

#[test]
fn a_study_writes_its_page_and_continues_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = study("ccm-overlap", Some(folder.path())).expect("a study");
    let folder = folder.path().join("ccm-overlap");
    assert_eq!(out.trim_end(), folder.join("README.md").display().to_string());
    let page = fs::read_to_string(folder.join("README.md")).expect("the page");
    // The last digits of Table 1, and the wrong figure in it.
    has_parts(&page, "ccm-overlap");
    assert_eq!(page.contains("debug build"), cfg!(debug_assertions));
    for picture in ["by-size.svg", "table-1.svg", "fig-5.svg"] {
        assert!(page.contains(picture) && folder.join(picture).exists());
    }

    // Stored sections are not made again; missing ones are.
    let kept = folder.join("by-size.json");
    let text = fs::read_to_string(&kept).expect("kept").replace("on one thread", "on ONE thread");
    fs::write(&kept, &text).expect("written");
    fs::remove_file(folder.join("strategies.json")).expect("removed");
    // The strategies take more than a minute without optimisation, and another test covers their conclusion.
    let others = || all().into_iter().filter(|study| study.name != "aes-strategies");
    for other in others() {
        study(other.name, folder.parent()).expect("the rest");
    }
    assert!(fs::read_to_string(folder.join("README.md")).expect("the page").contains("on ONE thread"));
    assert!(folder.join("strategies.json").exists());
    // Each page ends with a conclusion.
    for study in others() {
        let page = folder.with_file_name(study.name).join("README.md");
        let page = fs::read_to_string(page).expect("the page");
        let (_, words) = page.split_once("## What held, what did not, and why").expect("closing words");
        assert!(words.trim().len() > 300 && !words.contains('{'), "{words}");
    }

    // Simulations: the paper's figures are beside ours, and four processors are nearly four times as fast as one.
    let folder = folder.with_file_name("block-parallelism");
    let page = fs::read_to_string(folder.join("README.md")).expect("the page");
    has_parts(&page, "block-parallelism");
    for picture in ["width", "blocks", "messages", "harts", "harts-short", "beyond-width", "beyond-harts", "lanes"] {
        assert!(folder.join(picture).with_extension("svg").exists(), "{picture}");
    }

    // The paper's figures, ours, those of others and those of the RTL. By hand: 1217/8 = 152.125, 2715/32 = 84.84375.
    let folder = folder.with_file_name("pipo-riscv");
    let page = fs::read_to_string(folder.join("README.md")).expect("the page");
    has_parts(&page, "pipo-riscv");
    assert_eq!(page.matches("**misprint**").count(), 3, "{page}");

    // The page of the book shows what the study draws.
    for picture in ["table-5", "ciphers"] {
        let drawn = fs::read_to_string(folder.join(picture).with_extension("svg")).expect("a picture");
        let shown = format!("{}/../docs/images/pipo-riscv-{picture}.svg", env!("CARGO_MANIFEST_DIR"));
        assert!(drawn == fs::read_to_string(&shown).expect("a copy"), "{shown} differs");
    }

    // No two rows of a unit share a name: the conclusion finds rows by name and unit.
    for study in others() {
        for part in study.parts {
            let path = folder.with_file_name(study.name).join(part.name).with_extension("json");
            let kept: serde_json::Value = serde_json::from_slice(&fs::read(&path).expect("kept")).expect("JSON");
            // Every name in braces of texts.txt has a value.
            assert!(!kept["section"]["text"].as_str().expect("a text").contains('{'), "{}", path.display());
            let rows = kept["section"]["rows"].as_array().expect("rows");
            let mut names: Vec<(&str, &str)> =
                rows.iter().filter_map(|row| Some((row["what"].as_str()?, row["unit"].as_str()?))).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}: {names:?}", path.display());
        }
    }

    // A part alone: the others stay on its page, and other studies have none.
    let folder = folder.parent().expect("a folder");
    let effort = Effort { is_quick: true, ..Effort::default() };
    let parts = vec!["strategies".into()];
    let options = Options { name: "all".into(), parts, folder: Some(folder.into()), effort };
    run(&options, &mut Vec::new()).expect("a part");
    let page = fs::read_to_string(folder.join("ccm-overlap/README.md")).expect("the page");
    assert!(page.contains("on ONE thread") && !folder.join("aes-strategies").exists());
}

#[test]
fn unknown_studies_and_files_in_the_way_are_errors() {
    assert!(matches!(study("no-such", None), Err(error @ Error::UnknownStudy(_)) if error.is_usage()));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "mine").expect("written");
    assert!(matches!(study("ccm-overlap", Some(&file)), Err(error @ Error::Files { .. }) if !error.is_usage()));
    assert_eq!(fs::read(&file).expect("the file"), b"mine");
}
