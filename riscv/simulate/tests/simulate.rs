//! `tress simulate` as a script uses it: programs that end, and invalid programs, files and options, each with one line
//! that says what went wrong, where, and after how many instructions.

#[path = "../../sim/tests/common/mod.rs"]
pub(crate) mod programs;

use std::path::PathBuf;

use crate::common::{Folder, Run, kept};
use programs::{Code, elf_with_data, encode, words};
use serde_json::Value;
use tress_sim::Xlen;

pub(crate) const BASE: u64 = 0x8000_0000;
pub(crate) const KEY: u64 = BASE + 0x400;
const TOHOST: u64 = BASE + 0x700;
const XLEN: Xlen = Xlen::Rv32;

pub(crate) const NOP: u32 = 0x13;
pub(crate) const LOOP: u32 = 0x6f;
pub(crate) const WFI: u32 = 0x1050_0073;
pub(crate) const ECALL: u32 = 0x73;

/// Programs are entered at their function `start`.
impl Code {
    /// Loads an address of the program, by auipc.
    pub(crate) fn address(self, register: u32, address: u64) -> Code {
        let offset = (address - BASE) as i32 - 4 * self.words.len() as i32;
        self.word(0x17 | register << 7).i("addi", register, register, offset)
    }

    /// Prints by the UART at 0x1000_0000.
    fn print(self, text: &str) -> Code {
        let code = self.word(0x1000_0000 | 5 << 7 | 0x37);
        text.bytes().fold(code, |code, byte| code.i("addi", 6, 0, byte.into()).store("sb", 5, 6, 0))
    }

    pub(crate) fn exit(self, code: i32) -> Code {
        self.address(5, TOHOST).i("addi", 6, 0, code << 1 | 1).store("sw", 5, 6, 0).store("sw", 5, 0, 4).word(LOOP)
    }

    pub(crate) fn elf(&self) -> Vec<u8> {
        self.named("start")
    }

    fn named(&self, function: &str) -> Vec<u8> {
        let mut bytes = words(&self.words);
        bytes.resize((TOHOST - BASE) as usize + 16, 0);
        bytes[(KEY - BASE) as usize] = 7;
        let functions = [(function, BASE), ("tohost", TOHOST)];
        elf_with_data(XLEN, BASE, &bytes, &functions, &[("key", KEY, 16)])
    }
}

pub(crate) fn code() -> Code {
    Code::new(XLEN)
}

/// Runs a program, with these options.
pub(crate) fn simulate(folder: &Folder, program: &[u8], options: &[&str]) -> Run {
    folder.write("program.elf", program);
    folder.tress([options, &["program.elf"]].concat())
}

pub(crate) fn json(run: Run) -> Value {
    serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}

fn image(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../firmware/images").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_program_that_prints_and_ends() {
    let folder = Folder::empty();
    let program = code().i("slti", 0, 0, 3).print("hello\n").i("slti", 0, 0, 0).exit(0).elf();
    let run = simulate(&folder, &program, &[]).ok();
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.stderr, "");
    // 2 marks, 1 and twice 6 to print, 5 to exit.
    assert_eq!(text, "hello\ninstructions  20\n  region 3    14 instructions\n");
    // Keys that scripts rely on. The program's output goes to standard error.
    let run = simulate(&folder, &program, &["--json"]).ok();
    assert_eq!(run.stderr, "hello\n");
    let printed = run.stdout.clone();
    let report = json(run);
    let run = simulate(&folder, &program, &["--json=report.json"]).ok();
    assert_eq!((run.stdout, run.stderr.as_str()), (b"hello\n".to_vec(), ""));
    assert!(folder.read("report.json") == printed);
    simulate(&folder, &program, &["--json=report.json"]).failed("report.json");
    simulate(&folder, &program, &["--force", "--json=report.json"]).ok();
    simulate(&folder, &program, &["--force", "--json=program.elf"]).failed("program.elf");
    #[cfg(unix)]
    for options in [&["--json=link"][..], &["--force", "--json=link"]] {
        // The target of a link is written, whether it exists or not.
        let _ = std::os::unix::fs::symlink("target", folder.path("link"));
        simulate(&folder, &program, options).ok();
        assert!(folder.read("target") == printed && folder.path("link").is_symlink());
    }
    let keys = ["exit_code", "instructions", "cycles", "ipc", "harts", "regions"];
    assert!(keys.iter().all(|key| !report[key].is_null()), "{report}");
    assert_eq!((&report["exit_code"], &report["instructions"]), (&0.into(), &20.into()));
    assert_eq!(report["harts"][0]["instructions"], 20);
    assert_eq!(
        (&report["regions"][0]["name"], &report["regions"][0]["instructions"]),
        (&"region 3".into(), &14.into())
    );
    assert!(report["secrets"].is_null());
    // A program from standard input.
    let run = folder.tress_with(["-"], &program).ok();
    assert!(run.stdout.starts_with(b"hello\n"));
    if cfg!(target_os = "linux") {
        let full = std::fs::File::create("/dev/full").unwrap();
        let run = crate::common::run(folder.command(["program.elf"]).stdout(full), &[]).failed("console: ");
        assert!(!run.stderr.contains("os error"), "{}", run.stderr);
    }
    // A failure of the program itself.
    let run = simulate(&folder, &code().exit(7).elf(), &[]).failed("program.elf: the program's exit code is 7");
    assert!(run.stdout.starts_with(b"instructions"));
}

#[test]
fn exit_codes_as_exit_status() {
    let folder = Folder::empty();
    for (exit_code, status) in [(0, 0), (1, 1), (7, 7), (255, 255), (256, 1), (300, 44)] {
        let program = code().exit(exit_code).elf();
        let run = simulate(&folder, &program, &["--exit-code"]);
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(status), ""));
        assert_eq!(simulate(&folder, &program, &[]).status.code(), Some(i32::from(exit_code != 0)));
    }
    let leaks = code().address(10, KEY).i("lbu", 11, 10, 0).word(11 << 15 | 1 << 12 | 8 << 7 | 0x63).word(NOP).exit(0);
    simulate(&folder, &leaks.elf(), &["--exit-code", "--secret", "key"]).failed("secrets leak");
}

/// `start` calls `outer` twice. That calls `inner`, which jumps to `tail`, which traps and returns to `outer`.
#[test]
fn profiles() {
    let folder = Folder::empty();
    let jal = |rd: u32, offset: i32| encode::jal(rd, offset);
    let at = |code: Code, offset: usize| (code.words.len()..offset / 4).fold(code, |code, _| code.word(NOP));
    let start = code().address(5, BASE + 0x100).word(0x305 << 20 | 5 << 15 | 1 << 12 | 0x73);
    let code = at(start.word(jal(1, 0x40 - 12)).word(jal(1, 0x40 - 16)).exit(0), 0x40);
    let code = at(code.i("addi", 8, 1, 0).word(jal(1, 0x80 - 0x44)).word(8 << 15 | 0x67), 0x80);
    let code = at(code.word(NOP).word(jal(0, 0xc0 - 0x84)), 0xc0).word(ECALL).word(0x8067);
    // The handler: csrr x6, mepc; addi x6, x6, 4; csrw mepc, x6; mret.
    let handler = [0x3410_2373, 0x0043_0313, 0x3413_1073, 0x3020_0073];
    let mut bytes = words(&handler.into_iter().fold(at(code, 0x100), Code::word).words);
    bytes.resize((TOHOST - BASE) as usize + 16, 0);
    let functions = [("start", 0), ("outer", 0x40), ("inner", 0x80), ("tail", 0xc0), ("handler", 0x100)];
    let functions = functions.map(|(name, offset)| (name, BASE + offset));
    let symbols = [&functions[..], &[("tohost", TOHOST)]].concat();
    let program = elf_with_data(XLEN, BASE, &bytes, &symbols, &[]);
    let options = ["--machine", "raptor", "--profile=folded.txt", "--json"];
    let report = json(simulate(&folder, &program, &options).ok());
    let function = |name: &str| {
        let profile = report["profile"].as_array().unwrap();
        profile.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("{report}"))
    };
    let number = |name: &str, field: &str| function(name)[field].as_u64().unwrap();
    let figures = |name| (number(name, "calls"), number(name, "instructions"));
    assert_eq!(["start", "outer", "inner", "tail", "handler"].map(figures), [(0, 10), (2, 6), (2, 4), (0, 2), (2, 8)]);
    let folded = String::from_utf8(folder.read("folded.txt")).unwrap();
    let mut all = 0;
    for (stack, name) in [
        ("start", "start"),
        ("start;outer", "outer"),
        ("start;outer;inner", "inner"),
        ("start;outer;tail", "tail"),
        ("start;outer;tail;handler", "handler"),
    ] {
        let own = number(name, "cycles");
        assert!(folded.lines().any(|line| line == format!("{stack} {own}")), "{stack} {own}: {folded}");
        all += own;
        assert!(function(name)["slots"]["front_end"].is_u64());
    }
    assert_eq!((number("start", "cycles_with_callees"), folded.lines().count()), (all, 5));
    let callees = ["inner", "tail", "handler"].map(|name| number(name, "cycles")).iter().sum::<u64>();
    assert_eq!(number("outer", "cycles_with_callees"), number("outer", "cycles") + callees);
    simulate(&folder, &program, &options).failed("folded.txt");
    let run = simulate(&folder, &program, &["--machine", "raptor", "--profile"]).ok();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("  2  outer: retired ") && !text.contains("functions"), "{text}");
    simulate(&folder, &program, &["--profile"]).wrong_use("--machine");
    folder.tress(["--machine", "-", "-"]).wrong_use("both the machine and the program");
    // A program that is stopped.
    let run = simulate(&folder, &program, &["--machine", "raptor", "--profile", "--limit", "20"]).failed("limit of 20");
    assert!(String::from_utf8(run.stdout).unwrap().contains("  outer: retired "));
}

#[test]
fn machines_with_timing() {
    let folder = Folder::empty();
    let program = code().print("x").exit(0).elf();
    for options in [
        &["--machine", "fe310"][..],
        &["--machine", "e31"],
        &["--machine", "raptor", "--issue", "2"],
        &["--machine", "raptor", "--unlimited"],
    ] {
        let program = if options[1] == "raptor" { Some(&program) } else { None };
        let report = match program {
            Some(program) => json(simulate(&folder, program, &[options, &["--json"]].concat()).ok()),
            None => json(folder.tress([options, &["--json", &image("kernels-flash.elf")]].concat()).ok()),
        };
        assert!(
            report["cycles"].as_u64().unwrap() > 0 && report["slots"]["retired"] == report["instructions"],
            "{report}"
        );
    }
    // A trace of a window.
    let run = simulate(&folder, &program, &["--machine", "raptor", "--trace", "trace.json", "--cycles", "0..50"]).ok();
    assert_eq!(run.stderr, "");
    let trace: Value = serde_json::from_slice(&folder.read("trace.json")).unwrap();
    assert!(trace["traceEvents"].as_array().or(trace.as_array()).is_some_and(|events| !events.is_empty()));
    // A window after the end of the program.
    let late = ["--machine", "raptor", "--force", "--trace", "trace.json", "--cycles", "1000..1200"];
    let run = simulate(&folder, &program, &late).ok();
    let last = run.stderr.trim_end().rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    assert!(run.stderr.starts_with("tress: note: trace.json") && run.stderr.contains("1000..1200"), "{}", run.stderr);
    assert!(last.is_some_and(|last| (10..1000).contains(&last)), "{}", run.stderr);
    // Several harts, the first of which ends the program.
    let report = json(simulate(&folder, &program, &["--machine", "raptor", "--harts", "3", "--json"]).ok());
    assert_eq!(report["harts"].as_array().unwrap().len(), 3);
}

/// `sim/tests/loader.rs` has every kind of error.
#[test]
fn files_that_are_no_programs() {
    let folder = Folder::empty();
    let run = simulate(&folder, b"#!/bin/sh\n", &[]).failed("program.elf");
    run.one_line("not an ELF file");
    assert!(run.stdout.is_empty());
    // A program of another width than the machine.
    let wide = programs::elf(Xlen::Rv64, BASE, &words(&[NOP]), &[]);
    simulate(&folder, &wide, &["--machine", "fe310"]).failed("RV64");
    // A program linked for RAM does not fit the flash and 16 KiB of a microcontroller.
    folder.tress(["--machine", "fe310", &image("kernels-ram.elf")]).failed("outside the machine's memory");
    folder.tress(["absent.elf"]).failed("absent.elf");
    folder.tress(["."]).failed(".");
}

#[test]
fn programs_that_fail() {
    let folder = Folder::empty();
    // A function that calls itself: sw ra, addi sp, jal ra.
    let endless_calls = code().address(2, BASE).i("addi", 2, 2, -16).store("sw", 2, 1, 12).word(0xff9f_f0ef);
    let handler = |word: u32| {
        // csrw mtvec, x5 with the address of the word after the ecall.
        code().address(5, BASE + 16).word(0x305 << 20 | 5 << 15 | 1 << 12 | 0x73).word(ECALL).word(word)
    };
    for (program, text) in [
        (code().word(NOP).word(0), "at 0x80000004 (start+0x4) on hart 0, after 1 instruction\n"),
        (code().word(ECALL), "at 0x80000000 (start) on hart 0, after 0 instructions\n"),
        (code().store("sw", 0, 0, 64), "store to 0x40"),
        (code().i("lw", 5, 0, 64), "load from 0x40"),
        (code().word(64 << 20 | 0x67), "fetch from 0x40"),
        (endless_calls, "stack pointer 0x7ffffff0"),
        (handler(0), "handler never gets past it; at 0x80000010 (start+0x10) on hart 0, after 3 instructions\n"),
        (code().word(WFI), "deadlock"),
    ] {
        let run = simulate(&folder, &program.elf(), &["--limit", "1000000"]).failed("program.elf");
        assert!(run.stderr.contains(text), "{text}: {}", run.stderr);
        assert!(run.stdout.is_empty());
    }
    // The same error with a timing model.
    let run =
        simulate(&folder, &code().word(NOP).word(0).elf(), &["--machine", "raptor"]).failed("illegal instruction");
    assert!(run.stderr.contains("(start+0x4) on hart 0, after 1 instruction\n"), "{}", run.stderr);
    // Control characters in a program's names do not reach the terminal.
    let run = simulate(&folder, &code().word(0).named("\x1b[2Jstart"), &[]).failed("program.elf");
    assert!(run.stderr.contains("\\u{1b}"), "{}", run.stderr);
}

/// Echoes its input, in upper case if it reads character by character.
#[test]
fn standard_input() {
    let folder = Folder::empty();
    let store = || code().address(8, KEY);
    // SYS_READC, SYS_WRITEC, and both again.
    let loops = store().semihosting(7).i("addi", 10, 10, -32).store("sb", 8, 10, 0).i("addi", 11, 8, 0);
    let loops = loops.semihosting(3);
    let back = -4 * (loops.words.len() as i32 - 2);
    let jump =
        (back as u32 >> 12 & 0xff) << 12 | (back as u32 >> 1 & 0x3ff) << 21 | (back as u32 >> 11 & 1) << 20 | 1 << 31;
    let loops = loops.word(jump | 0x6f).elf();
    folder.write("program.elf", &loops);
    // SYS_READC returns -1 at the end. This program does not look for that, and ends all the same.
    let run = folder.tress_with(["program.elf"], b"abc").failed("read beyond the end of the input");
    assert!(run.stdout.starts_with(b"ABC\xdf\xdf"));
    // If the program comes from standard input, its input is empty.
    let run = folder.tress_with(["-"], &loops).failed("read beyond the end of the input");
    assert!(run.stdout.starts_with(b"\xdf\xdf"));
}

/// A program that opens a file, writes its command line to it, and ends with the number of bytes that were not written.
#[test]
fn files_and_arguments_by_semihosting() {
    const BLOCK: u64 = KEY + 0x40;
    const NAME: u64 = KEY + 0x80;
    const LINE: u64 = KEY + 0xc0;
    let folder = Folder::empty();
    let run = |name: &str, arguments: &[&str]| {
        // GET_CMDLINE, OPEN, WRITE.
        let code = code().address(11, BLOCK).semihosting(0x15).address(11, BLOCK + 8).semihosting(1);
        let code = code.address(11, BLOCK + 20).store("sw", 11, 10, 0).semihosting(5).i("slli", 10, 10, 1);
        let code = code.i("ori", 6, 10, 1).address(5, TOHOST).store("sw", 5, 6, 0).store("sw", 5, 0, 4).word(LOOP);
        let blocks = [LINE, 64, NAME, if name == ":tt" { 8 } else { 4 }, name.len() as u64, 0, LINE, 14];
        let blocks = words(&blocks.map(|word| word as u32));
        let mut file = code.elf();
        for (at, bytes) in [(BLOCK, blocks.as_slice()), (NAME, name.as_bytes())] {
            // The segment is at 0x1000 of the file.
            file[0x1000 + (at - BASE) as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        folder.write("program.elf", &file);
        folder.tress(arguments)
    };
    std::fs::create_dir(folder.path("data")).unwrap();
    run("out", &["--files", "data", "program.elf", "--", "-a"]).ok();
    assert_eq!(folder.read("data/out"), b"program.elf -a");
    // The folder is the limit, and without one there are no files. The features file is not written.
    for name in ["../out", "/out", ".", ":semihosting-features"] {
        run(name, &["--files", "data", "program.elf"]).failed("the program's exit code is 14");
    }
    assert!(!folder.exists("data/:semihosting-features"));
    run("out", &["program.elf"]).failed("the program's exit code is 14");
    assert_eq!(folder.names(), ["data", "program.elf"]);
    // Standard error.
    assert_eq!(run(":tt", &["program.elf", "--", "-a"]).ok().stderr, "program.elf -a");
    folder.tress(["program.elf", "x"]).wrong_use("follow --");
    folder.tress(["--files", "absent", "program.elf"]).failed("absent");
}

/// A program that prints its argument by Linux's `write`, and ends with the number of bytes.
#[test]
fn system_calls_of_linux() {
    let folder = Folder::empty();
    let print = code().i("lw", 11, 2, 8).i("addi", 10, 0, 1).i("addi", 12, 0, 3).i("addi", 17, 0, 64).word(ECALL);
    let program = print.i("addi", 17, 0, 93).word(ECALL).elf();
    folder.write("program.elf", &program);
    for options in
        [&[][..], &["--machine", "raptor", "--profile"], &["--machine", "raptor", "--unlimited", "--harts=2"]]
    {
        let run = folder.tress([&["--exit-code", "--ecall", "linux"], options, &["program.elf", "--", "a b"]].concat());
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(3), ""));
        assert!(run.stdout.starts_with(b"a b"));
    }
    let run = simulate(&folder, &code().word(ECALL).elf(), &[]).failed("ecall without an operating system");
    assert!(run.stderr.contains("hint: --ecall linux"), "{}", run.stderr);
    simulate(&folder, &program, &["--ecall", "windows"]).wrong_use("--ecall");
    // newlib's programs are linked at 0x1_0000.
    let mut low = code().i("addi", 17, 0, 93).word(ECALL).elf();
    for at in [24, 60, 64] {
        low[at..at + 4].copy_from_slice(&0x1_0000_u32.to_le_bytes());
    }
    simulate(&folder, &low, &["--ecall", "linux"]).ok();
    simulate(&folder, &low, &[]).failed("outside the machine's memory");
}

#[test]
fn endless_loops() {
    let folder = Folder::empty();
    let program = code().word(NOP).word(LOOP).elf();
    for options in [&[][..], &["--machine", "raptor"]] {
        let run = simulate(&folder, &program, &[&["--limit", "3000"], options].concat());
        let run = run.failed("limit of 3000 instructions reached; at 0x80000004 (start+0x4) on hart 0, after 3000");
        assert!(run.stdout.is_empty());
    }
    // Output before the limit is printed.
    let run = simulate(&folder, &code().print("so far").word(LOOP).elf(), &["--limit", "100"]).failed("limit");
    assert_eq!(run.stdout, b"so far");
}

/// Without a limit a signal stops the program, and the error contains the place.
#[cfg(unix)]
#[test]
fn a_signal_says_where_an_endless_loop_is() {
    use std::io::Read as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use crate::common::without_note;

    // If the tests run in the background, signals may be ignored, and children inherit that.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let always = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(signal, always).unwrap();
    }
    let folder = Folder::empty();
    // Three instructions print a byte, after which the program loops.
    folder.write("program.elf", code().print("!").word(LOOP).elf());
    for (options, signal, number) in [(&[][..], "INT", 2), (&["--machine", "raptor"], "TERM", 15)] {
        let mut child = folder.command([options, &["program.elf"]].concat()).spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let status = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(status.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(number));
        let stderr = without_note(&String::from_utf8(output.stderr).unwrap());
        let run = Run { status: output.status, stdout: output.stdout, stderr };
        run.one_line("program.elf: interrupted; at 0x8000000c (start+0xc) on hart 0, after ");
        assert!(run.stderr.contains("hint: --limit"), "{}", run.stderr);
    }
}

#[test]
fn machine_files() {
    let folder = Folder::empty();
    folder.write("program.elf", code().exit(0).elf());
    let good = include_str!("small.toml");
    let run = |text: &str| {
        folder.write("machine.toml", text);
        folder.tress(["--machine", "machine.toml", "program.elf"])
    };
    let said = run(good);
    for (from, to, field) in [
        ("issue = 2", "issue = 0", "issue"),
        ("issue = 2", "issue = 65", "issue"),
        ("issue = 2", "issue = \"two\"", "issue"),
        ("issue = 2", "issues = 2", "issues"),
        ("reorder_buffer = 16", "reorder_buffer = 0", "reorder_buffer"),
        ("forward = 1", "forward = -1", "forward"),
        ("size = 0x10000", "size = 100", "memory"),
        ("name = \"ram\"", "", "name"),
        ("name = \"small\"", "name = ", "machine.toml"),
    ] {
        assert!(good.contains(from));
        run(&good.replacen(from, to, 1)).failed(field).one_line("machine.toml");
    }
    said.ok();
    folder.write("machine.toml", [0xff, 0xfe]);
    folder.tress(["--machine", "machine.toml", "program.elf"]).failed("not a text file");
    let run = folder.tress(["--machine", "raptr", "program.elf"]).failed("raptr");
    assert!(run.stderr.contains("fe310, raptor"), "{}", run.stderr);
}

#[test]
fn usage_errors() {
    let folder = Folder::empty();
    folder.write("program.elf", code().exit(0).elf());
    for (options, text) in [
        (&["--issue", "4"][..], "--machine"),
        (&["--machine", "raptor", "--issue", "0"], "--issue"),
        (&["--machine", "fe310", "--issue", "4"], "issue"),
        (&["--machine", "raptor", "--issue", "4", "--unlimited"], "--unlimited"),
        (&["--harts", "0"], "--harts"),
        (&["--harts", "65"], "--harts"),
        (&["--limit", "0"], "--limit"),
        (&["--limit", "many"], "--limit"),
        (&["--trace", "t.json"], "--machine"),
        (&["--machine", "raptor", "--trace", "-"], "standard output"),
        (&["--machine", "raptor", "--trace", "t.json", "--unlimited"], "--unlimited"),
        (&["--machine", "raptor", "--trace", "t.json", "--cycles", "9..3"], "--cycles"),
        (&["--secret", ""], "--secret"),
        (&["--secret", "0x80001000"], "--secret"),
        (&["--secret", "key,key+none"], "--secret"),
        (&["--variable", "multiply"], "--secret"),
        (&["--secret", "key", "--variable", "divide"], "--variable"),
        (&["another.elf"], "program.elf"),
    ] {
        folder.tress([options, &["program.elf"]].concat()).wrong_use(text);
    }
    folder.tress([""; 0]).wrong_use("PROGRAM.elf");
    assert_eq!(folder.names(), ["program.elf"]);
}

/// Outputs that cannot be written are refused before the run, which would end with the limit.
#[test]
fn outputs_are_tried_before_the_run() {
    let folder = Folder::empty();
    folder.write("program.elf", code().word(LOOP).elf());
    let run =
        |options: &[&str]| folder.tress([&["--machine", "fe310", "--limit", "10000", "program.elf"], options].concat());
    run(&[]).failed("10000");
    for output in ["--profile=none/out", "--json=none/out", "--trace=none/out"] {
        run(&[output]).failed("none/out: ");
    }
    run(&["--profile=."]).failed(".: ");
    run(&["--profile=./out", "--json=out"]).wrong_use("same file");
    assert_eq!(folder.names(), ["program.elf"]);
}

#[test]
fn secrets() {
    let folder = Folder::empty();
    let leaks =
        code().address(10, KEY).i("lbu", 11, 10, 0).word(11 << 15 | 1 << 12 | 8 << 7 | 0x63).word(NOP).exit(0).elf();
    let clean = code().address(10, KEY).i("lbu", 11, 10, 0).i("xori", 11, 11, 1).exit(0).elf();
    let run = simulate(&folder, &leaks, &["--secret", "key"]).failed("program.elf: secrets leak in one place");
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("key: 16 bytes at 0x80000400, loaded once\n"), "{text}");
    assert!(text.contains("leak          branch on a secret at 0x8000000c (start+0xc), once: key\n"), "{text}");
    let report = json(simulate(&folder, &leaks, &["--secret", "0x80000400+1", "--json"]));
    let finding = &report["secrets"]["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["address"], &finding["count"]),
        (&"branch".into(), &0x8000_000c_u64.into(), &1.into())
    );
    assert_eq!(finding["secrets"], serde_json::json!(["0x80000400+1"]));
    // A byte that is never loaded, and code that does not leak.
    let run = simulate(&folder, &leaks, &["--secret", "0x80000401+1"]).ok();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("not tested\nleaks         none\n"), "{text}");
    simulate(&folder, &clean, &["--secret", "key", "--machine", "raptor"]).ok();
    simulate(&folder, &leaks, &["--secret", "marked"]).ok();
    // A program that never ends: the findings up to the limit are reported.
    let endless =
        code().address(10, KEY).i("lbu", 11, 10, 0).word(11 << 15 | 1 << 12 | 8 << 7 | 0x63).word(NOP).word(LOOP).elf();
    let run = simulate(&folder, &endless, &["--secret", "key", "--limit", "100"]).failed("limit of 100 instructions");
    assert!(String::from_utf8(run.stdout).unwrap().contains("branch on a secret"));
    let report = json(simulate(&folder, &endless, &["--secret", "key", "--limit", "100", "--json"]));
    assert_eq!(report["secrets"]["findings"].as_array().unwrap().len(), 1);
    // Secrets that do not exist.
    for (secret, text) in [
        ("kez", "symbol \"kez\""),
        ("start+4", "symbol \"start\""),
        ("0x10+4", "0x10 to 0x14"),
        ("key+0x7fffffff", "outside the machine's memory"),
    ] {
        let run = simulate(&folder, &leaks, &["--secret", secret]).failed("program.elf");
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
    let many: Vec<String> = (0..16).map(|at| format!("{:#x}+1", KEY + at)).collect();
    simulate(&folder, &leaks, &["--secret", &many.join(",")]).failed("at most 15");
}

#[cfg(target_os = "linux")]
#[test]
fn no_failure_simulates_another_program_or_machine() {
    let files =
        [("machine.toml", "riscv/sim/src/machine/presets/fe310.toml"), ("node.elf", "riscv/firmware/images/node.elf")];
    crate::common::faults::says_the_same(&files, &["--json", "--machine", "machine.toml", "node.elf"], 25);
}

#[test]
fn json_of_every_command() {
    kept::same_shapes(&kept::fixtures(), |word| word == "simulate");
}

#[test]
fn manual_page_and_completions_are_printed() {
    let folder = Folder::empty();
    assert!(folder.tress(["--man"]).ok().stdout.starts_with(b".ie"));
    assert!(String::from_utf8(folder.tress(["--completions", "bash"]).ok().stdout).unwrap().contains("--machine"));
    folder.tress(["--man", "program.elf"]).wrong_use("--man");
}

#[test]
fn a_printed_machine_is_the_built_in_one() {
    let (folder, program) = (Folder::empty(), code().exit(0).elf());
    for machine in ["e31", "fe310", "raptor"] {
        folder.write("own.toml", &folder.tress(["--print-machine", machine]).ok().stdout);
        let run = |machine| json(simulate(&folder, &program, &["--json", "--machine", machine]).ok());
        assert_eq!(run("own.toml"), run(machine));
    }
    folder.tress(["--print-machine", "e32"]).wrong_use("no built-in machine \"e32\"");
}

#[test]
fn no_secret_key_is_repeated() {
    let run = Folder::empty().tress(["AGE-SECRET-KEY-1QQQQ"]).failed("AGE-SECRET-KEY-...");
    assert!(!run.stderr.contains("1QQQQ"), "{}", run.stderr);
}
