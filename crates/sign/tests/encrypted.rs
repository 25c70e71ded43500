//! Keys that are encrypted with a passphrase, by OpenSSL or with its functions.

use crate::common::vectors::hexadecimal;
use crate::common::{openssl, rsa_numbers as numbers};
use crate::keys::{error, integer, read_pkcs1, sequence, tlv};
use tress_sign::{EncryptedKey, Error, KeyFile};

#[test]
fn encrypted_keys() {
    openssl::with(|openssl| {
        let key = openssl.file("key.der", &read_pkcs1(&numbers()).unwrap().to_der());
        let encrypted = |options: &[&str]| {
            let out = openssl.path("encrypted.pem");
            let fixed = ["pkcs8", "-topk8", "-inform", "DER", "-in", &key, "-out", &out, "-passout", "pass:four lanes"];
            openssl.run(&[&fixed[..], options].concat());
            std::fs::read(&out).unwrap()
        };
        for options in [
            &["-v2", "aes-256-cbc"][..],
            &["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA512"],
            &["-v2", "aes-192-cbc", "-iter", "10000"],
            // The default function of PBKDF2 (RFC 8018, A.2).
            &["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA1"],
            &["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512-224"],
            &["-scrypt"],
            &["-v2", "aes-256-cbc", "-outform", "DER"],
        ] {
            let file = KeyFile::read(&encrypted(options)).unwrap();
            assert!(matches!(file, KeyFile::Encrypted(_)));
            assert_eq!(error(file.clone().into_private(None)), Error::Encrypted);
            assert_eq!(error(file.clone().into_public()), Error::NotPublic);
            for wrong in [&b"four lane"[..], b"", b"four lanes\n"] {
                assert_eq!(error(file.clone().into_private(Some(wrong))), Error::WrongPassphrase);
            }
            let read = file.into_private(Some(b"four lanes")).unwrap();
            assert_eq!(read.public_key(), read_pkcs1(&numbers()).unwrap().public_key());
        }
        assert_eq!(error(KeyFile::read(&encrypted(&["-v2", "des3"]))), Error::UnknownEncryption);
        assert_eq!(error(KeyFile::read(&encrypted(&["-v1", "PBE-SHA1-3DES"]))), Error::UnknownEncryption);
        // PEM's own encryption, from before PKCS #8.
        let out = openssl.path("traditional.pem");
        let fixed = ["rsa", "-inform", "DER", "-in", &key, "-traditional", "-passout", "pass:four lanes", "-out", &out];
        for cipher in ["-aes256", "-des3"] {
            openssl.run(&[&fixed[..], &[cipher]].concat());
            assert_eq!(error(KeyFile::read(&openssl.read("traditional.pem"))), Error::UnknownEncryption);
        }
    });
}

const IV: &str = "00112233445566778899aabbccddeeff";

/// PBES2 (RFC 8018, A.4) with AES-256-CBC, and data of that cipher.
fn pbes2(derivation: &[u8], data: &[u8]) -> Vec<u8> {
    let cipher = sequence(&[hexadecimal("060960864801650304012a"), tlv(4, &hexadecimal(IV))]);
    let scheme = sequence(&[derivation.to_vec(), cipher]);
    sequence(&[sequence(&[hexadecimal("06092a864886f70d01050d"), scheme]), tlv(4, data)])
}

/// PBKDF2 (RFC 8018, A.2) with the HMAC of this number: 7 is SHA-1, 9 SHA-256, 11 SHA-512.
fn pbkdf2(salt: &[u8], rounds: u64, hmac: u8) -> Vec<u8> {
    let prf = sequence(&[tlv(6, &[&hexadecimal("2a864886f70d02")[..], &[hmac]].concat()), tlv(5, &[])]);
    let parameters = sequence(&[tlv(4, salt), integer(&rounds.to_be_bytes()), prf]);
    sequence(&[hexadecimal("06092a864886f70d01050c"), parameters])
}

/// RFC 7914, section 7, with N, r and p.
fn scrypt(salt: &[u8], costs: [u64; 3]) -> Vec<u8> {
    let [n, r, p] = costs.map(|cost| integer(&cost.to_be_bytes()));
    sequence(&[hexadecimal("06092b06010401da47040b"), sequence(&[tlv(4, salt), n, r, p])])
}

/// Salts of lengths that other programs use, and a malformed key, which is not a wrong passphrase. OpenSSL 3.0 writes neither, so it
/// derives and encrypts, and the test assembles.
#[test]
fn long_salts_and_malformed_keys() {
    openssl::with(|openssl| {
        let right = read_pkcs1(&numbers()).unwrap().to_der().to_vec();
        let mut wrong = right.clone();
        // The parameters of RSA are NULL.
        wrong[right.windows(2).position(|window| window == [5, 0]).unwrap()] = 4;
        assert_eq!(error(KeyFile::read(&wrong)), Error::MalformedKey);
        for (plain, bytes) in [(&right, 1), (&right, 32), (&right, 33), (&right, 64), (&right, 128), (&wrong, 8)] {
            let salt: Vec<u8> = (0..bytes).collect();
            let hex = format!("hexsalt:{}", salt.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            for (derivation, options) in [
                (pbkdf2(&salt, 1000, 9), &["PBKDF2", "digest:SHA256", "iter:1000"][..]),
                (scrypt(&salt, [16, 8, 2]), &["SCRYPT", "n:16", "r:8", "p:2"]),
            ] {
                let given = [&options[1..], &["pass:four lanes", &hex]].concat();
                let given: Vec<_> = given.iter().flat_map(|option| ["-kdfopt", option]).collect();
                let key = openssl.run(&[&["kdf", "-keylen", "32"], &given[..], &options[..1]].concat());
                let (plain_path, sealed) = (openssl.file("plain", plain), openssl.path("sealed"));
                let key = key.trim().replace(':', "");
                openssl.run(&["enc", "-aes-256-cbc", "-K", &key, "-iv", IV, "-in", &plain_path, "-out", &sealed]);
                let file = KeyFile::read(&pbes2(&derivation, &openssl.read("sealed"))).unwrap();
                let opened = file.clone().into_private(Some(b"four lanes")).map(|key| key.to_der().to_vec());
                assert_eq!(
                    opened,
                    if *plain == right { Ok(right.clone()) } else { Err(Error::MalformedKey) },
                    "{bytes}"
                );
                assert_eq!(error(file.into_private(Some(b"four lane"))), Error::WrongPassphrase);
            }
        }
    });
}

/// What a file may ask for, by the sizes of `docs/reference/limits.md`.
#[test]
fn work_factors() {
    let huge = u64::from(u32::MAX);
    for (derivation, expected) in [
        (pbkdf2(b"salt", 2048, 9), Ok(9)),
        (pbkdf2(b"salt", 5 << 20, 9), Ok(20)),
        (pbkdf2(b"salt", (5 << 20) + 1, 9), Ok(21)),
        // Two digests of SHA-1 make a key of 32 bytes.
        (pbkdf2(b"salt", 5 << 20, 7), Ok(21)),
        (pbkdf2(b"salt", 5 << 23, 11), Ok(23)),
        (pbkdf2(b"salt", (5 << 23) + 1, 11), Err(Error::WorkFactorTooHigh)),
        (pbkdf2(b"salt", huge, 9), Err(Error::WorkFactorTooHigh)),
        (scrypt(b"salt", [1 << 20, 8, 1]), Ok(20)),
        (scrypt(b"salt", [1 << 17, 8, 64]), Ok(23)),
        (scrypt(b"salt", [1 << 21, 8, 1]), Err(Error::WorkFactorTooHigh)),
        (scrypt(b"salt", [2, 1, 1 << 24]), Err(Error::WorkFactorTooHigh)),
        (scrypt(b"salt", [2, 1 << 24, 1]), Err(Error::WorkFactorTooHigh)),
        (scrypt(b"salt", [1 << 14, 8, 1]), Ok(14)),
        // The memory counts the block for a copy, and the time PBKDF2 with its salt.
        (scrypt(b"salt", [2, 1 << 22, 1]), Err(Error::WorkFactorTooHigh)),
        (scrypt(b"salt", [2, 1 << 21, 1]), Ok(21)),
        (scrypt(b"salt", [2, 1, 1 << 22]), Ok(22)),
        (scrypt(&[0; 1024], [16, 8, 2]), Ok(8)),
        (scrypt(b"salt", [1 << 63, huge, huge]), Err(Error::WorkFactorTooHigh)),
        (scrypt(b"salt", [1, 8, 1]), Err(Error::UnknownEncryption)),
        (scrypt(b"salt", [3, 8, 1]), Err(Error::UnknownEncryption)),
        (scrypt(b"salt", [16, 0, 1]), Err(Error::UnknownEncryption)),
        (scrypt(b"salt", [16, 8, 0]), Err(Error::UnknownEncryption)),
        (scrypt(b"salt", [16, 8, huge + 1]), Err(Error::UnknownEncryption)),
        (pbkdf2(b"salt", 0, 9), Err(Error::UnknownEncryption)),
        (pbkdf2(b"salt", huge + 1, 9), Err(Error::UnknownEncryption)),
        (pbkdf2(b"salt", 1, 14), Err(Error::UnknownEncryption)),
    ] {
        let file = KeyFile::read(&pbes2(&derivation, &[0; 160]));
        let Ok(KeyFile::Encrypted(key)) = file else {
            assert_eq!(file.map(drop), expected.map(drop));
            continue;
        };
        assert_eq!(Ok(key.work_factor()), expected);
        let limits = [0, key.work_factor() - 1, EncryptedKey::HIGHEST_LIMIT + 1];
        let refused = limits.map(|limit| error(key.decrypt_up_to(b"x", limit)));
        assert_eq!(refused, [Error::WorkFactorTooHigh; 3]);
        if key.work_factor() > EncryptedKey::DEFAULT_LIMIT {
            assert_eq!(error(key.decrypt(b"x")), Error::WorkFactorTooHigh);
        }
        if key.work_factor() == 9 {
            assert_eq!(error(key.decrypt_up_to(b"x", 9)), Error::WrongPassphrase);
        }
    }
}
