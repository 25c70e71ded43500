//! Checks that the headers in `include` match the comments and declarations of `src`. cbindgen writes one section for each
//! source file. With `TRESS_WRITE_HEADER=1` the test regenerates the headers.

use std::{env, fs, path::Path};

/// The source files, sorted so that types come before their uses, and the titles of their sections.
const SECTIONS: [(&str, &str); 15] = [
    ("version", "Version"),
    ("status", "Status codes and error messages"),
    ("ciphers", "Ciphers"),
    ("modes", "Modes: one message"),
    ("lanes", "Lanes: batches of messages"),
    ("filler", "Lanes: messages that arrive one at a time"),
    ("chacha20poly1305", "ChaCha20-Poly1305: batches of messages"),
    // The rest is only in libtress.
    ("buffer", "Buffers that the library allocates"),
    ("keys", "Keys of containers"),
    ("options", "Options, reports and control"),
    ("container", "Containers as streams and in memory"),
    ("reader", "Containers with random access"),
    ("files", "Whole files"),
    ("sign", "Signatures"),
    ("batch", "Signatures: batches"),
];

const INTRODUCTION: &str = include_str!("header/introduction.h");

const START: &str = include_str!("header/start.h");

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

/// Returns the declarations of one source file.
fn section(name: &str, title: &str) -> String {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_root.join("cbindgen.toml")).unwrap();
    let source = crate_root.join("src").join(name).with_extension("rs");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate().unwrap();
    let mut written = Vec::new();
    bindings.write(&mut written);
    let lines: Vec<String> = String::from_utf8(written).unwrap().trim().lines().map(line).collect();
    // The Safety section of rustdoc lists what the caller in C must provide.
    let text = lines.join("\n").replace(" * # Safety\n * ", " * Needs: ");
    format!("/* ---- {title} ---- */\n\n{text}\n")
}

/// Converts a line of cbindgen's output to a line of the header.
fn line(line: &str) -> String {
    // cbindgen writes the tag of types in the same section; every type also has a name without it.
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
    let (cipher, others) = SECTIONS.split_at(7);
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
