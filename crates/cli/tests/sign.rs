//! `tress sign` and `verify`, signing keys of `tress keygen`, and exchange with OpenSSL in both directions.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::{Folder, Run, skip};

/// A folder with keys of all kinds, private and public: rsa.pem, rsa.pub, dsa.pem and so on.
fn folder() -> Folder {
    let folder = Folder::new();
    for (kind, options) in [("rsa", &["--rsa", "2048"][..]), ("dsa", &["--dsa", "2048"]), ("schnorr", &["--schnorr"])] {
        let file = format!("{kind}.pem");
        folder.tress([&["keygen", "-o", &file], options].concat()).ok();
        let public = folder.tress(["keygen", "--public", &file]).ok().stdout;
        folder.write(&format!("{kind}.pub"), public);
    }
    folder
}

fn openssl(folder: &Folder, arguments: &[&str]) -> Option<Run> {
    let mut command = Command::new("openssl");
    command.current_dir(folder.root()).args(arguments);
    match command.output() {
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            Some(Run { status: output.status, stdout: output.stdout, stderr })
        }
        Err(_) => {
            skip("there is no openssl");
            None
        }
    }
}

#[test]
fn keygen_writes_signing_keys_for_their_owner_alone() {
    let folder = folder();
    for kind in ["rsa", "dsa", "schnorr"] {
        let private = folder.path(&format!("{kind}.pem"));
        assert_eq!(fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::read_to_string(&private).unwrap().starts_with("-----BEGIN PRIVATE KEY-----\n"));
        let public = String::from_utf8(folder.read(&format!("{kind}.pub"))).unwrap();
        assert!(public.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{public}");
        // The public part of a public key is that key.
        let again = folder.tress(["keygen", "--public", &format!("{kind}.pub")]).ok().stdout;
        assert_eq!(again, public.as_bytes());
    }
    let before = folder.read("rsa.pem");
    folder.tress(["keygen", "--dsa", "-o", "rsa.pem"]).failed("rsa.pem");
    assert_eq!(folder.read("rsa.pem"), before);
    let run = folder.tress(["keygen", "--schnorr"]).ok();
    assert!(run.stdout.starts_with(b"-----BEGIN PRIVATE KEY-----\n") && run.stderr.is_empty());
}

#[test]
fn signatures_verify() {
    let folder = folder();
    let names: Vec<String> = (0..20).map(|number| format!("file {number}")).collect();
    for (number, name) in names.iter().enumerate() {
        folder.write(name, crate::common::plaintext(number * 1000));
    }
    for (kind, scheme) in
        [("rsa", None), ("rsa", Some("rsa-pkcs1-sha256")), ("dsa", None), ("schnorr", Some("schnorr-sha256"))]
    {
        let (private, public) = (format!("{kind}.pem"), format!("{kind}.pub"));
        let options: Vec<&str> = scheme.map_or(vec![], |scheme| vec!["--scheme", scheme]);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let run = folder.tress([&["sign", "--force", "--key", &private], &options[..], &names].concat()).ok();
        assert!(run.stdout.is_empty() && run.stderr.is_empty());
        let run = folder.tress([&["verify", "--key", &public], &options[..], &names].concat()).ok();
        assert!(run.stdout.is_empty() && run.stderr.is_empty());
        let verify = |signature: &str, name: &str| {
            folder.tress([&["verify", "--key", &public, "--signature", signature], &options[..], &[name]].concat())
        };
        verify("file 7.sig", "file 7").ok();
        verify("file 7.sig", "file 8").failed("file 7.sig");
        verify("file 7", "file 7").failed("file 7");
        folder.write("empty.sig", "");
        verify("empty.sig", "file 7").failed("empty.sig");
        verify("/dev/zero", "file 7").failed("/dev/zero");
        // Standard input and output.
        let signed = folder.tress_with([&["sign", "--key", &private], &options[..], &["-"]].concat(), b"piped").ok();
        folder.write("piped.sig", &signed.stdout);
        let verify = [&["verify", "--key", &public, "--signature", "piped.sig"], &options[..], &["-"]].concat();
        folder.tress_with(verify.clone(), b"piped").ok();
        folder.tress_with(verify, b"pipes").failed("piped.sig");
    }
    // A signature of another scheme under the same key is refused. The hint names the right scheme.
    for (made, asked) in [("rsa-pss-sha256", "rsa-pkcs1-sha256"), ("rsa-pkcs1-sha256", "rsa-pss-sha256")] {
        folder.tress(["sign", "--force", "--key", "rsa.pem", "--scheme", made, "file 1"]).ok();
        let verify = ["verify", "--key", "rsa.pub", "--scheme", asked, "--signature", "file 1.sig"];
        let refused = folder.tress([&verify[..], &["file 1"]].concat()).failed("file 1.sig");
        assert!(refused.stderr.contains(&format!("--scheme {made}")), "{}", refused.stderr);
        let refused = folder.tress([&verify[..], &["file 2"]].concat()).failed("file 1.sig");
        assert!(!refused.stderr.contains("--scheme"), "{}", refused.stderr);
    }
}

/// In both directions. The library's tests have every hash function, key and salt.
#[test]
fn openssl_verifies_ours_and_we_verify_its() {
    let folder = folder();
    folder.write("in", crate::common::plaintext(100_000));
    for (kind, scheme, salt) in [
        ("rsa", "rsa-pss-sha256", "digest"),
        ("rsa", "rsa-pss-sha512:0", "0"),
        ("rsa", "rsa-pkcs1-sha384", ""),
        ("dsa", "dsa-sha256", ""),
    ] {
        let (private, public) = (format!("{kind}.pem"), format!("{kind}.pub"));
        folder.tress(["sign", "--force", "--key", &private, "--scheme", scheme, "in"]).ok();
        folder.tress(["verify", "--key", &public, "--scheme", scheme, "in"]).ok();
        let hash = format!("-{}", &scheme.split(':').next().unwrap()[scheme.find("sha").unwrap()..]);
        let length = format!("rsa_pss_saltlen:{salt}");
        let pss = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", &length];
        let options = if salt.is_empty() { &[] } else { &pss[..] };
        let verify = ["dgst", &hash, "-verify", &public, "-signature", "in.sig"];
        let Some(run) = openssl(&folder, &[&verify[..], options, &["in"]].concat()) else { return };
        assert!(run.ok().stdout.starts_with(b"Verified OK"), "{scheme}");
        let sign = ["dgst", &hash, "-sign", &private, "-out", "in.sig"];
        openssl(&folder, &[&sign[..], options, &["in"]].concat()).unwrap().ok();
        folder.tress(["verify", "--key", &public, "--scheme", scheme, "in"]).ok();
    }
    // A salt of another length is refused. The hint names the scheme that accepts all lengths.
    let sign = |scheme: &str| folder.tress(["sign", "--force", "--key", "rsa.pem", "--scheme", scheme, "in"]);
    let verify = |scheme: &str| folder.tress(["verify", "--key", "rsa.pub", "--scheme", scheme, "in"]);
    sign("rsa-pss-sha256:20").ok();
    verify("rsa-pss-sha256").ok();
    let refused = verify("rsa-pss-sha256:32").failed("in.sig");
    assert!(refused.stderr.contains("--scheme rsa-pss-sha256\n"), "{}", refused.stderr);
    // A salt too long for 2048 bits is refused before the file is read.
    fs::remove_file(folder.path("in")).unwrap();
    sign("rsa-pss-sha256:223").wrong_use("rsa.pem");
    verify("rsa-pss-sha256:223").wrong_use("rsa.pub");
}

/// Keys with the algorithm identifier of PSS, and PEM with spaces at line ends.
#[test]
fn keys_in_other_encodings() {
    let folder = folder();
    folder.write("in", "x");
    let text = String::from_utf8(folder.read("rsa.pem")).unwrap();
    folder.write("spaces.pem", text.replace('\n', "  \n"));
    folder.tress(["sign", "--key", "spaces.pem", "in"]).ok();
    folder.tress(["verify", "--key", "rsa.pub", "in"]).ok();
    let generate = ["genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "pss.pem"];
    let Some(run) = openssl(&folder, &generate) else { return };
    run.ok();
    folder.write("pss.pub", folder.tress(["keygen", "--public", "pss.pem"]).ok().stdout);
    folder.tress(["sign", "--force", "--key", "pss.pem", "in"]).ok();
    folder.tress(["verify", "--key", "pss.pub", "in"]).ok();
    folder.tress(["sign", "--force", "--key", "pss.pem", "--scheme", "rsa-pkcs1-sha256", "in"]).wrong_use("pss.pem");
    // The public key is for PSS only, too.
    folder.tress(["verify", "--key", "pss.pub", "--scheme", "rsa-pkcs1-sha256", "in"]).wrong_use("pss.pub");
}

#[test]
fn nothing_is_overwritten_and_nothing_half_written() {
    let folder = folder();
    for name in ["a", "b", "c"] {
        folder.write(name, name);
    }
    folder.write("b.sig", "mine");
    let before = folder.names();
    // The other files are signed.
    folder.tress(["sign", "--key", "dsa.pem", "a", "b", "c"]).failed("b.sig: output already exists");
    assert_eq!(folder.read("b.sig"), b"mine");
    folder.tress(["verify", "--key", "dsa.pub", "a", "c"]).ok();
    let refused = folder.tress(["sign", "--key", "dsa.pem", "a", "c", "missing"]);
    assert_eq!((refused.status.code(), refused.stderr.matches("tress: error: ").count()), (Some(1), 3));
    folder.tress(["sign", "--force", "--key", "dsa.pem", "a", "b", "missing"]).failed("missing");
    folder.tress(["verify", "--key", "dsa.pub", "a", "b", "c"]).ok();
    folder.tress(["sign", "--key", "dsa.pem", "."]).failed("");
    assert!(!folder.exists("..sig"));
    // The same file twice.
    fs::remove_file(folder.path("a.sig")).unwrap();
    folder.tress(["sign", "--key", "dsa.pem", "a", "a"]).failed("a.sig");
    folder.tress(["verify", "--key", "dsa.pub", "a"]).ok();
    // A folder without write permission, which does not stop root.
    fs::create_dir(folder.path("shut")).unwrap();
    folder.write("shut/x", "x");
    fs::set_permissions(folder.path("shut"), fs::Permissions::from_mode(0o555)).unwrap();
    let run = folder.tress(["sign", "--key", "dsa.pem", "shut/x"]);
    assert_eq!(run.status.success(), folder.exists("shut/x.sig"), "{}", run.stderr);
    fs::set_permissions(folder.path("shut"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut names = [before, vec!["a.sig".into(), "c.sig".into(), "shut".into()]].concat();
    names.sort();
    assert_eq!(folder.names(), names);
    crate::common::run(
        folder.command(["sign", "--key", "dsa.pem", "-"]).stdout(fs::File::create("/dev/full").unwrap()),
        &[],
    )
    .failed("standard output");
}

#[test]
fn every_wrong_signature_is_named() {
    let folder = folder();
    for name in ["a", "b", "c", "d"] {
        folder.write(name, name);
    }
    folder.tress(["sign", "--key", "rsa.pem", "a", "b", "c", "d"]).ok();
    folder.write("b", "changed");
    let mut signature = folder.read("d.sig");
    signature.pop();
    folder.write("d.sig", signature);
    let run = folder.tress(["verify", "--key", "rsa.pub", "a", "b", "c", "d"]);
    assert_eq!(run.status.code(), Some(1));
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stderr);
    assert!(lines[0].contains("b.sig") && lines[1].contains("d.sig"), "{}", run.stderr);
}

#[test]
fn encrypted_keys() {
    let folder = folder();
    folder.write("in", "x");
    folder.write("pass", "four lanes\n");
    folder.write("wrong", "four lane\n");
    let encrypt = ["pkcs8", "-topk8", "-in", "rsa.pem", "-out", "sealed.pem", "-passout", "pass:four lanes"];
    let Some(run) = openssl(&folder, &encrypt) else { return };
    run.ok();
    let run = folder.tress(["sign", "--key", "sealed.pem", "in"]).wrong_use("sealed.pem");
    assert!(run.stderr.contains("--passphrase-file"), "{}", run.stderr);
    folder.tress(["sign", "--key", "sealed.pem", "--passphrase-file", "wrong", "in"]).failed("sealed.pem");
    assert!(!folder.exists("in.sig"));
    folder.tress(["sign", "--key", "sealed.pem", "--passphrase-file", "pass", "in"]).ok();
    folder.tress(["verify", "--key", "rsa.pub", "in"]).ok();
    let tress = env!("CARGO_BIN_EXE_tress");
    let script = format!("exec '{tress}' sign --force --key sealed.pem --passphrase-fd 3 in 3< pass");
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let public = folder.tress(["keygen", "--public", "sealed.pem", "--passphrase-file", "pass"]).ok().stdout;
    assert_eq!(public, folder.read("rsa.pub"));
    folder.tress(["keygen", "--public", "sealed.pem"]).wrong_use("sealed.pem");
    // An unsupported encryption is reported as such, and not as a wrong passphrase.
    let pem = ["rsa", "-in", "rsa.pem", "-traditional", "-aes256", "-out", "old.pem", "-passout", "pass:four lanes"];
    openssl(&folder, &pem).unwrap().ok();
    let run = folder.tress(["sign", "--force", "--key", "old.pem", "--passphrase-file", "pass", "in"]);
    let run = run.wrong_use("old.pem: unsupported encryption");
    assert!(run.stderr.contains("hint: ") && run.stderr.contains("openssl pkcs8"), "{}", run.stderr);
    // Never from the standard input that holds the data.
    folder.tress_with(["sign", "--key", "sealed.pem", "--passphrase-file", "-", "-"], b"x").wrong_use("standard input");
}

#[test]
fn more_files_than_a_round() {
    let folder = folder();
    fs::create_dir(folder.path("many")).unwrap();
    let names: Vec<String> = (0..5000).map(|number| format!("many/{number}")).collect();
    for name in &names {
        folder.write(name, name);
    }
    let arguments = |first: &[&str]| -> Vec<String> {
        first.iter().map(|argument| argument.to_string()).chain(names.iter().cloned()).collect()
    };
    folder.tress(arguments(&["sign", "--key", "schnorr.pem"])).ok();
    assert!(names.iter().all(|name| Path::new(&folder.path(&format!("{name}.sig"))).exists()));
    folder.write("many/4321.sig", "");
    folder.tress(arguments(&["verify", "--key", "schnorr.pub"])).failed("many/4321.sig");
}
