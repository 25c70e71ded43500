//! `--gdb` with gdb itself, and with clients that speak another protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStderr, Command};

use crate::common::{Folder, Run};
use crate::simulate::programs::Code;
use crate::simulate::programs::encode::{branch, jal};
use crate::simulate::{BASE, ECALL, KEY, LOOP, NOP, WFI, code, json, simulate};

/// A program that waits for a debugger, and its address.
struct Waiting {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

impl Waiting {
    fn start(folder: &Folder, program: &Code, options: &[&str]) -> Waiting {
        folder.write("program.elf", program.elf());
        let mut child = folder.command([options, &["--gdb=0", "program.elf"]].concat()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("tress: note: waiting for a debugger on ").expect(&line).to_owned();
        Waiting { child, stderr, address }
    }

    fn end(mut self) -> Run {
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Run { status: output.status, stdout: output.stdout, stderr }
    }
}

/// What gdb prints for these commands.
fn gdb(folder: &Folder, waiting: &Waiting, commands: &[&str]) -> String {
    let mut gdb = Command::new("sh");
    gdb.args(["-c", "exec gdb-multiarch \"$@\" 2>&1", "sh", "-nx", "-batch"]);
    // gdb gives up after two seconds, which is little on a busy machine.
    gdb.args(["-ex", "set remotetimeout 600", "-ex", "set tcp connect-timeout 600"]);
    gdb.args(["-ex", &format!("target remote {}", waiting.address)]);
    gdb.args(commands.iter().flat_map(|command| ["-ex", command])).arg(folder.path("program.elf"));
    let output = gdb.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let missing = "gdb-multiarch is in Debian's package of this name: tools/setup test installs it";
    assert_ne!(output.status.code(), Some(127), "{printed}; {missing}");
    printed
}

#[test]
fn stops_registers_and_memory() {
    let folder = Folder::empty();
    let program = code().address(10, KEY).i("lbu", 11, 10, 0).word(NOP).i("addi", 11, 11, 1).store("sb", 10, 11, 1);
    // Time for the second hart to come as far.
    let program = (0..100).fold(program, |program, _| program.word(NOP)).exit(0);
    let (of_one, of_two) = include_str!("gdb.txt").split_once("\n\n").unwrap();
    for (options, harts) in [(&["--json"][..], ""), (&["--machine", "raptor", "--harts", "2", "--json"], of_two)] {
        let waiting = Waiting::start(&folder, &program, options);
        let lines = of_one.lines().skip(1).chain(harts.lines()).filter(|line| !line.starts_with('#'));
        let all = lines.chain(["delete", "continue => [Inferior 1 (process 1) exited normally]"]);
        let all: Vec<(&str, &str)> = all.map(|line| line.split_once(" => ").unwrap_or((line, ""))).collect();
        // Each answer begins on its own line, after the command.
        let mut asked = vec!["set confirm off".to_owned()];
        asked.extend(all.iter().flat_map(|(command, _)| [format!("echo \\n# {command}\\n"), (*command).to_owned()]));
        let printed = gdb(&folder, &waiting, &asked.iter().map(String::as_str).collect::<Vec<_>>());
        for (command, answer) in all {
            let said = printed.split("\n# ").filter_map(|said| said.split_once('\n'));
            assert!(
                said.clone().any(|(asked, said)| asked == command && said.contains(answer)),
                "{command}: {printed}"
            );
        }
        // Stops cost no cycles.
        let (debugged, alone) = (json(waiting.end().ok()), json(simulate(&folder, &program.elf(), options).ok()));
        assert_eq!(debugged, alone);
    }
}

#[test]
fn a_program_that_fails() {
    let folder = Folder::empty();
    for (word, signal, error) in [
        (0, "SIGILL", "illegal instruction"),
        (ECALL, "SIGSYS", "ecall"),
        (0x0010_0073, "SIGTRAP", "ebreak"),
        (3, "SIGSEGV", "load from 0x0"),
    ] {
        let waiting = Waiting::start(&folder, &code().word(NOP).word(word), &[]);
        let printed = gdb(&folder, &waiting, &["continue", "continue", "output/x $pc"]);
        assert!(printed.matches(&format!("received signal {signal}")).count() == 2, "{printed}");
        assert!(printed.contains("\n0x80000004"), "{printed}");
        waiting.end().failed(error);
    }
}

fn packet(text: &str) -> Vec<u8> {
    format!("${text}#{:02x}", text.bytes().fold(0, u8::wrapping_add)).into_bytes()
}

#[test]
fn clients_that_are_wrong_or_hostile() {
    let folder = Folder::empty();
    let long = packet(&"m".repeat(10_000));
    for (sent, text) in [
        (&b"+"[..], "it has closed the connection"),
        (b"+-", "nack"),
        (b"+$?#00", "Checksum"),
        (&long, "oversized packet"),
        (&packet("vCont;x:1"), "debugger: "),
        (&packet("k"), "it has ended the program"),
        (&[packet("vCont;c"), vec![3]].concat(), "it has closed the connection"),
    ] {
        let waiting = Waiting::start(&folder, &code().word(LOOP), &[]);
        let mut stream = TcpStream::connect(&waiting.address).unwrap();
        stream.write_all(sent).unwrap();
        // It may be reset already.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
        waiting.end().failed("program.elf: debugger: ").one_line(text);
    }
    let waiting = Waiting::start(&folder, &code().exit(0), &[]);
    let port = waiting.address.rsplit(':').next().unwrap();
    folder.tress([&format!("--gdb={port}"), "program.elf"]).failed(&waiting.address);
    for other in [&b""[..], b"GET / HTTP/1.0\r\n\r\n$D#44"] {
        let mut stream = TcpStream::connect(&waiting.address).unwrap();
        stream.write_all(other).unwrap();
        // The connection is closed, or reset because of unread bytes.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    // Clients that say nothing hold up no other, however many there are.
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(&waiting.address).unwrap()).collect();
    let mut stream = TcpStream::connect(&waiting.address).unwrap();
    stream.write_all(&packet("D")).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    waiting.end().ok();
    drop(silent);
}

/// Sends a packet, and receives the answer.
fn answer(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(&packet(text)).unwrap();
    let mut answer = Vec::new();
    while answer.iter().rposition(|byte| *byte == b'#').is_none_or(|end| end + 3 > answer.len()) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.extend(byte);
    }
    stream.write_all(b"+").unwrap();
    String::from_utf8(answer).unwrap()
}

/// Hart 1 sleeps, and hart 0 counts, then waits for a word that hart 1 stores from 0x80000018 on.
#[test]
fn a_hart_that_sleeps_jumps() {
    let folder = Folder::empty();
    let program = code().address(10, KEY).csrr(6, 0xf14).word(branch(0, 6, 0, 20));
    let program = program.word(WFI).word(jal(0, -4)).store("sw", 10, 10, 4).word(LOOP);
    let program = program.i("addi", 8, 0, 1000).i("addi", 8, 8, -1).word(branch(1, 8, 0, -4));
    let program = program.i("lw", 7, 10, 4).word(branch(0, 7, 0, -4)).exit(0);
    for options in [&[][..], &["--machine", "raptor"], &["--machine", "raptor", "--unlimited"]] {
        let options = [options, &["--harts", "2", "--limit", "100000"]].concat();
        let waiting = Waiting::start(&folder, &program, &options);
        let mut stream = TcpStream::connect(&waiting.address).unwrap();
        for (packet, expected) in [
            ("?", "05"),
            ("Z0,8000002c,4", "$OK"),
            ("vCont;c", "$T05"),
            ("z0,8000002c,4", "$OK"),
            ("Hg2", "$OK"),
            ("P20=18000080", "$OK"),
            ("vCont;c", "$W00"),
        ] {
            let answer = answer(&mut stream, packet);
            assert!(answer.contains(expected), "{options:?}, {packet}: {answer}");
        }
        waiting.end().ok();
    }
}

/// The instructions that leak have breakpoints: a branch, and a load that traps.
#[test]
fn breakpoints_hide_no_leak() {
    let folder = Folder::empty();
    let program = code().address(5, BASE + 0x28).word(0x305 << 20 | 5 << 15 | 1 << 12 | 0x73).address(10, KEY);
    let program = program.i("lbu", 11, 10, 0).word(11 << 15 | 1 << 12 | 8 << 7 | 0x63).word(NOP);
    let program = program.i("lw", 12, 11, 4).word(NOP).exit(0);
    let waiting = Waiting::start(&folder, &program, &["--secret", "key", "--json"]);
    // gdb itself removes a breakpoint to continue from it. Other debuggers do not.
    let mut stream = TcpStream::connect(&waiting.address).unwrap();
    let mut ask = |text: &str| answer(&mut stream, text);
    ask("?");
    for offset in [0x14, 0x18, 0x20] {
        ask(&format!("Z0,{:x},4", BASE + offset));
    }
    for _ in 0..3 {
        assert!(ask("vCont;c").contains("$T05"));
    }
    assert!(ask("vCont;c").contains("$W00"));
    let report = json(waiting.end().failed("secrets leak in 2 places"));
    let kinds: Vec<_> = report["secrets"]["findings"].as_array().unwrap().iter().map(|found| &found["kind"]).collect();
    assert_eq!(kinds, ["branch", "address"]);
}
