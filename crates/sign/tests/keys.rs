//! Keys: what we write, we can read; what OpenSSL writes, we can read; and every type of wrong key has its own error.

use crate::common::der::long_integers;
use crate::common::vectors::{File, hexadecimal};
use crate::common::{freed, openssl, rsa_numbers as numbers};
use tress_sign::rsa::PrivateParts;
use tress_sign::signature::{Keypair, Signer, Verifier};
use tress_sign::{
    Error, KeyFile, PrivateKey, PublicKey, Scheme, SignJob, SigningKey, UnsupportedKey, VerifyingKey, discrete, rsa,
    sign_batch,
};
use zeroize::Zeroizing;

/// Encodes tag, length and content, independently of the crate.
pub(crate) fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    match content.len() {
        length @ 0..0x80 => bytes.push(length as u8),
        length @ 0x80..0x100 => bytes.extend([0x81, length as u8]),
        length => bytes.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    bytes.extend(content);
    bytes
}

pub(crate) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

pub(crate) fn integer(bytes: &[u8]) -> Vec<u8> {
    let stripped = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    if stripped.first().is_none_or(|first| *first >= 0x80) {
        return tlv(2, &[&[0], stripped].concat());
    }
    tlv(2, stripped)
}

pub(crate) fn read_pkcs1(numbers: &[Vec<u8>]) -> Result<PrivateKey, Error> {
    let encoded: Vec<_> = numbers.iter().map(|number| integer(number)).collect();
    KeyFile::read(&sequence(&encoded)).and_then(|file| file.into_private(None))
}

pub(crate) fn error<T: std::fmt::Debug>(result: Result<T, Error>) -> Error {
    result.unwrap_err()
}

#[test]
fn written_keys_read_back() {
    let keys = [
        read_pkcs1(&numbers()).unwrap(),
        PrivateKey::Dsa(discrete::PrivateKey::generate(discrete::GroupSize::Bits2048).unwrap()),
        PrivateKey::Schnorr(discrete::PrivateKey::generate(discrete::GroupSize::Bits3072).unwrap()),
    ];
    for key in keys {
        let scheme = Scheme::of(&key.public_key());
        let signing = SigningKey::new(key.clone(), scheme).unwrap();
        let signature = signing.try_sign(b"message").unwrap();
        for bytes in [key.to_der().to_vec(), key.to_pem().as_bytes().to_vec()] {
            let read = KeyFile::read(&bytes).unwrap().into_private(None).unwrap();
            assert_eq!((read.public_key(), read.to_der()), (key.public_key(), key.to_der()));
            assert_eq!(error(KeyFile::read(&bytes).unwrap().into_public()), Error::NotPublic);
        }
        let public = key.public_key();
        for bytes in [public.to_der(), public.to_pem().into_bytes()] {
            let read = KeyFile::read(&bytes).unwrap().into_public().unwrap();
            assert_eq!(read, public);
            VerifyingKey::new(read, scheme).unwrap().verify(b"message", &signature).unwrap();
            assert_eq!(error(KeyFile::read(&bytes).unwrap().into_private(None)), Error::NotPrivate);
        }
        assert!(signing.verifying_key().verify(b"massage", &signature).is_err());
        let shown = format!("{key:?} {signing:?} {:?}", KeyFile::read(&key.to_der()));
        assert!(!shown.contains('[') && shown.len() < 400, "{shown}");
    }
}

#[test]
fn fresh_rsa_keys() {
    for bits in [2048, 2050] {
        let key = rsa::PrivateKey::generate(bits).unwrap();
        assert_eq!((key.public_key().bits(), key.public_key().exponent()), (bits, 65537));
        // Reading checks all numbers.
        let der = PrivateKey::Rsa(key).to_der();
        let key = KeyFile::read(&der).unwrap().into_private(None).unwrap();
        openssl::with(|openssl| {
            let file = openssl.file("key.der", &der);
            let said = openssl.run(&["pkey", "-inform", "DER", "-in", &file, "-check", "-noout"]);
            assert!(said.contains("Key is valid"), "{said}");
        });
        let signing = SigningKey::new(key, Scheme::ALL[1]).unwrap();
        signing.verifying_key().verify(b"x", &signing.sign(b"x")).unwrap();
    }
    for bits in [0, 2046, 2049, 8194, usize::MAX] {
        assert_eq!(error(rsa::PrivateKey::generate(bits)), Error::ModulusLength);
    }
}

/// The key is made, used alone and in a batch, written, read and dropped.
#[test]
fn keys_leave_nothing_in_freed_memory() {
    type Make = fn() -> PrivateKey;
    let rsa: Make = || PrivateKey::Rsa(rsa::PrivateKey::generate(2048).unwrap());
    let dsa: Make = || PrivateKey::Dsa(discrete::PrivateKey::generate(discrete::GroupSize::Bits2048).unwrap());
    let schnorr: Make = || PrivateKey::Schnorr(discrete::PrivateKey::generate(discrete::GroupSize::Bits2048).unwrap());
    for (make, public, all) in [(rsa, 1, 7), (dsa, 3, 4), (schnorr, 3, 4)] {
        let life = || {
            let key = make();
            let text = key.to_pem();
            let key = KeyFile::read(text.as_bytes()).unwrap().into_private(None).unwrap();
            let der = key.to_der();
            let key = SigningKey::new(key.clone(), Scheme::of(&key.public_key())).unwrap();
            let _ = key.sign(b"alone");
            let digest = key.scheme().hash().digest(b"with others");
            let jobs: Vec<_> = (0..9).map(|_| SignJob { key: &key, digest: &digest }).collect();
            assert!(sign_batch(&jobs, 1).iter().all(Result::is_ok));
            der
        };
        let secrets = |der: &Zeroizing<Vec<u8>>| {
            let mut numbers = long_integers(der);
            assert_eq!(numbers.len(), all);
            numbers.split_off(public)
        };
        assert_eq!(freed::secrets_left_by(life, secrets).1, <[String; 0]>::default());
    }
}

/// The error for a key with one changed number.
#[test]
fn inconsistent_rsa_keys() {
    let right = numbers();
    assert!(read_pkcs1(&right).is_ok());
    let with = |changes: &[(usize, &[u8])]| {
        let mut numbers = right.clone();
        for (index, value) in changes {
            numbers[*index] = value.to_vec();
        }
        read_pkcs1(&numbers).map(drop)
    };
    let changed = |index: usize, delta: u8| {
        let mut number = right[index].clone();
        *number.last_mut().unwrap() ^= delta;
        number
    };
    let cases: [(&str, Result<(), Error>, Error); 24] = [
        ("version", with(&[(0, &[2])]), Error::MalformedKey),
        ("n even", with(&[(1, &changed(1, 1))]), Error::ModulusEven),
        ("n of others", with(&[(1, &changed(1, 2))]), Error::WrongPrimes),
        ("n short", with(&[(1, &right[1][1..])]), Error::ModulusTooShort),
        ("n 0", with(&[(1, &[0])]), Error::ModulusTooShort),
        ("n long", with(&[(1, &[0x80; 1025])]), Error::ModulusTooLong),
        ("e 0", with(&[(2, &[0])]), Error::PublicExponent),
        ("e 1", with(&[(2, &[1])]), Error::PublicExponent),
        ("e even", with(&[(2, &[1, 0, 0])]), Error::PublicExponent),
        ("e long", with(&[(2, &[1, 0, 0, 0, 0, 0, 0, 0, 1])]), Error::PublicExponent),
        ("e other", with(&[(2, &[5])]), Error::WrongPrivateValues),
        ("d other", with(&[(3, &changed(3, 2))]), Error::WrongPrivateValues),
        ("d 0", with(&[(3, &[0])]), Error::WrongPrivateValues),
        ("d long", with(&[(3, &[1; 300])]), Error::WrongPrivateValues),
        ("p = q", with(&[(5, &right[4])]), Error::EqualPrimes),
        ("p other", with(&[(4, &changed(4, 2))]), Error::WrongPrimes),
        ("p even", with(&[(4, &changed(4, 1))]), Error::WrongPrimes),
        ("p 1, q n", with(&[(4, &[1]), (5, &right[1])]), Error::WrongPrimes),
        ("p and q swapped", with(&[(4, &right[5]), (5, &right[4])]), Error::WrongPrivateValues),
        ("d mod p - 1", with(&[(6, &changed(6, 1))]), Error::WrongPrivateValues),
        ("d mod q - 1", with(&[(7, &changed(7, 4))]), Error::WrongPrivateValues),
        ("d mod q - 1 of p", with(&[(7, &right[6])]), Error::WrongPrivateValues),
        ("1 / q", with(&[(8, &changed(8, 1))]), Error::WrongPrivateValues),
        ("1 / q 0", with(&[(8, &[0])]), Error::WrongPrivateValues),
    ];
    for (name, outcome, expected) in cases {
        assert_eq!(outcome, Err(expected), "{name}");
    }
}

#[test]
fn short_rsa_keys() {
    // Keys of 1024 bits can verify, but not sign; shorter keys can do neither.
    let file = File::read("cavp-rsa-pkcs1-siggen");
    let short = file.groups.iter().map(|group| KeyFile::read(&group.public_key).unwrap().into_public().unwrap());
    let shortest = short.filter_map(|key| if let PublicKey::Rsa(key) = key { Some(key.bits()) } else { None }).min();
    assert_eq!(shortest, Some(1024));
    assert_eq!(error(rsa::PublicKey::new(&[0xff; 127], &[3])), Error::ModulusTooShort);
    assert_eq!(error(rsa::PublicKey::new(&[], &[])), Error::ModulusTooShort);
    let n = &numbers();
    let key = PrivateParts {
        modulus: &[0xff; 255],
        public_exponent: &n[2],
        private_exponent: &n[3],
        prime1: &n[4],
        prime2: &n[5],
        exponent1: &n[6],
        exponent2: &n[7],
        coefficient: &n[8],
    };
    assert_eq!(error(rsa::PrivateKey::new(&key)), Error::ModulusTooShort);
}

#[test]
fn der_of_every_kind_of_wrong() {
    let key = read_pkcs1(&numbers()).unwrap();
    let right = key.to_der().to_vec();
    let malformed = |bytes: &[u8], what: &str| {
        let outcome = KeyFile::read(bytes);
        assert!(outcome.is_err(), "{what}: {outcome:?}");
    };
    for length in 0..right.len() {
        malformed(&right[..length], "cut");
    }
    malformed(&[&right[..], &[0]].concat(), "a byte after");
    // BER: an indefinite length, and a length in more bytes than necessary.
    malformed(&[&[0x30, 0x80], &right[4..], &[0, 0]].concat(), "indefinite length");
    malformed(&[&[0x30, 0x83, 0], &right[2..]].concat(), "long length");
    // A number with a redundant leading zero, and a negative one.
    let numbers = numbers();
    let encoded = |index: usize, content: Vec<u8>| {
        let mut parts: Vec<_> = numbers.iter().map(|number| integer(number)).collect();
        parts[index] = content;
        sequence(&parts)
    };
    malformed(&encoded(2, tlv(2, &[0, 1, 0, 1])), "leading zero");
    malformed(&encoded(2, tlv(2, &[0x81, 0, 1])), "negative");
    malformed(&encoded(2, tlv(2, &[])), "empty number");
    malformed(&encoded(2, tlv(3, &[1, 0, 1])), "other tag");
    assert!(KeyFile::read(&encoded(2, integer(&numbers[2]))).is_ok());
    // The parameters of RSA are NULL, or absent.
    let oid = hexadecimal("06092a864886f70d010101");
    let with = |algorithm: &[Vec<u8>]| {
        let der = encoded(2, integer(&numbers[2]));
        KeyFile::read(&sequence(&[integer(&[0]), sequence(algorithm), tlv(4, &der)])).map(drop)
    };
    assert_eq!(with(&[oid.clone(), tlv(5, &[])]), Ok(()));
    assert_eq!(with(std::slice::from_ref(&oid)), Ok(()));
    assert_eq!(with(&[oid.clone(), tlv(5, &[0])]), Err(Error::MalformedKey));
    assert_eq!(with(&[oid, integer(&[1])]), Err(Error::MalformedKey));
    // An elliptic curve key.
    let ec = hexadecimal("06072a8648ce3d0201");
    assert_eq!(with(&[ec, tlv(5, &[])]), Err(Error::UnknownAlgorithm));
    // More than two primes (RFC 8017, A.1.2): version 1, and more numbers.
    let mut multi: Vec<_> = numbers.iter().map(|number| integer(number)).collect();
    multi[0] = integer(&[1]);
    multi.push(sequence(&[sequence(&[integer(&[7]), integer(&[3]), integer(&[1])])]));
    assert_eq!(error(KeyFile::read(&sequence(&multi))), Error::MultiPrime);
    // A flipped bit anywhere is an error, or does not affect the key.
    for position in (0..right.len()).step_by(7) {
        let mut flipped = right.clone();
        flipped[position] ^= 0x10;
        malformed(&flipped, "a flipped bit");
    }
}

#[test]
fn pem_of_every_kind_of_wrong() {
    let key = read_pkcs1(&numbers()).unwrap();
    let right = key.to_pem().to_string();
    let read = |text: &str| KeyFile::read(text.as_bytes()).map(drop);
    assert_eq!(read(&right), Ok(()));
    // The limit of 64 KiB is for the key and the text around it.
    let padded = |bytes: usize| format!("{right}{}", "\n".repeat(bytes - right.len()));
    assert_eq!(read(&padded(65_536)), Ok(()));
    assert_eq!(read(&padded(65_537)), Err(Error::MalformedKey));
    assert_eq!(read(&format!("{right}{right}")), Err(Error::SeveralKeys));
    assert_eq!(read(&right.replace("PRIVATE KEY", "DSA PARAMETERS")), Err(Error::UnknownPem));
    assert_eq!(read(&right.replace("PRIVATE KEY", "EC PRIVATE KEY")), Err(Error::UnknownPem));
    for wrong in [
        "",
        "-----BEGIN",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
        "hello",
        &right[..right.len() / 2],
        &right.replacen("PRIVATE", "PUBLIC", 1),
        &right.replace("PRIVATE", "PUBLIC"),
        &right.replace("PRIVATE", "RSA PRIVATE"),
        &right.replace("PRIVATE", "RSA PUBLIC"),
        &right.replace("PRIVATE", "ENCRYPTED PRIVATE"),
        &right.replacen("MII", "MI!", 1),
        &right.replacen("MII", "M II", 1),
        &right.replacen("-----\n", "-----\nComment: none\n", 1),
        &right.replacen("MII", "MIII", 1),
        &format!("{right}{}", &right[..right.len() / 2]),
        &format!("in a line {right}"),
        &"A".repeat(100_000),
    ] {
        assert_eq!(read(wrong), Err(Error::MalformedKey), "{}", &wrong[..wrong.len().min(60)]);
    }
    assert_eq!(error(KeyFile::read(&[0xff; 100])), Error::MalformedKey);
}

#[test]
fn wrong_groups_and_values() {
    use discrete::{Dsa, Group, GroupSize, PrivateKey, PublicKey, Schnorr};

    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/sign/groups.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let number = |name: &str| hexadecimal(json["testGroups"][0]["tests"][0][name].as_str().unwrap());
    let (p, q, g) = (number("p"), number("q"), number("g"));
    let group = Group::new(&p, &q, &g).unwrap();
    assert_eq!(&group, Group::published(GroupSize::Bits2048));
    let changed = |number: &[u8], delta: u8| {
        let mut number = number.to_vec();
        *number.last_mut().unwrap() ^= delta;
        number
    };
    for (name, outcome, expected) in [
        ("p short", Group::new(&p[1..], &q, &g), Error::GroupSize),
        ("p empty", Group::new(&[], &q, &g), Error::GroupSize),
        ("p endless", Group::new(&[1; 1000], &q, &g), Error::GroupSize),
        ("q short", Group::new(&p, &q[1..], &g), Error::GroupSize),
        ("q 0", Group::new(&p, &[0; 32], &g), Error::GroupSize),
        ("p even", Group::new(&changed(&p, 1), &q, &g), Error::WrongGroup),
        ("q even", Group::new(&p, &changed(&q, 1), &g), Error::WrongGroup),
        ("q does not divide p - 1", Group::new(&p, &changed(&q, 2), &g), Error::WrongGroup),
        ("g 0", Group::new(&p, &q, &[]), Error::WrongGroup),
        ("g 1", Group::new(&p, &q, &[1]), Error::WrongGroup),
        ("g p - 1", Group::new(&p, &q, &changed(&p, 1)), Error::WrongGroup),
        ("g of another order", Group::new(&p, &q, &changed(&g, 1)), Error::WrongGroup),
        ("g = p", Group::new(&p, &q, &p), Error::WrongGroup),
    ] {
        assert_eq!(outcome.unwrap_err(), expected, "{name}");
    }
    for x in [&[][..], &[0], &q, &[0xff; 32], &[1; 40]] {
        assert_eq!(error(PrivateKey::<Dsa>::new(group.clone(), x)), Error::WrongPrivateValues);
        assert_eq!(error(PrivateKey::<Schnorr>::new(group.clone(), x)), Error::WrongPrivateValues);
    }
    for y in [&[][..], &[1], &changed(&p, 1), &p, &[1; 257], &[2], &[1; 300]] {
        assert_eq!(error(PublicKey::<Dsa>::new(group.clone(), y)), Error::WrongPublicValue, "{y:?}");
    }
    assert!(PublicKey::<Schnorr>::new(group, &g).is_ok());
}

/// With a composite q a signature could reveal x modulo its factors.
#[test]
fn a_group_that_is_no_prime_signs_nothing() {
    use discrete::{Dsa, Group, PrivateKey, PublicKey};
    let lines = include_str!("composite-group.txt").lines();
    let numbers: Vec<_> =
        lines.filter_map(|line| line.split_once(" = ")).map(|(_, digits)| hexadecimal(digits)).collect();
    let [p, q, g] = &numbers[..] else { panic!("three numbers") };
    let group = Group::new(p, q, g).unwrap();
    assert!(PublicKey::<Dsa>::new(group.clone(), g).is_ok(), "nothing is secret there");
    assert_eq!(error(PrivateKey::<Dsa>::new(group, &[5])), Error::WrongGroup);
}

/// A key belongs to one scheme.
#[test]
fn keys_of_other_schemes() {
    let rsa = read_pkcs1(&numbers()).unwrap();
    let dsa = PrivateKey::Dsa(discrete::PrivateKey::generate(discrete::GroupSize::Bits2048).unwrap());
    let schnorr = PrivateKey::Schnorr(discrete::PrivateKey::generate(discrete::GroupSize::Bits2048).unwrap());
    for (index, key) in [rsa, dsa.clone(), schnorr.clone()].into_iter().enumerate() {
        for (number, scheme) in Scheme::ALL.iter().copied().enumerate() {
            let suits = [0, 0, 1, 2, 0, 0, 1, 0, 0, 1][number] == index;
            let expected = if suits { Ok(()) } else { Err(Error::WrongScheme) };
            assert_eq!(SigningKey::new(key.clone(), scheme).map(drop), expected);
            assert_eq!(VerifyingKey::new(key.public_key(), scheme).map(drop), expected);
        }
    }
    // The same numbers with the other identifier are another key.
    let dsa_oid = hexadecimal("06072a8648ce380401");
    let der = dsa.public_key().to_der();
    let at = der.windows(dsa_oid.len()).position(|window| window == dsa_oid).unwrap();
    assert!(at < 12);
    let schnorr_der = schnorr.public_key().to_der();
    assert!(!schnorr_der.windows(dsa_oid.len()).any(|window| window == dsa_oid));
    assert!(matches!(KeyFile::read(&schnorr_der), Ok(KeyFile::Public(PublicKey::Schnorr(_)))));
    assert!(matches!(KeyFile::read(&der), Ok(KeyFile::Public(PublicKey::Dsa(_)))));
}

/// The same keys as OpenSSL writes them, and in the arrangements of lines that it and others write and accept.
#[test]
fn forms_of_keys() {
    type Arrange = fn(&str) -> String;
    fn in_lines_of(text: &str, length: usize) -> String {
        let (first, rest) = text.split_once('\n').unwrap();
        let (body, last) = rest.split_once("-----END").unwrap();
        let body: Vec<char> = body.chars().filter(|character| *character != '\n').collect();
        let body: String = body.chunks(length).flat_map(|line| line.iter().chain(&['\n'])).collect();
        format!("{first}\n{body}-----END{last}")
    }
    let arranged: [Arrange; 13] = [
        str::to_owned,
        |text| in_lines_of(text, 48),
        |text| in_lines_of(text, 76),
        |text| in_lines_of(text, usize::MAX),
        |text| format!("\u{feff}{text}"),
        |text| text.replacen('\n', "\n\n", 1),
        |text| format!("{text}\0"),
        |text| text.trim_end().into(),
        |text| text.replace('\n', " \t\r\n"),
        |text| text.replace('\n', "\r"),
        |text| text.replace('\n', "\n    "),
        |text| format!("0 -----BEGIN\n-----\n{text}key: value\n{}", text.replace(" KEY", " PARAMETERS")),
        |text| format!("-----BEGIN X-----\nnot Base64!\n-----END X-----\n{text}"),
    ];
    openssl::with(|openssl| {
        let rsa = rsa::PrivateKey::generate(2048).unwrap();
        let dsa = discrete::PrivateKey::generate(discrete::GroupSize::Bits2048).unwrap();
        for (key, public_numbers) in [(PrivateKey::Rsa(rsa), 1), (PrivateKey::Dsa(dsa), 3)] {
            let right = key.to_der();
            let (path, cert) = (openssl.file("key", key.to_pem().as_bytes()), openssl.path("cert"));
            let (out, bundle) = (openssl.path("out"), openssl.path("bundle"));
            openssl.run(&["req", "-x509", "-key", &path, "-subj", "/CN=x", "-out", &cert]);
            openssl.run(&["pkcs12", "-export", "-inkey", &path, "-in", &cert, "-out", &bundle, "-passout", "pass:x"]);
            let command = |start: &[&str], options: &str| {
                openssl.run(&[start, &options.split(' ').collect::<Vec<_>>(), &["-out", &out]].concat());
                openssl.read("out")
            };
            let pkey = |options| command(&["pkey", "-in", &path], options);
            let old = if public_numbers == 1 { "rsa" } else { "dsa" };
            let public = pkey("-pubout");
            let read = |bytes: &[u8]| {
                let file = KeyFile::read(bytes).and_then(|file| file.into_private(Some(b"x")));
                file.map(|key| key.to_der())
            };
            let forms = [
                pkey("-outform PEM"),
                pkey("-traditional"),
                command(&["pkcs8", "-topk8", "-in", &path], "-passout pass:x"),
                pkey("-outform DER"),
                command(&[old, "-in", &path], if old == "rsa" { "-traditional -outform DER" } else { "-outform DER" }),
                pkey("-text"),
                command(&["pkcs12", "-in", &bundle, "-passin", "pass:x"], "-nodes"),
                command(&["pkcs12", "-in", &bundle, "-passin", "pass:x"], "-passout pass:x"),
                [&public[..], &pkey("-outform PEM"), &openssl.read("cert")].concat(),
            ];
            let secrets = |_: &_| long_integers(&right).split_off(public_numbers);
            let all = || forms.iter().map(|bytes| read(bytes)).collect::<Vec<_>>();
            let (outcomes, left) = freed::secrets_left_by(all, secrets);
            assert_eq!(left, <[String; 0]>::default());
            for (index, (bytes, outcome)) in forms.iter().zip(outcomes).enumerate() {
                assert_eq!(outcome.as_ref(), Ok(&right), "{old} {index}");
                for (number, arrange) in arranged.iter().enumerate().filter(|_| index < 3) {
                    let text = arrange(std::str::from_utf8(bytes).unwrap());
                    assert_eq!(read(text.as_bytes()).as_ref(), Ok(&right), "{old} {index} {number}");
                }
            }
            for (number, arrange) in arranged.iter().enumerate() {
                let text = arrange(std::str::from_utf8(&public).unwrap());
                let read = KeyFile::read(text.as_bytes()).and_then(KeyFile::into_public);
                assert_eq!(read, Ok(key.public_key()), "{old} {number}");
            }
            for (bytes, expected) in [
                (openssl.read("cert"), UnsupportedKey::X509),
                (command(&["x509", "-in", &cert], "-outform DER"), UnsupportedKey::X509),
                (command(&["req", "-new", "-key", &path], "-subj /CN=x"), UnsupportedKey::X509),
                (openssl.read("bundle"), UnsupportedKey::Pkcs12),
                (key.to_pem().replace("PRIVATE", "OPENSSH PRIVATE").into(), UnsupportedKey::OpenSsh),
                (b"ssh-rsa AAAAB3NzaC1yc2E= comment".to_vec(), UnsupportedKey::OpenSsh),
            ] {
                assert_eq!(error(KeyFile::read(&bytes)), Error::Unsupported(expected));
            }
            if old == "dsa" {
                let mut other = command(&["dsa", "-in", &path], "-outform DER");
                let y = long_integers(&other).swap_remove(3);
                let at = other.windows(y.len()).position(|window| window == y).unwrap();
                other[at + 9] ^= 1;
                assert_eq!(error(KeyFile::read(&other)), Error::WrongPublicValue);
            }
        }
    });
}
