//! `bench::run` as the command calls it: its output for people, and its errors.

use regex::Regex;
use tress_lab::bench::{Options, run};

fn options(filter: &str) -> Options {
    Options { filter: Some(Regex::new(filter).expect("a pattern")), quick: true, ..Options::default() }
}

#[test]
fn a_table_names_the_machine_and_the_rows() {
    let mut out = Vec::new();
    run(&options("^aes-128-ecb$"), &mut out).expect("a measurement");
    let text = String::from_utf8(out).expect("text");
    assert_eq!(text.matches("aes-128-ecb").count(), 2, "{text}");
    assert!(text.contains("B/s"));
    // A debug build gets a warning.
    assert_eq!(text.contains("debug build"), cfg!(debug_assertions), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_fails_is_named() {
    let options = Options { command: Some("/nonexistent/tress".into()), ..options("^encrypt-start$") };
    let error = run(&options, &mut Vec::new()).expect_err("no such program");
    assert!(matches!(error, tress_lab::bench::Error::Command { .. }), "{error}");
}
