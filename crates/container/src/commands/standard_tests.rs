//! Standard input and output as source and sink: files with a position in the middle, files opened for appending, pipes, and terminals.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};

use super::fault_tests::{open as decrypt, plain, seal as encrypt};
use super::{Sink, Source};
#[cfg(unix)]
use crate::testing::faulty::Fault;
use crate::testing::faulty::Faulty;
use crate::{Error, ErrorKind};

fn file(bytes: &[u8], position: u64) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(position)).unwrap();
    file
}

fn whole(mut file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

fn sealed() -> Vec<u8> {
    let out = file(b"", 0);
    let system = Faulty::none().with_standard(Some(file(&plain(), 0)), Some(out.try_clone().unwrap()));
    encrypt(&system, &Source::Stdin, &Sink::Stdout).unwrap();
    whole(&out)
}

#[test]
fn files_are_read_and_written_from_their_position() {
    let input = file(&[b"read before".to_vec(), plain()].concat(), 11);
    let sealed = file(b"written before, and more", 14);
    let system = Faulty::none().with_standard(Some(input), Some(sealed.try_clone().unwrap()));
    encrypt(&system, &Source::Stdin, &Sink::Stdout).unwrap();
    assert!(whole(&sealed).starts_with(b"written before"));

    let mut sealed = sealed;
    sealed.seek(SeekFrom::Start(14)).unwrap();
    let output = file(b"12345", 5);
    let system = Faulty::none().with_standard(Some(sealed), Some(output.try_clone().unwrap()));
    decrypt(&system, &Source::Stdin, &Sink::Stdout).unwrap();
    assert!(whole(&output) == [b"12345".to_vec(), plain()].concat());
}

#[test]
fn a_file_at_its_end_is_an_empty_input() {
    let sealed = file(b"", 0);
    let system = Faulty::none().with_standard(Some(file(b"all read", 8)), Some(sealed.try_clone().unwrap()));
    encrypt(&system, &Source::Stdin, &Sink::Stdout).unwrap();
    assert_eq!(whole(&sealed).len(), 4096 + 56 + 16);
}

#[test]
fn an_appended_file_keeps_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, b"old lines\n").unwrap();
    // `>> log`: the position is 0 until the first write.
    let appended = File::options().append(true).open(&path).unwrap();
    let system = Faulty::none().with_standard(Some(file(&sealed(), 0)), Some(appended));
    decrypt(&system, &Source::Stdin, &Sink::Stdout).unwrap();
    assert!(fs::read(&path).unwrap() == [b"old lines\n".to_vec(), plain()].concat());

    // `tress encrypt < log >> log` would read what it writes.
    let [input, appended] = [File::open(&path).unwrap(), File::options().append(true).open(&path).unwrap()];
    let before = fs::read(&path).unwrap();
    let system = Faulty::none().with_standard(Some(input), Some(appended));
    assert_eq!(encrypt(&system, &Source::Stdin, &Sink::Stdout).unwrap_err().kind, ErrorKind::OutputIsInput);
    assert!(fs::read(&path).unwrap() == before);
}

#[cfg(unix)]
fn pipe() -> (File, File) {
    let (read, write) = std::io::pipe().unwrap();
    (std::os::fd::OwnedFd::from(read).into(), std::os::fd::OwnedFd::from(write).into())
}

/// Runs `command` between two pipes, and returns its output.
#[cfg(unix)]
fn through_pipes(
    input: &[u8],
    system: impl FnOnce(File, File) -> Faulty,
    command: impl FnOnce(&Faulty) -> Result<(), Error>,
) -> Vec<u8> {
    let ((stdin, mut feed), (mut drain, stdout)) = (pipe(), pipe());
    let mut output = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(move || feed.write_all(input).unwrap());
        scope.spawn(|| drain.read_to_end(&mut output).unwrap());
        let system = system(stdin, stdout);
        command(&system).unwrap();
    });
    output
}

#[cfg(unix)]
#[test]
fn pipes_round_trip_despite_signals_and_short_calls() {
    let restless =
        |period, fault| move |stdin, stdout| Faulty::every(period, fault).with_standard(Some(stdin), Some(stdout));
    for (period, fault) in [(u64::MAX, Fault::Signal), (2, Fault::Signal), (2, Fault::Short), (3, Fault::Short)] {
        let sealed =
            through_pipes(&plain(), restless(period, fault), |system| encrypt(system, &Source::Stdin, &Sink::Stdout));
        let opened =
            through_pipes(&sealed, restless(period, fault), |system| decrypt(system, &Source::Stdin, &Sink::Stdout));
        assert!(opened == plain(), "{period} {fault:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_text_and_nothing_else() {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let mut master = File::from(master);
    // Open all the time, so that the master can be read.
    let terminal = || {
        File::options()
            .read(true)
            .write(true)
            .custom_flags(rustix::fs::OFlags::NOCTTY.bits() as i32)
            .open(&name)
            .unwrap()
    };
    let held = terminal();

    let onto = |input: &[u8], seal: bool, sink: &Sink| {
        let system = Faulty::none().with_standard(Some(file(input, 0)), Some(terminal()));
        if seal { encrypt(&system, &Source::Stdin, sink) } else { decrypt(&system, &Source::Stdin, sink) }
    };
    let seal = |plain: &[u8]| {
        let out = file(b"", 0);
        let system = Faulty::none().with_standard(Some(file(plain, 0)), Some(out.try_clone().unwrap()));
        encrypt(&system, &Source::Stdin, &Sink::Stdout).unwrap();
        whole(&out)
    };
    for sink in [Sink::Stdout, Sink::Path { path: name.clone().into(), force: true }] {
        assert_eq!(onto(b"text", true, &sink).unwrap_err().kind, ErrorKind::BinaryToTerminal);
        let binary = [b"begins as text ".to_vec(), vec![0x1B, b'c']].concat();
        assert_eq!(onto(&seal(&binary), false, &sink).unwrap_err().kind, ErrorKind::BinaryToTerminal);
        onto(&seal("Gr\u{fc}\u{df}e".as_bytes()), false, &sink).unwrap();
        let mut shown = [0; 100];
        let bytes = master.read(&mut shown).unwrap();
        assert_eq!(&shown[..bytes], "Gr\u{fc}\u{df}e".as_bytes());
    }
    drop(held);
}
