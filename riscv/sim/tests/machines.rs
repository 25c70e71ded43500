//! Invalid machine files: each error names the field.

use tress_sim::machine::{PRESETS, PredictorKind, preset_file};
use tress_sim::{ErrorKind, Machine, Xlen};

/// The error for a preset in which one piece of text is replaced.
fn error(preset: &str, from: &str, to: &str) -> String {
    let (_, text) = PRESETS.iter().find(|(name, _)| *name == preset).expect("a preset");
    assert_eq!(text.matches(from).count(), 1, "{from:?} is once in {preset}");
    let error = Machine::parse(&text.replace(from, to)).expect_err(to);
    let ErrorKind::Machine(text) = error.kind else { panic!("{error:?}") };
    text
}

#[test]
fn the_presets_are_valid() {
    for (name, _) in PRESETS {
        let machine = Machine::preset(name).expect("a preset");
        assert_eq!(machine.name, *name);
        assert!(machine.check_for(Xlen::Rv32).is_ok());
    }
    assert!(Machine::preset("fe311").is_none());
    let isa = Machine::preset("fe310").expect("a preset").check_for(Xlen::Rv32).expect("possible");
    assert!(isa.m && isa.a && isa.c && !isa.f && !isa.zbb);
}

#[test]
fn impossible_numbers_name_their_field() {
    for line in include_str!("common/machines.txt").lines().skip(1) {
        let [preset, from, to, field] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (from, to) = (&*from.replace("\\n", "\n"), &*to.replace("\\n", "\n"));
        let text = error(preset, from, to);
        assert!(text.starts_with(field), "{to:?}: {text}");
    }
}

#[test]
fn what_is_unknown_or_missing_is_shown_with_its_line() {
    for (preset, from, to, word) in [
        ("raptor", "reorder_buffer = 128", "reorder_bufer = 128", "reorder_bufer"),
        ("raptor", "forward = 1 ", "", "forward"),
        ("raptor", "write = \"through\"", "write = \"around\"", "around"),
        ("raptor", "issue = 4 ", "issue = -4 ", "issue"),
        ("fe310", "kind = \"rom\"", "kind = \"wood\"", "wood"),
        ("fe310", "reset = [[0x70, 0x4010_0004]]", "reset = [[0, 1, 2]]", "pair"),
        ("fe310", "\"plru\"", "\"fifo\"", "fifo"),
        ("fe310", "path = \"cached-code\"", "paths = \"tight\"", "paths"),
    ] {
        let text = error(preset, from, to);
        assert!(text.contains(word), "{to:?}: {text}");
    }
}

#[test]
fn memory_that_overlaps_or_is_too_large_is_refused() {
    assert!(error("fe310", "base = 0x8000_0000 ", "base = 0x3fff_f000 ").contains("overlap"));
    assert!(error("raptor", "size = 0x4000_0000", "size = 0x2_0000_0000").contains("memory"));
    assert!(error("raptor", "size = 0x4000_0000", "size = 5").contains("memory"));
}

#[test]
fn a_hart_has_one_pipeline() {
    assert!(error("fe310", "[in_order]", "[in_order]\nissue = 1").contains("issue"));
    let text = |name| PRESETS.iter().find(|(preset, _)| *preset == name).expect("a preset").1;
    let (raptor, fe310) = (text("raptor"), text("fe310"));
    let both = raptor.to_owned() + &fe310[fe310.find("[in_order]").expect("a pipeline")..];
    assert!(Machine::parse(&both).expect_err("two").to_string().contains("out_of_order"));
    let none = &raptor[..raptor.find("[out_of_order]").expect("a pipeline")];
    assert!(Machine::parse(none).expect_err("none").to_string().contains("in_order"));
}

#[test]
fn the_issue_width_of_a_preset_can_be_set() {
    let mut raptor = Machine::preset("raptor").expect("a preset");
    for issue in [1, 2, 4, 8, 16, 32] {
        raptor.set_issue(issue).expect("possible");
    }
    assert!(raptor.set_issue(0).is_err());
    let mut fe310 = Machine::preset("fe310").expect("a preset");
    assert!(fe310.set_issue(1).is_ok());
    assert!(fe310.set_issue(2).is_err());
}

#[test]
fn nothing_that_a_machine_says_is_ignored() {
    let units = |beside: bool, fields: &str| {
        let units = format!("in_order.unit=[{{ {fields} }}]");
        with("fe310", &[&format!("in_order.multiply_beside={beside}"), &units]).map(|_| ())
    };
    let unit = |fields: &str| units(true, fields);
    assert_eq!(unit("does = [\"fp-divide\"], latency = 9, interval = 4"), Ok(()));
    assert_eq!(unit("does = [\"alu\"], latency = 9"), Ok(()));
    assert_eq!(units(false, "does = [\"multiply\"], interval = 4"), Ok(()));
    assert!(units(false, "does = [\"multiply\", \"multiply\"]").is_err());
    assert!(units(false, "does = [\"multiply\"], latency = 9").expect_err("a field").contains("unit[0].latency"));
    assert!(units(false, "does = [\"divide\"], double_latency = 9").expect_err("a field").contains("unit[0].latency"));
    for wrong in [
        "does = [\"fp-add\"], count = 2",
        "does = [\"fp-add\"], count_from_issue = [[1, 2]]",
        "does = [\"fp-add\", \"fp-add\"]",
        "does = [\"load\"]",
        "does = [\"store\"]",
        "does = [\"branch\"]",
        "does = [\"multiply\"]",
        "does = [\"divide\"]",
        "does = [\"fp-add\", \"alu\"], interval = 2",
    ] {
        assert!(unit(wrong).expect_err(wrong).contains("in_order.unit[0]"), "{wrong}");
    }
    let without_tables = ["predictor.kind=static", "predictor.btb_entries=0", "predictor.bht_entries=0"];
    assert!(with("raptor", &without_tables).is_ok());
}

/// The machine of a preset with settings, and its file.
fn with(preset: &str, settings: &[&str]) -> Result<(Machine, String), String> {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    Machine::parse_with(preset_file(preset).expect("a preset"), &settings).map_err(|error| error.to_string())
}

#[test]
fn settings_replace_and_add_fields() {
    let settings = [
        "issue=8",
        "harts = 2",
        "l1d.size=0x8000",
        "predictor={ kind = \"tables\", btb_entries = 16 }",
        "predictor.ras_entries=4",
        "region[ram].latency=20",
        "region[0].latency=30",
        "out_of_order.unit[branch].count_from_issue=[[1, 3]]",
        "out_of_order.unit[alu].count=4",
        "out_of_order.disambiguation=perfect",
        "name=mine",
    ];
    let (machine, file) = with("raptor", &settings).expect("valid");
    let (core, cache) = (machine.out_of_order.as_ref().expect("out of order"), machine.l1d.as_ref().expect("a cache"));
    let (alu, regions) = (&core.unit[0], &machine.region);
    assert_eq!((machine.name.as_str(), machine.harts, core.issue, cache.size), ("mine", 2, 8, 32768));
    assert_eq!((regions[0].latency, regions[1].latency, alu.count, alu.count_from_issue.len()), (30, 20, 4, 0));
    assert_eq!((machine.predictor.kind, machine.predictor.ras_entries), (PredictorKind::Tables, 4));
    // The file describes the same machine, and stays as it is.
    assert_eq!(Machine::parse(&file).expect("valid"), machine);
    assert_eq!(Machine::parse_with(&file, &[]).expect("valid"), (machine, file));
    for (name, _) in PRESETS {
        let (machine, file) = with(name, &[]).expect("valid");
        assert_eq!((Machine::parse(&file).expect("valid"), Some(machine.clone())), (machine, Machine::preset(name)));
    }
    // A table that the preset lacks.
    let cache = ["l2.size=65536", "l2.ways=4", "l2.line=64", "l2.latency=10"];
    assert_eq!(with("fe310", &cache).expect("valid").0.l2.map(|cache| cache.size), Some(65536));
}

#[test]
fn wrong_settings_name_their_field() {
    for line in include_str!("common/settings.txt").lines().skip(1) {
        let [preset, settings, words] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let error = with(preset, &settings.split(';').collect::<Vec<_>>()).expect_err(line);
        assert!(words.split(';').all(|word| error.contains(word)) && !error.contains('\n'), "{line}: {error}");
    }
}
