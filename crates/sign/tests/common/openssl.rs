//! The `openssl` command, with a temporary folder.

use std::path::PathBuf;
use std::process::Command;

pub struct Openssl {
    folder: tempfile::TempDir,
}

/// Runs `test` with OpenSSL. If it is not installed, prints a notice, or fails under CI.
pub fn with(test: impl FnOnce(&Openssl)) {
    if Command::new("openssl").arg("version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing is skipped: there is no openssl");
        eprintln!("\n*** SKIPPED: there is no openssl ***");
        return;
    }
    test(&Openssl { folder: tempfile::tempdir().unwrap() });
}

impl Openssl {
    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_string()
    }

    /// Writes a file with this content.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(PathBuf::from(self.path(name))).unwrap()
    }

    /// Runs a command that must succeed, and returns its output, on both streams.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> String {
        let (succeeded, said) = self.try_run(arguments);
        assert!(succeeded, "openssl {arguments:?}: {said}");
        said
    }

    pub fn try_run(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new("openssl").args(arguments).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }
}
