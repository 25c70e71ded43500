//! `tress raw`, `ciphers`, completions and man pages: known answers from SP 800-38A (appendix F), SP 800-38C (examples), RFC 8439 and the
//! papers of the other ciphers, and usage errors.

use crate::common::{Folder, Run, plaintext, run};

const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const IV: &str = "000102030405060708090a0b0c0d0e0f";
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

fn bytes(hex: &str) -> Vec<u8> {
    base16ct::mixed::decode_vec(hex).unwrap()
}

fn raw(folder: &Folder, arguments: &str, data: &[u8]) -> Run {
    folder.tress_with(["raw"].into_iter().chain(arguments.split_whitespace()), data)
}

/// Every vector of these files. The name of a Rijndael cipher begins with the length of its blocks.
#[test]
fn known_answers() {
    let (folder, mut seen) = (Folder::new(), 0);
    for (name, family, mode) in [
        ("aes/sp800-38a-ecb", "aes", "ecb"),
        ("aes/sp800-38a-cbc", "aes", "cbc"),
        ("aes/sp800-38a-ctr", "aes", "ctr"),
        ("rijndael/published", "rijndael", "ecb"),
        ("rc6/published", "rc6", "ecb"),
        ("lea/published", "lea", "ecb"),
        ("pipo/published", "pipo", "ecb"),
    ] {
        let file = format!("{}/../../vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let file: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for group in file["testGroups"].as_array().unwrap() {
            let block = group["blockSize"].as_u64().map_or(String::new(), |bits| format!("-{bits}"));
            for test in group["tests"].as_array().unwrap() {
                let text = |field: &str| test[field].as_str().unwrap_or_default();
                let iv = if mode == "ecb" { String::new() } else { format!("--iv {}", text("iv")) };
                let cipher = format!("{family}{block}-{}-{mode}", group["keySize"]);
                let options = format!("--cipher {cipher} --key {} {iv}", text("key"));
                let bare = if mode == "ctr" { options.clone() } else { format!("--no-padding {options}") };
                let (plain, sealed) = (bytes(text("msg")), bytes(text("ct")));
                assert_eq!(raw(&folder, &format!("encrypt {bare}"), &plain).ok().stdout, sealed, "{cipher}");
                assert_eq!(raw(&folder, &format!("decrypt {bare}"), &sealed).ok().stdout, plain, "{cipher}");
                // With padding, the ciphertext has a further block.
                let padded = raw(&folder, &format!("encrypt {options}"), &plain).ok().stdout;
                assert!(padded.starts_with(&sealed), "{cipher}");
                assert_eq!(raw(&folder, &format!("decrypt {options}"), &padded).ok().stdout, plain, "{cipher}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 3 + 3 + 3 + 4 + 11 + 3 + 2);
}

/// SP 800-38C, examples 1 and 2, and RFC 8439, section 2.8.2.
#[test]
fn aeads() {
    let folder = Folder::new();
    let aes = "aes-128-ccm --key 404142434445464748494a4b4c4d4e4f";
    let chacha = "chacha20-poly1305 --key 808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f";
    let examples = [
        (aes, "10111213141516", "0001020304050607", 4, "20212223", "7162015b4dac255d"),
        (
            chacha,
            "070000004041424344454647",
            "50515253c0c1c2c3c4c5c6c7",
            16,
            "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a20496620492063\
             6f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73\
             637265656e20776f756c642062652069742e",
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b\
             1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
             3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691",
        ),
        (
            aes,
            "1011121314151617",
            "000102030405060708090a0b0c0d0e0f",
            6,
            "202122232425262728292a2b2c2d2e2f",
            "d2a1f0e051ea5f62081a7792073d593d1fc64fbfaccd",
        ),
    ];
    for (cipher, nonce, aad, tag, plain, sealed) in examples {
        let options = format!("--cipher {cipher} --iv {nonce} --aad {aad} --tag-length {tag}");
        let run = raw(&folder, &format!("encrypt {options}"), &bytes(plain)).ok();
        assert_eq!(run.stdout, bytes(sealed));
        let run = raw(&folder, &format!("decrypt {options}"), &bytes(sealed)).ok();
        assert_eq!(run.stdout, bytes(plain));
        // The same associated data from a file, and from standard input if the message is a file.
        let by_file = options.replace(&format!("--aad {aad}"), "--aad-file aad");
        folder.write("aad", bytes(aad));
        assert_eq!(raw(&folder, &format!("encrypt {by_file}"), &bytes(plain)).ok().stdout, bytes(sealed));
        assert_eq!(raw(&folder, &format!("decrypt {by_file}"), &bytes(sealed)).ok().stdout, bytes(plain));
        folder.write("sealed", bytes(sealed));
        let by_stdin = format!("decrypt {} sealed", by_file.replace("--aad-file aad", "--aad-file -"));
        assert_eq!(raw(&folder, &by_stdin, &bytes(aad)).ok().stdout, bytes(plain));
        raw(&folder, &by_stdin, b"other").failed("sealed");
        raw(&folder, &by_stdin.replace(" sealed", ""), &bytes(aad)).wrong_use("standard input");
        raw(&folder, &format!("decrypt {} sealed", by_file.replace("file aad", "file missing")), &[]).failed("missing");
        raw(&folder, &format!("decrypt {} sealed", by_file.replace("file aad", "file /dev/zero")), &[])
            .failed("/dev/zero");
        raw(&folder, &format!("decrypt {by_file} --aad {aad} sealed"), &[]).wrong_use("--aad");

        let mut damaged = bytes(sealed);
        damaged[0] ^= 1;
        let run = raw(&folder, &format!("decrypt {options}"), &damaged).failed("standard input");
        assert!(run.stdout.is_empty());
        let run = raw(&folder, &format!("decrypt {options} -o out"), &damaged).failed("standard input");
        assert!(run.stdout.is_empty() && !folder.exists("out"));
        raw(&folder, &format!("decrypt {options}"), &damaged[..tag - 1]).failed("standard input");
    }
}

#[test]
fn backends_agree() {
    let folder = Folder::new();
    let json = folder.tress(["ciphers", "--json"]).json();
    let ciphers = json.as_array().unwrap();
    assert_eq!(ciphers.len(), 3 + 25 + 3 + 3 + 2 + 1);
    for cipher in ciphers {
        let name = cipher["name"].as_str().unwrap();
        let backends = cipher["backends"].as_array().unwrap();
        assert_eq!(backends.iter().filter(|backend| backend["chosen"] == true).count(), 1, "{name}");
        let has_ccm = ["aes-", "rijndael-128-", "rc6-", "lea-"].iter().any(|family| name.starts_with(family));
        assert_eq!(cipher["modes"].as_array().unwrap().contains(&"ccm".into()), has_ccm, "{name}");
        let (mode, key_bytes) = match name.rsplit_once('-') {
            Some((_, bits)) => ("ecb", bits.parse::<usize>().unwrap() / 8),
            None => ("poly1305 --iv 000102030405060708090a0b", 32),
        };
        let options = format!("encrypt --cipher {name}-{mode} --key {}", "5a".repeat(key_bytes));
        let slowest = backends[0]["name"].as_str().unwrap();
        let expected = raw(&folder, &format!("{options} --backend {slowest}"), &bytes(PLAIN)).ok().stdout;
        for backend in backends {
            let backend_name = backend["name"].as_str().unwrap();
            let run = raw(&folder, &format!("{options} --backend {backend_name}"), &bytes(PLAIN));
            if backend["available"] == true {
                assert_eq!(run.ok().stdout, expected, "{name} on {backend_name}");
            } else {
                run.wrong_use(backend_name);
            }
        }
    }
    folder.tress(["ciphers"]).ok();
}

#[test]
fn features_are_disabled_by_name() {
    let folder = Folder::new();
    let with = |value: &str, arguments: &[&str]| run(folder.command(arguments).env("TRESS_CPU", value), b"");
    let every = format!("-{}", tress_cipher::cpu::SWITCHES.join(",-"));
    let json = with(&every, &["ciphers", "--json"]).json();
    for cipher in json.as_array().unwrap() {
        for backend in cipher["backends"].as_array().unwrap() {
            let is_base = ["reference", "portable", "riscv32"].contains(&backend["name"].as_str().unwrap());
            assert!(is_base || backend["available"] == false, "{backend} is left");
        }
    }
    for (value, item) in [("-aes,-avx513", "'-avx513'"), ("aes", "'aes'"), ("-aes,,", "''")] {
        with(value, &["ciphers"]).wrong_use(item);
    }
    with("-avx513", &["--help"]).ok();
}

/// A 16-bit counter must not wrap, not even between two buffers of a long stream. With `-o` no file appears.
#[test]
fn a_short_counter_ends() {
    let folder = Folder::new();
    let options = |counter: &str| {
        format!("encrypt --cipher pipo-128-ctr --key {} --iv 010203040506{counter} -o out in", "5a".repeat(16))
    };
    folder.write("in", vec![7; 8 << 16]);
    raw(&folder, &options("0000"), &[]).ok();
    assert_eq!(folder.read("out").len(), 8 << 16);
    std::fs::remove_file(folder.path("out")).unwrap();
    raw(&folder, &options("0001"), &[]).failed("in");
    assert!(!folder.path("out").exists());
}

#[test]
fn bad_data() {
    let folder = Folder::new();
    let ecb = format!("--cipher aes-128-ecb --key {KEY_128}");
    raw(&folder, &format!("decrypt {ecb}"), &[0; 16]).failed("standard input");
    raw(&folder, &format!("decrypt {ecb}"), &[]).failed("standard input");
    // Bad padding is found only at the end of a stream. The existing file is kept, and no other file is left.
    folder.write("in", plaintext(1_000_000 / 16 * 16));
    folder.write("out", "mine");
    let before = folder.names();
    raw(&folder, &format!("decrypt {ecb} --force -o out in"), &[]).failed("in");
    assert_eq!((folder.read("out").as_slice(), folder.names()), (b"mine".as_slice(), before));
}

#[test]
fn the_command_line_itself() {
    let folder = Folder::new();
    // An error does not repeat a key.
    let refused = folder.tress(["raw", "encrypt", "--cipher", "aes-128-ecb", "--key", "5ecre7"]).wrong_use("--key");
    assert!(!refused.stderr.contains("5ecre7"));
    folder.tress(["keygen", "a\x1b[2Jb", "c\nd"]).wrong_use("unexpected");
    assert_eq!(folder.tress([""; 0]).status.code(), Some(2));
    for arguments in [["--help"].as_slice(), &["--version"], &["encrypt", "--help"], &["raw", "encrypt", "-h"]] {
        assert!(!folder.tress(arguments).ok().stdout.is_empty());
    }
}

#[test]
fn completions_and_man_pages() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.tress(["completions", shell]).ok().stdout;
        assert!(String::from_utf8(script).unwrap().contains("rewrap"), "{shell}");
    }
    assert!(folder.tress(["man"]).ok().stdout.starts_with(b".ie"));
    std::fs::create_dir(folder.path("man")).unwrap();
    folder.tress(["man", "man"]).ok();
    for page in ["tress.1", "tress-encrypt.1", "tress-raw-encrypt.1"] {
        assert!(folder.path("man").join(page).exists(), "{page}");
    }
}

#[test]
fn what_a_key_is_too_much_used_for_is_told() {
    let folder = Folder::new();
    // 2^20 blocks of 64 bits (SP 800-67), and one byte more.
    folder.write("full", plaintext(8 << 20));
    folder.write("more", plaintext((8 << 20) + 1));
    let encrypt = |cipher: &str, options: &str, file: &str| {
        raw(&folder, &format!("encrypt --cipher {cipher} {options} -o out --force {file}"), b"").ok().stderr
    };
    let pipo = format!("--key {KEY_128}");
    assert_eq!(encrypt("pipo-128-ecb", &format!("{pipo} --no-padding"), "full"), "");
    let note = encrypt("pipo-128-ecb", &pipo, "more");
    assert!(note.starts_with("tress: note: more than 8 MiB") && note.lines().count() == 1, "{note}");
    assert_eq!(encrypt("aes-128-cbc", &format!("--key {KEY_128} --iv {IV}"), "more"), "");
    let ccm = |tag| encrypt("aes-128-ccm", &format!("--key {KEY_128} --iv {} --tag-length {tag}", &IV[..24]), "full");
    assert!(ccm(4).contains("2^32") && ccm(6).contains("2^48"));
    assert_eq!((ccm(8), ccm(16)), (String::new(), String::new()));
}
