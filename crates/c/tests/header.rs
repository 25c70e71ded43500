//! The headers in `include` are what the comments and declarations of `src` say: cbindgen writes one section a subject.
//! `TRESS_WRITE_HEADER=1` writes the files anew.

use std::{env, fs, path::Path};

/// The source files, in the order in which they need each other's types, and what their sections are called.
const SECTIONS: [(&str, &str); 14] = [
    ("version", "Version"),
    ("status", "Codes and texts of errors"),
    ("ciphers", "Ciphers"),
    ("modes", "Modes: one message"),
    ("lanes", "Lanes: many messages at once"),
    ("filler", "Lanes: messages that arrive one at a time"),
    // Of libtress alone.
    ("buffer", "Bytes that the library allocates"),
    ("keys", "Keys of containers"),
    ("options", "Options, reports and control"),
    ("container", "Containers that are pushed, or whole in memory"),
    ("reader", "Containers that are read at any place"),
    ("files", "Whole files"),
    ("sign", "Signatures"),
    ("batch", "Signatures: many at once"),
];

const INTRODUCTION: &str = "\
/*
 * Tress: parallel cryptography. docs/reference/c.md shows how to build, link and use it. tress-cipher.h is the part that libtress-cipher has.
 *
 * Rules that hold everywhere:
 *
 * - What can fail returns a tress_status, and says more in tress_last_error(). A compiler warns where nobody looks at
 *   one. No signal is raised, no exception comes out, and nothing is printed, unless the library has a defect
 *   (TRESS_INTERNAL).
 * - A needed pointer that is NULL is TRESS_NULL. NULL with length 0 is an empty run of bytes. A length above
 *   PTRDIFF_MAX is TRESS_LENGTH.
 * - A function that hands out a handle writes NULL there first. Every _free takes NULL.
 * - \"Any thread\": at any time, also while other threads are in the same function with the same arguments, as long as
 *   nobody frees them or writes to the memory in use. \"One thread at a time\": calls on one handle must not overlap;
 *   which threads make them does not matter.
 * - Texts are UTF-8 and end with NUL. Lengths are in bytes.
 * - Secrets given to a function stay the caller's: the library wipes its copies, the caller has to wipe his.
 *
 * Generated from the library's source (`make -C crates/c header`); do not edit.
 */
";

const START: &str = "\
#include <stddef.h>
#include <stdint.h>

/* A status that nobody looks at is a warning. */
#if defined(__GNUC__)
#define TRESS_CHECKED __attribute__((warn_unused_result))
#elif (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define TRESS_CHECKED [[nodiscard]]
#else
#define TRESS_CHECKED
#endif
";

const OPEN: &str = "\
#ifdef __cplusplus
extern \"C\" {
#endif
";

const CLOSE: &str = "\
#ifdef __cplusplus
}
#endif
";

/// The declarations of one source file.
fn section(name: &str, title: &str) -> String {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_root.join("cbindgen.toml")).unwrap();
    let source = crate_root.join("src").join(name).with_extension("rs");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate().unwrap();
    let mut written = Vec::new();
    bindings.write(&mut written);
    let lines: Vec<String> = String::from_utf8(written).unwrap().trim().lines().map(line).collect();
    // What Rust's documentation calls safety is what C's caller has to see to.
    let text = lines.join("\n").replace(" * # Safety\n * ", " * Needs: ");
    format!("/* ---- {title} ---- */\n\n{text}\n")
}

/// A line as it stands in the header.
fn line(line: &str) -> String {
    // cbindgen puts the tag where the type is of the same section; every type has a name without it.
    let mut line = line.to_owned();
    for tag in ["struct ", "enum "] {
        let mut from = 0;
        while let Some(at) = line[from..].find(&format!("{tag}tress_")).map(|at| from + at) {
            let name = &line[at + tag.len()..];
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            from = at + tag.len();
            if name[end..].starts_with(" *") {
                line.replace_range(at..from, "");
                from = at;
            }
        }
    }
    let is_checked = line.starts_with("tress_status tress_") && line.contains('(');
    if is_checked { format!("TRESS_CHECKED\n{line}") } else { line }
}

#[test]
fn the_headers_are_what_the_source_says() {
    let (cipher, others) = SECTIONS.split_at(6);
    for (name, guard, start, sections) in [
        ("tress-cipher.h", "TRESS_CIPHER_H", START, cipher),
        ("tress.h", "TRESS_H", "#include \"tress-cipher.h\"\n", others),
    ] {
        let sections: Vec<_> = sections.iter().map(|(name, title)| section(name, title)).collect();
        let made = format!(
            "{INTRODUCTION}\n#ifndef {guard}\n#define {guard}\n\n{start}\n{OPEN}\n{}\n{CLOSE}\n#endif /* {guard} */\n",
            sections.join("\n")
        );
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include").join(name);
        if env::var_os("TRESS_WRITE_HEADER").is_some() {
            fs::write(&path, &made).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap();
        let differs = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
        assert!(kept == made, "make -C crates/c header; the first line of {name} that differs: {differs:?}");
    }
}
