//! Commands that are separate programs: they are found in the command's folder or in PATH and get all arguments. If one is missing,
//! a hint says how to install it.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Folder, install, run};

/// Installs the command in a folder without other programs.
fn alone(folder: &Folder) {
    fs::create_dir(folder.path("bin")).unwrap();
    fs::create_dir(folder.path("path")).unwrap();
    install(Path::new(crate::PROGRAM), &folder.path("bin/tress"));
}

#[test]
fn separate_programs_are_run() {
    let folder = Folder::new();
    alone(&folder);
    let path = format!("{}:/usr/bin:/bin", folder.path("path").display());
    let tress = |arguments: &[&str]| {
        let mut command = Command::new(folder.path("bin/tress"));
        let command = command.current_dir(folder.root()).env("PATH", &path).args(arguments);
        run(
            command
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped()),
            b"",
        )
    };
    for (verb, program) in [("bench", "lab"), ("study", "lab"), ("report", "lab"), ("simulate", "simulate")] {
        let told = tress(&[verb, "x"]).wrong_use(&format!("'tress {verb}' needs the program tress-{program}")).stderr;
        assert!(told.contains("hint: the package") && told.contains("make lab"), "{told}");
    }
    // In PATH: it gets the arguments unchanged, and its output, error and status are those of the command.
    let says = "echo \"$TRESS_COMMAND_VERSION $@\"; [ -x \"$TRESS_COMMAND\" ] && echo from tress >&2; exit 7";
    folder.script("path/tress-lab", says);
    let version = env!("CARGO_PKG_VERSION");
    for arguments in [&["bench", "--quick", "-h", "--", "^a"][..], &["study", "--help"], &["report", "-o", "-", "x"]] {
        let run = tress(arguments);
        assert_eq!(String::from_utf8(run.stdout).unwrap(), format!("{version} {}\n", arguments.join(" ")));
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(7), "from tress\n"));
    }
    // The command's folder comes before PATH. `tress-simulate` has no subcommand.
    folder.script("path/tress-simulate", "echo in PATH");
    folder.script("bin/tress-simulate", "echo beside \"$@\"");
    assert_eq!(tress(&["simulate", "--json", "p.elf"]).ok().stdout, b"beside --json p.elf\n");
    // The file exists but is not executable.
    fs::write(folder.path("bin/tress-lab"), "text").unwrap();
    tress(&["bench"]).failed("tress-lab");
}
