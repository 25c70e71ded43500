//! Identities, recipients, passphrases and raw keys.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::common::{Folder, plaintext, run, skip};

const PLAIN: &[u8] = b"four lanes make a street\n";

#[test]
fn keygen_writes_for_its_owner_alone() {
    let folder = Folder::new();
    use std::os::unix::fs::OpenOptionsExt as _;
    let run_to = |command: &mut Command| run(command, &[]).ok();
    let run = folder.tress(["keygen", "-o", "new.key"]).ok();
    assert!(run.stdout.is_empty());
    assert!(run.stderr.contains("age1") && run.stderr.contains("tress1"), "{}", run.stderr);
    let mode = fs::metadata(folder.path("new.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let before = folder.read("new.key");
    folder.tress(["keygen", "-o", "new.key"]).failed("new.key");
    assert_eq!(folder.read("new.key"), before);

    let public = folder.tress(["keygen", "--public", "new.key"]).ok();
    let public = String::from_utf8(public.stdout).unwrap();
    let lines: Vec<&str> = public.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("age1") && lines[1].starts_with("tress1"), "{public}");
    assert!(lines.iter().all(|line| run.stderr.contains(line)));

    // A warning as in age-keygen.
    let to = |name: &str, mode| {
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(folder.path(name)).unwrap();
        file.set_permissions(fs::Permissions::from_mode(mode)).unwrap();
        run_to(folder.command(["keygen"]).stdout(file)).stderr
    };
    assert!(to("public", 0o644).starts_with("tress: warning: "));
    assert!(to("private", 0o600).starts_with("recipient"));
    let sealed = folder.tress_with(["encrypt", "-r", &folder.recipient], PLAIN).ok().stdout;
    for (mode, warned) in [(0o600, false), (0o644, true)] {
        fs::set_permissions(folder.path("me.key"), fs::Permissions::from_mode(mode)).unwrap();
        let run = folder.tress_with(["decrypt", "-i", "me.key"], &sealed).ok();
        assert_eq!(run.stdout, PLAIN);
        assert_eq!(run.stderr.starts_with("tress: warning: me.key: "), warned, "{}", run.stderr);
    }

    let run = folder.tress(["keygen"]).ok();
    assert!(String::from_utf8(run.stdout).unwrap().contains("AGE-SECRET-KEY-1"));
    assert!(!run.stderr.contains("AGE-SECRET-KEY"));
}

#[test]
fn an_address_a_file_of_recipients_and_several_identities() {
    let folder = Folder::new();
    folder.write("team.txt", format!("# the team\n\n{}\n", folder.recipient));
    for to in [["-R", "team.txt"], ["-r", &folder.public("me.key", 1)]] {
        let sealed = folder.tress_with([&["encrypt"], &to[..]].concat(), PLAIN).ok().stdout;
        assert_eq!(folder.tress_with(["decrypt", "-i", "other.key", "-i", "me.key"], &sealed).ok().stdout, PLAIN);
    }
}

#[test]
fn passphrases() {
    let folder = Folder::new();
    folder.write("pass", "corre\u{301}ct horse\n");
    folder.write("exact", "corre\u{301}ct horse");
    folder.write("wrong", "correct horse\n\n");
    let sealed = folder.tress_with(["encrypt", "--passphrase-file", "pass"], PLAIN).ok().stdout;
    folder.write("sealed", &sealed);
    let run = folder.tress_with(["decrypt", "--passphrase-file", "exact"], &sealed).ok();
    assert_eq!(run.stdout, PLAIN);
    // From standard input if the data is a file, and from an open descriptor.
    let run = folder.tress_with(["decrypt", "--passphrase-file", "-", "sealed"], &folder.read("pass")).ok();
    assert_eq!(run.stdout, PLAIN);
    let tress = env!("CARGO_BIN_EXE_tress");
    let script = format!("exec '{tress}' decrypt --passphrase-fd 3 sealed 3< pass");
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.root()).output().unwrap();
    assert_eq!(output.stdout, PLAIN, "{}", String::from_utf8_lossy(&output.stderr));

    let before = folder.names();
    folder.tress(["decrypt", "--passphrase-file", "wrong", "-o", "out", "sealed"]).failed("sealed");
    let run = folder.tress(["decrypt", "-i", "me.key", "-o", "out", "sealed"]).failed("encrypted with a passphrase");
    assert!(run.stderr.contains("hint: provide it: -p"), "{}", run.stderr);
    assert_eq!(folder.names(), before);
}

/// The limit is below the 256 MiB of a passphrase. An encrypted identity file is refused before its passphrase is asked for.
#[cfg(target_os = "linux")]
#[test]
fn a_passphrase_without_memory_is_an_error() {
    /// PBES2 (RFC 8018, A.4) with scrypt for N = 2^18 and r = 8, and a block of zeros under AES-256-CBC.
    const LARGE_SCRYPT: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MGAwTAYJKoZIhvcNAQUNMD8wHgYJKwYBBAHaRwQLMBEEBHNhbHQCAwQAAAIBCAIBATAdBglghkgBZQMEASoEEGluaXRpYWx2
ZWN0b3IxNiAEEAAAAAAAAAAAAAAAAAAAAAA=
-----END ENCRYPTED PRIVATE KEY-----
";
    let folder = Folder::new();
    folder.write("pass", "correct horse\n");
    folder.write("sealed", folder.sealed(PLAIN));
    folder.write("locked.pem", LARGE_SCRYPT);
    folder.tress(["encrypt", "--passphrase-file", "pass", "-o", "locked", "me.key"]).ok();
    folder.tress(["encrypt", "--passphrase-file", "pass", "--format", "age", "-o", "locked.key", "me.key"]).ok();
    fs::set_permissions(folder.path("locked.key"), fs::Permissions::from_mode(0o600)).unwrap();
    for arguments in [
        &["encrypt", "--passphrase-file", "pass", "me.key"][..],
        &["encrypt", "--passphrase-file", "pass", "--format", "age", "me.key"],
        &["decrypt", "--passphrase-file", "pass", "locked"],
        &["decrypt", "-i", "locked.key", "sealed"],
        &["rewrap", "--passphrase-file", "pass", "-i", "me.key", "sealed"],
        &["sign", "--passphrase-file", "pass", "--key", "locked.pem", "me.key"],
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 250000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_tress")]).args(arguments);
        command.current_dir(folder.root()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        run(&mut command, &[]).failed("not enough memory");
    }
}

#[test]
fn raw_keys() {
    let folder = Folder::new();
    for bytes in [16, 32] {
        folder.write("raw", vec![1; bytes]);
        folder.write("raw2", vec![2; bytes]);
        let sealed = folder.tress_with(["encrypt", "--key-file", "raw"], PLAIN).ok().stdout;
        assert_eq!(folder.tress_with(["decrypt", "--key-file", "raw"], &sealed).ok().stdout, PLAIN);
        folder.tress_with(["decrypt", "--key-file", "raw2"], &sealed).failed("standard input");
        folder.tress_with(["decrypt", "-i", "me.key"], &sealed).failed("standard input");
    }
    for bytes in [0, 15, 17, 31, 33, 100] {
        folder.write("odd", vec![1; bytes]);
        let run = folder.tress_with(["encrypt", "--key-file", "odd"], PLAIN);
        run.wrong_use("odd");
    }
}

/// Under another name, too. Afterwards the old identity would not open it.
#[test]
fn rewrap_takes_a_file_once() {
    let folder = Folder::new();
    let other = folder.public("other.key", 0);
    folder.write("sealed", folder.sealed(PLAIN));
    #[cfg(unix)]
    std::os::unix::fs::symlink("sealed", folder.path("link")).unwrap();
    let again = if cfg!(unix) { "link" } else { "sealed" };
    folder.tress(["rewrap", "-i", "me.key", "-r", &other, "sealed", "sealed", "./sealed", again]).ok();
    assert_eq!(folder.tress(["decrypt", "-i", "other.key", "sealed"]).ok().stdout, PLAIN);
    let run = folder.tress(["rewrap", "-i", "me.key", "-r", &other, "sealed", "sealed"]).failed("sealed");
    assert!(!run.stderr.contains("2 files"), "{}", run.stderr);
}

#[test]
fn rewrap_changes_who_opens_it() {
    let folder = Folder::new();
    let other = folder.public("other.key", 0);
    let sealed = folder.sealed(PLAIN);
    folder.write("sealed", &sealed);
    let before = folder.names();
    folder.tress(["rewrap", "-i", "me.key", "-r", &other, "sealed"]).ok();
    assert_eq!(folder.names(), before);
    folder.tress(["decrypt", "-i", "me.key", "sealed"]).failed("sealed");
    assert_eq!(folder.tress(["decrypt", "-i", "other.key", "sealed"]).ok().stdout, PLAIN);
    let header = folder.header_bytes(&sealed);
    assert_eq!(folder.read("sealed")[header..], sealed[header..], "the payload stays");
    for keys in ["me.key", "list"] {
        folder.write("list", format!("{other}\n"));
        let before = folder.read(keys);
        let command = if keys == "list" { ["encrypt", "-R", "list"] } else { ["decrypt", "-i", "me.key"] };
        folder
            .tress([&command[..], &["-f", "-o", &format!("./{keys}"), "sealed"]].concat())
            .failed("output is the input");
        assert_eq!(folder.read(keys), before, "an output never replaces a key");
    }
}

/// Damaged age files, files in no known format, and recipients of missing plugins get a specific error.
#[test]
fn other_age_files_and_keys() {
    let folder = Folder::new();
    for (start, text) in [
        ("age-encryption.org/v1\n", "file is truncated"),
        ("age-encryption.org/v2\n", "unknown container version"),
        ("-----BEGIN AGE ENCRYPTED FILE-----\n", "armor is damaged"),
        ("AGE", "neither a tress container nor an age file"),
    ] {
        folder.write("file.age", format!("{start}{}", "x".repeat(5000)));
        for arguments in [&["inspect", "file.age"][..], &["decrypt", "-i", "me.key", "file.age"]] {
            folder.tress(arguments).failed(text);
        }
    }
    let whole = folder.tress_with(["encrypt", "--format", "age", "-r", &folder.recipient], PLAIN).ok().stdout;
    folder.write("file.age", [b"age-encryption.org/v2", &whole[21..]].concat());
    folder.tress(["decrypt", "-i", "me.key", "file.age"]).failed("unknown container version");
    // An encrypted identity file says so, and a strange name is escaped once.
    folder.write("me\n.age", &whole);
    for arguments in [&["keygen", "--public"][..], &["encrypt", "-o", "new", "me.key", "-i"], &["encrypt", "-R"]] {
        let run = folder.tress([arguments, &["me\n.age"]].concat()).wrong_use("file is encrypted");
        assert!(run.stderr.contains(": \"me\\n.age\": "), "{}", run.stderr);
    }
    let plugin = "age1no-such-plugin1";
    folder.write("team", format!("{}\n{plugin}\n", folder.recipient));
    folder.tress_with(["encrypt", "-R", "team"], PLAIN).wrong_use("line 2: ");
}

/// Plugins that end, or break the protocol.
#[test]
fn failing_plugins() {
    let folder = Folder::new();
    // Of the prefixes `age1fixture` and `AGE-PLUGIN-FIXTURE-` and the data `key`.
    let to = "age1fixture1ddjhj5yl7le";
    folder.write("plugin.key", "AGE-PLUGIN-FIXTURE-1DDJHJHCTJ3C\n");
    fs::set_permissions(folder.path("plugin.key"), fs::Permissions::from_mode(0o600)).unwrap();
    for format in ["tress", "age"] {
        folder.tress(["encrypt", "--format", format, "-r", &folder.recipient, "-o", format, "me.key"]).ok();
    }
    let path = format!("{}:{}", folder.root().display(), std::env::var("PATH").unwrap());
    for text in
        ["exit 3", "read -r _", "echo nonsense; read -r _", "echo '-> done'; read -r _", "printf '\\377\\n'; read -r _"]
    {
        folder.script("age-plugin-fixture", text);
        for format in ["tress", "age"] {
            for (arguments, name) in [
                (&["encrypt", "--format", format, "-r", to, "plugin.key"][..], ": age-plugin-fixture"),
                (&["rewrap", "-i", "me.key", "-r", to, format], ": age-plugin-fixture"),
                (&["decrypt", "-i", "plugin.key", format], ""),
                (&["rewrap", "-i", "plugin.key", "-r", &folder.recipient, format], ""),
            ] {
                run(folder.command(arguments).env("PATH", &path), &[]).failed(&format!("age plugin failed{name}"));
            }
        }
    }
}

/// Writes `ssh` and `ssh.pub`. Returns false if the system has no `ssh-keygen`.
fn make_ssh_key(folder: &Folder, passphrase: &str) -> bool {
    let arguments = ["-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", "ssh"];
    let made = Command::new("ssh-keygen").args(arguments).current_dir(folder.root()).status();
    made.is_ok_and(|status| status.success())
}

/// Without a terminal the passphrase of a key cannot be asked for. The error differs from that for a key that does not match.
#[test]
fn an_ssh_key_with_a_passphrase_needs_a_terminal() {
    let folder = Folder::new();
    if !make_ssh_key(&folder, "secret") || Command::new("setsid").arg("--version").output().is_err() {
        return skip("ssh-keygen, setsid");
    }
    let sealed = folder.tress_with(["encrypt", "-R", "ssh.pub"], PLAIN).ok().stdout;
    folder.write("box", sealed);
    folder.write("other", folder.sealed(PLAIN));
    let decrypt = |name: &str| {
        let mut command = Command::new("setsid");
        command.args(["-w", env!("CARGO_BIN_EXE_tress"), "decrypt", "-i", "ssh", "-i", "me.key", name]);
        command.current_dir(folder.root()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        run(&mut command, &[])
    };
    decrypt("box").failed("ssh: its passphrase cannot be asked for");
    assert_eq!(decrypt("other").ok().stderr, "", "it is not asked for");
}

/// What the options for formats allow, and the files that `age` and others read.
#[test]
fn other_formats() {
    let folder = Folder::new();
    let to = &["-r", &folder.recipient][..];
    folder.write("k16", [7; 16]);
    folder.write("context", b"a\0b");
    let encrypt = |options: &[&str]| {
        let options = [&["encrypt"], options].concat();
        folder.tress_with(options, PLAIN)
    };
    for format in [&["--format", "age"][..], &["--format", "age", "-a"], &["--format", "tress"]] {
        folder.write("sealed", encrypt(&[format, to].concat()).ok().stdout);
        for options in [&["decrypt", "-i", "me.key"][..], &["decrypt", "-i", "me.key", "--format", format[1]]] {
            assert_eq!(folder.tress([options, &["sealed"]].concat()).ok().stdout, PLAIN);
        }
        let json = folder.tress(["inspect", "-i", "me.key", "--json", "sealed"]).ok().stdout;
        assert!(String::from_utf8(json).unwrap().contains(&format!("\"format\": \"{}\"", format[1])));
        folder.tress(["rewrap", "-i", "me.key", "-r", &folder.recipient, "sealed"]).ok();
        let other = if format[1] == "age" { "tress" } else { "age" };
        folder.tress(["decrypt", "-i", "me.key", "--format", other, "sealed"]).failed("wrong format");
    }
    let key = &["--format", "cobblestone-128", "--key-file", "k16", "--context-file", "context"][..];
    folder.write("sealed", encrypt(key).ok().stdout);
    assert_eq!(folder.tress([&["decrypt"], key, &["sealed"]].concat()).ok().stdout, PLAIN);
    folder.tress([&["decrypt"], &key[..4], &["sealed"]].concat()).failed("another key or context");
    folder.tress(["decrypt", "-i", "me.key", "sealed"]).failed("neither a tress container nor an age file");
    folder.tress(["rewrap", "-i", "me.key", "-r", to[1], "sealed"]).failed("neither");
    assert_eq!(folder.tress_with(["encrypt", "-i", "me.key"], PLAIN).ok().stdout.len(), 4096 + 56 + PLAIN.len() + 16);

    folder.tress(["keygen", "--pq", "-o", "pq.key"]).ok();
    let public = String::from_utf8(folder.tress(["keygen", "--public", "pq.key"]).ok().stdout).unwrap();
    folder.write("both.key", [folder.read("me.key"), folder.read("pq.key")].concat());
    let both = String::from_utf8(folder.tress(["keygen", "--public", "both.key"]).ok().stdout).unwrap();
    assert_eq!(both.lines().collect::<Vec<_>>(), [public.trim(), &folder.recipient, &folder.public("me.key", 1)]);
    let send = ["send", "-i", "pq.key", "-r", &folder.public("me.key", 1), "--to", "127.0.0.1:1", "me.key"];
    folder.tress(send).wrong_use("a post-quantum identity cannot send or receive");
    let to_pq = &["-r", public.trim()][..];
    for format in ["age", "tress"] {
        folder.write("sealed", encrypt(&[&["--format", format], to_pq].concat()).ok().stdout);
        assert_eq!(folder.tress(["decrypt", "-i", "pq.key", "sealed"]).ok().stdout, PLAIN);
        encrypt(&[&["--format", format], to_pq, to].concat()).wrong_use("cannot be combined");
    }
    folder.write("team", format!("sk-ssh-ed25519@openssh.com AAAA\n{}\n", to[1]));
    let run = encrypt(&["-R", "team"]);
    assert!(run.stderr.contains("line 1: skipped, keys of type sk-ssh-ed25519@openssh.com"));
}

/// `age` and, if it is installed, `rage` open our age files, and we open theirs.
#[test]
fn the_programs_age_and_rage() {
    let folder = Folder::new();
    if !make_ssh_key(&folder, "") {
        return skip("ssh-keygen");
    }
    folder.write("me.key.pub", &folder.recipient);
    for program in ["age", "rage"] {
        if Command::new(program).arg("--version").output().is_err() {
            if program == "age" {
                skip("age");
            }
            continue;
        }
        let theirs = |options: &[&str], stdin: &[u8]| {
            let mut command = Command::new(program);
            command.args(options).current_dir(folder.root());
            run(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()), stdin).ok().stdout
        };
        for bytes in [0, 1, 65_535, 65_536, 65_537, 524_287, 524_288, 524_289] {
            let plain = plaintext(bytes);
            for (identity, recipient) in [("me.key", "me.key.pub"), ("ssh", "ssh.pub")] {
                for options in [&["-R", recipient][..], &["-a", "-R", recipient]] {
                    let case = format!("{program} {options:?}, {bytes} bytes");
                    let ours = folder.tress_with([&["encrypt", "--format", "age"], options].concat(), &plain).ok();
                    assert!(theirs(&["-d", "-i", identity], &ours.stdout) == plain, "tress, {case}");
                    let sealed = theirs(options, &plain);
                    assert!(folder.tress_with(["decrypt", "-i", identity], &sealed).ok().stdout == plain, "{case}");
                }
            }
        }
    }
}
