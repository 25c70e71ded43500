//! Invalid machine files: each error names the field.

use tress_sim::{ErrorKind, Machine, Xlen, machine::PRESETS};

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
    for (preset, from, to, field) in [
        ("raptor", "harts = 1 ", "harts = 0 ", "harts"),
        ("raptor", "harts = 1 ", "harts = 65 ", "harts"),
        ("raptor", "issue = 4 ", "issue = 0 ", "out_of_order.issue"),
        ("raptor", "issue = 4 ", "issue = 65 ", "out_of_order.issue"),
        ("raptor", "reorder_buffer = 128", "reorder_buffer = 0", "out_of_order.reorder_buffer"),
        ("raptor", "store_queue = 32", "store_queue = 0", "out_of_order.store_queue"),
        ("raptor", "forward = 1 ", "forward = 0 ", "out_of_order.forward"),
        ("raptor", "size = 4194304", "size = 4194303", "l2.size"),
        ("raptor", "size = 4194304", "size = 3145728", "l2.size"),
        // Each value is valid alone, but together the tags would take gigabytes.
        ("raptor", "size = 4194304", "size = 1073741824", "l2.size"),
        ("fe310", "size = 16384 ", "size = 1073741824 ", "l1i.size"),
        ("raptor", "width = 16", "width = 0", "bus.width"),
        ("raptor", "bht_entries = 4096", "bht_entries = 4095", "predictor.bht_entries"),
        ("raptor", "btb_ways = 4", "btb_ways = 3", "predictor.btb_ways"),
        ("raptor", "history = 8", "history = 13", "predictor.history"),
        ("raptor", "counter_bits = 2", "counter_bits = 5", "predictor.counter_bits"),
        ("raptor", "double_latency = 68", "double_latency = 1001", "out_of_order.unit[3].double_latency"),
        ("raptor", "\"load\", \"store\", \"atomic\"", "\"load\", \"store\"", "out_of_order.unit: Atomic"),
        ("raptor", "[\"multiply\"]", "[\"multiply\", \"alu\"]", "out_of_order.unit: Alu"),
        ("raptor", "[\"multiply\"]", "[\"multiply\"]\ncount_from_issue = [[8, 65]]", "out_of_order.unit[2].count"),
        ("raptor", "[\"multiply\"]", "[\"multiply\"]\ncount_from_issue = [[8, 2], [8, 1]]", "out_of_order.unit[2]."),
        ("fe310", "ways = 2 ", "ways = 3 ", "l1i.size"),
        ("e31", "line = 64", "line = 48", "l1i.line"),
        ("fe310", "latency = 176", "latency = 10001", "region[0].latency"),
        ("fe310", "beat_bytes = 1", "beat_bytes = 0", "region[0].beat_bytes"),
        ("fe310", "beat_cycles = 16", "beat_cycles = 10001", "region[0].beat_cycles"),
        ("raptor", "\"uart-16550\"", "\"uart-16550\"\nshift = 4", "device[1].shift"),
        ("fe310", "fetch_bytes = 4", "fetch_bytes = 3", "in_order.fetch_bytes"),
        ("fe310", "\nload_use = 2 ", "\nload_use = 0 ", "in_order.load_use"),
        ("fe310", "bits_per_cycle = 1", "bits_per_cycle = 0", "in_order.divide.bits_per_cycle"),
        ("fe310", "isa = \"rv32imac\"", "isa = \"rv32imaq\"", "isa"),
        ("fe310", "isa = \"rv32imac\"", "isa = \"mips\"", "isa"),
        ("fe310", "cycles_per_tick = 488", "cycles_per_tick = 0", "cycles_per_tick"),
    ] {
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
        ("fe310", "\"plru\"", "\"fifo\"", "fifo"),
        ("fe310", "path = \"tight\"", "paths = \"tight\"", "paths"),
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
