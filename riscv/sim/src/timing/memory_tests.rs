//! Tests of caches, bus and coherence against cycles counted by hand.

use super::*;

const RAM: u64 = 0x8000_0000;

/// Two harts; level 1 takes 1 cycle, with lines of 32 bytes; level 2 takes 4, memory 10.
fn machine(write: Write) -> Machine {
    let mut machine = Machine::preset("raptor").expect("a preset");
    machine.harts = 2;
    machine.l1d.as_mut().expect("a cache").write = write;
    machine
}

fn memory(write: Write) -> MemoryModel {
    MemoryModel::new(&machine(write))
}

#[test]
fn each_level_adds_its_cycles() {
    let mut memory = memory(Write::Through);
    assert_eq!(memory.load(0, RAM, 4, 100), 100 + 1 + 4 + 10, "nobody has it");
    assert_eq!(memory.load(0, RAM + 28, 4, 200), 200 + 1, "the same line");
    assert_eq!(memory.load(1, RAM, 4, 300), 300 + 1 + 4, "the other hart hits level 2");
    assert_eq!(memory.fetch(0, RAM, 400), 400 + 1 + 4, "the level 1 instruction cache is separate");
    assert_eq!(memory.fetch(0, RAM + 4, 500), 500);
    let (hart, shared) = (memory.hart_figures(0), memory.shared_figures());
    assert_eq!((hart.l1d.accesses, hart.l1d.misses, hart.l1i.accesses, hart.l1i.misses), (2, 1, 2, 1));
    assert_eq!((shared.l2.accesses, shared.l2.misses, shared.bus.requests), (3, 1, 3));
}

#[test]
fn a_line_on_its_way_is_not_asked_for_again() {
    let mut memory = memory(Write::Through);
    assert_eq!(memory.load(0, RAM, 4, 100), 115);
    assert_eq!(memory.load(0, RAM + 4, 4, 101), 115);
    assert_eq!(memory.load(0, RAM + 4, 4, 114), 115);
    assert_eq!(memory.shared_figures().bus.requests, 1);
}

#[test]
fn an_access_across_two_lines_reads_both() {
    let mut memory = memory(Write::Through);
    // The second line is requested a cycle later. It is ready in 116, when the second half of the first one is on the
    // wires.
    assert_eq!(memory.load(0, RAM + 30, 4, 100), 117);
    assert_eq!(memory.shared_figures().bus.requests, 2);
}

#[test]
fn simultaneous_requests_are_served_one_after_the_other() {
    let mut memory = memory(Write::Through);
    // Requests take one cycle each. Lines return at 16 bytes a cycle, so they take two cycles each.
    assert_eq!(memory.load(0, RAM, 4, 100), 115);
    // Its request waits a cycle. Its line, ready in 116, waits until the second half of the first line has passed in
    // 116.
    assert_eq!(memory.load(1, RAM + 0x1000, 4, 100), 117);
    let bus = memory.shared_figures().bus;
    assert_eq!((bus.requests, bus.request_cycles, bus.response_cycles, bus.waited), (2, 2, 4, 2));
}

#[test]
fn misses_beyond_the_outstanding_ones_wait() {
    let mut machine = machine(Write::Through);
    machine.l1d.as_mut().expect("a cache").misses = 1;
    let mut memory = MemoryModel::new(&machine);
    assert_eq!(memory.load(0, RAM, 4, 100), 115);
    assert_eq!(memory.load(0, RAM + 0x40, 4, 101), 115 + 14, "begins when the first line has arrived");
}

#[test]
fn a_store_that_writes_through_takes_the_line_from_the_others() {
    let mut memory = memory(Write::Through);
    memory.load(0, RAM, 4, 100);
    memory.load(1, RAM, 4, 200);
    assert_eq!(memory.store(0, RAM, 4, 300), 301, "on the bus in 300");
    assert_eq!(memory.hart_figures(1).l1d.invalidated, 1);
    assert_eq!(memory.load(0, RAM, 4, 400), 401, "who wrote it keeps it");
    assert_eq!(memory.load(1, RAM, 4, 500), 505, "the other hart reads it from level 2");
}

#[test]
fn stores_of_all_harts_share_the_bus() {
    let mut memory = memory(Write::Through);
    let done: Vec<u64> = (0..4).map(|number| memory.store(number % 2, RAM + 64 * number as u64, 8, 100)).collect();
    assert_eq!(done, [101, 102, 103, 104]);
}

#[test]
fn a_line_that_was_changed_is_written_back_when_another_hart_reads_it() {
    let mut memory = memory(Write::Back);
    assert_eq!(memory.store(0, RAM, 4, 100), 115 + 1, "the line is filled first");
    assert_eq!(memory.store(0, RAM + 4, 4, 200), 201, "it is alone there");
    assert_eq!(memory.shared_figures().bus.requests, 1);
    // Level 1, a request; the other hart's level 1, two cycles of the bus (level 2 has the line in the first); level 2.
    assert_eq!(memory.load(1, RAM, 4, 300), 300 + 1 + 1 + 4);
    assert_eq!(memory.hart_figures(0).l1d.written_back, 1);
    assert_eq!(memory.load(0, RAM, 4, 400), 401, "both have it now");
    // To change the line again, the other hart's copy must be invalidated.
    assert_eq!(memory.store(1, RAM, 4, 500), 501);
    assert_eq!(memory.hart_figures(0).l1d.invalidated, 1);
    assert_eq!(memory.store(1, RAM, 4, 600), 601);
    // A changed line that another hart changes goes to it by level 2.
    memory.store(0, RAM, 4, 700);
    assert_eq!(memory.hart_figures(1).l1d.written_back, 1);
}

#[test]
fn a_changed_line_that_has_to_leave_is_written_back() {
    let mut memory = memory(Write::Back);
    memory.store(0, RAM, 4, 100);
    // 16 KiB in two ways: lines 8 KiB apart share a set.
    memory.load(0, RAM + 0x2000, 4, 200);
    memory.load(0, RAM + 0x4000, 4, 300);
    assert_eq!(memory.hart_figures(0).l1d.written_back, 1);
    assert_eq!(memory.load(0, RAM + 0x2000, 4, 400), 401);
    assert_eq!(memory.load(0, RAM, 4, 500), 505, "in level 2 still");
}

/// Each store keeps the memory busy. One that misses brings no line, and no line is written back.
#[test]
fn a_level_2_that_writes_through_passes_stores_on() {
    for (write, ready) in [(Write::Back, 205), (Write::Through, 205 + 10)] {
        let mut machine = machine(Write::Through);
        (machine.l2.as_mut().expect("a cache").write, machine.region[1].busy) = (write, 200);
        let mut memory = MemoryModel::new(&machine);
        memory.store(0, RAM, 4, 0);
        assert_eq!(memory.load(0, RAM, 4, 200), ready, "{write:?}");
        memory.store(0, RAM, 4, 500);
        let free = memory.load(0, RAM + 0x1000, 4, 501);
        assert_eq!(free, if write == Write::Through { 500 + 4 + 200 + 10 } else { 501 + 15 }, "{write:?}");
    }
}

#[test]
fn an_atomic_operation_takes_the_line_from_all_others() {
    for write in [Write::Through, Write::Back] {
        let mut memory = memory(write);
        memory.load(0, RAM, 4, 100);
        memory.load(1, RAM, 4, 200);
        memory.atomic(1, RAM, 4, 300);
        assert_eq!(memory.hart_figures(0).l1d.invalidated, 1, "{write:?}");
        assert!(memory.load(0, RAM, 4, 400) > 401, "{write:?}");
    }
}

#[test]
fn tightly_coupled_memory_and_devices_pass_the_caches_by() {
    let mut machine = Machine::preset("fe310").expect("a preset");
    let flash = &mut machine.region[0];
    (flash.latency, flash.busy, flash.beat_cycles) = (30, 20, 0);
    let mut memory = MemoryModel::new(&machine);
    assert_eq!(memory.load(0, RAM, 4, 100), 101);
    assert_eq!(memory.store(0, RAM, 4, 100), 101);
    // Flash data are not cached, and each access keeps the flash busy.
    assert_eq!(memory.load(0, 0x2040_0000, 4, 200), 230);
    assert_eq!(memory.load(0, 0x2040_0000, 4, 201), 220 + 30);
    // A device.
    assert_eq!(memory.load(0, 0x1001_3000, 4, 300), 301);
}

/// Memory past the caches gives what the front end asks for once: a line of the instruction cache, otherwise 8 bytes or a
/// fetch.
#[test]
fn a_fetch_past_the_caches_takes_its_time_by_the_bytes() {
    for (line, fetch_bytes, words) in [(Some(32), 4, 8), (Some(8), 4, 2), (None, 4, 2), (None, 8, 2), (None, 16, 4)] {
        let mut machine = Machine::preset("fe310").expect("a preset");
        let flash = &mut machine.region[0];
        (flash.path, flash.latency, flash.busy, flash.beat_bytes, flash.beat_cycles) = (Path::Direct, 0, 0, 4, 3);
        machine.in_order.as_mut().expect("a pipeline").fetch_bytes = fetch_bytes;
        let cache = machine.l1i.take();
        machine.l1i = line.and_then(|line| cache.map(|cache| machine::Cache { line, ..cache }));
        let mut memory = MemoryModel::new(&machine);
        assert_eq!(memory.fetch(0, 0x2040_0000, 100), 100 + 3 * words, "{line:?}, {fetch_bytes}");
    }
}

/// The fields that docs/reference/machines.md gives for wait states without a cache: a fetch is of two words.
#[test]
fn wait_states_are_those_of_fetches_and_of_data() {
    for states in [1, 2, 5] {
        let mut machine = Machine { l1i: None, ..Machine::preset("fe310").expect("a preset") };
        let flash = &mut machine.region[0];
        (flash.path, flash.latency, flash.busy, flash.beat_bytes) = (Path::Direct, 2, 0, 4);
        flash.beat_cycles = states - 1;
        let mut memory = MemoryModel::new(&machine);
        assert_eq!(memory.fetch(0, 0x2040_0000, 100), 100 + 2 * states);
        assert_eq!(memory.load(0, 0x2040_0000, 4, 100), 100 + 1 + states);
    }
}

/// A read takes 32 serial clocks and 2 more for each byte: 96 for a line, as on a board. A serial clock is 8 cycles.
#[test]
fn a_serial_flash_takes_its_time_by_the_bytes() {
    const FLASH: u64 = 0x2040_0000;
    let machine = Machine::preset("fe310").expect("a preset");
    let line = u64::from(machine.l1i.as_ref().expect("a cache").line);
    let bytes = |bytes: u64| 32 * 8 + 2 * 8 * bytes;
    for size in [1_u8, 2, 4] {
        assert_eq!(MemoryModel::new(&machine).load(0, FLASH, size, 100), 100 + bytes(size.into()), "{size} bytes");
    }
    assert_eq!(MemoryModel::new(&machine).fetch(0, FLASH, 100), 100 + 1 + bytes(line));
    // The next access waits for this one.
    let mut memory = MemoryModel::new(&machine);
    memory.load(0, FLASH, 4, 100);
    assert_eq!(memory.load(0, FLASH + 4, 4, 101), 100 + 2 * bytes(4));
    // Cycles of the RTL of an E31 with memory that answers immediately.
    let mut memory = MemoryModel::new(&Machine::preset("e31").expect("a preset"));
    assert_eq!(memory.load(0, FLASH, 4, 100), 109);
    assert_eq!(memory.fetch(0, FLASH, 200), 248);
}
