//! Bounds, compared with sums by hand.

use super::*;

fn roofs() -> Roofline {
    Roofline { cache_bytes: vec![48 << 10, 1280 << 10, 48 << 20], ..Roofline::default() }
}

fn row(name: &str, direction: &str, backend: &str, lanes: usize, message_bytes: u64) -> BenchRow {
    let (name, direction, backend) = (name.into(), direction.into(), backend.into());
    BenchRow { name, direction, backend, lanes, message_bytes, threads: 1, ..BenchRow::default() }
}

#[track_caller]
fn check(row: &BenchRow, expected: &[(&str, f64)]) {
    let bounds = bounds_of_row(row, &roofs());
    let found: Vec<(&str, f64)> = bounds.iter().map(|bound| (bound.roof.as_str(), bound.per_unit)).collect();
    assert_eq!(found, expected, "{row:?}");
}

/// 10 rounds for 16 bytes; CCM 20; AES-256 in CCM 28. The roof of full registers does not limit a single chain; 32
/// chains share 10 rounds for 16 bytes.
#[test]
fn aes() {
    check(&row("aes-128-ctr", "encrypt", "vaes512", 1, 16_384), &[("aes-512", 0.625), ("l1-update", 1.0)]);
    check(
        &row("aes-128-ccm", "decrypt", "vaes512", 32, 16_384),
        &[("aes-512", 1.25), ("aes-chain", 0.625 / 32.0), ("l2-update", 1.0)],
    );
    check(
        &row("aes-256-ccm", "encrypt", "aesni", 32, 16_384),
        &[("aes-128", 1.75), ("aes-chain", 0.875 / 32.0), ("l2-update", 1.0)],
    );
    check(&row("aes-128-cbc", "encrypt", "vaes256", 1, 16_384), &[("aes-chain", 0.625), ("l1-update", 1.0)]);
    check(&row("aes-192-cbc", "decrypt", "vaes256", 1, 16_384), &[("aes-256", 0.75), ("l1-update", 1.0)]);
    check(&row("aes-128-ccm", "encrypt", "vaes512", 1, 1 << 30), &[("aes-chain", 0.625), ("memory-update", 1.0)]);
    check(&row("aes-128-ctr", "encrypt", "portable", 1, 16_384), &[]);
}

/// Rijndael of 256 bits: 14 rounds for 32 bytes, which are two instructions of 16 bytes; in a chain one after the other.
/// RC6: 40 halves for 16 bytes. PIPO: 13 rounds for 8 bytes; with AVX2 42 operations a round on 8 bytes.
#[test]
fn others() {
    check(&row("rijndael-256-256-ecb", "encrypt", "vaes512", 1, 16_384), &[("aes-512", 0.875), ("l1-update", 1.0)]);
    check(
        &row("rijndael-256-128-cbc", "encrypt", "vaes512", 1, 16_384),
        &[("aes-chain", 14.0 / 32.0), ("l1-update", 1.0)],
    );
    check(
        &row("rc6-128-ctr", "encrypt", "avx512", 1, 16_384),
        &[("rc6-512", 2.5), ("multiply-32-512", 2.5), ("l1-update", 1.0)],
    );
    check(&row("rc6-128-cbc", "encrypt", "avx512", 1, 16_384), &[("rc6-chain", 1.25), ("l1-update", 1.0)]);
    check(&row("pipo-128-ecb", "decrypt", "gfni512", 1, 16_384), &[("pipo-512", 1.625), ("l1-update", 1.0)]);
    check(&row("pipo-256-ctr", "encrypt", "avx2", 1, 16_384), &[("logic-256", 17.0 * 5.25), ("l1-update", 1.0)]);
    check(&row("pipo-128-cbc", "encrypt", "gfni512", 1, 16_384), &[]);
}

/// 4 digits: 16 products for 32 bytes. 64 digits: three of 32, each three of 16: 9 · 256 for 512 bytes. 1024 bits, 16 digits:
/// 205 windows of 5, so 1020 squares and 204 products, 15 of each for the table; a square has 136 + 256 products, a product
/// 512.
#[test]
fn numbers() {
    check(&row("multiply", "multiply", "portable", 1, 32), &[("multiply-64", 0.5)]);
    check(&row("multiply", "multiply", "portable", 1, 512), &[("multiply-64", 4.5)]);
    let power = 1035.0 * 392.0 + 219.0 * 512.0;
    check(&row("power", "power", "adx", 1, 128), &[("multiply-64", power)]);
}

/// docs/explanation/signatures.md: for 1024 bits a square takes 420 + 800 multiply-adds and a product 800 + 800; two
/// powers of 256 windows with a table of 14.
#[test]
fn signatures() {
    let one = 1020.0 * 1220.0 + 255.0 * 1600.0 + 7.0 * (1220.0 + 1600.0);
    check(&row("rsa-2048-sign", "sign", "ifma", 64, 32), &[("ifma-512", 2.0 * one)]);
    // Two powers in a pair, with windows of five: a digit's row multiplies 1 to 5 registers of a square and 5 of the modulus, twice
    // each, and makes a quotient.
    let of_pair = 1035.0 * (120.0 + 220.0) + 219.0 * (200.0 + 220.0);
    check(&row("rsa-2048-sign", "sign", "ifma", 1, 32), &[("ifma-512", 8.0 * of_pair)]);
    check(&row("rsa-2048-sign", "sign", "ifma", 5, 32), &[("ifma-512", (8.0 * one + 8.0 * of_pair) / 5.0)]);
    // 1536 bits are 30 digits: 930 + 1800, and 3600.
    let (windows, table) = (383.0, 7.0);
    let one = (4.0 * windows + table) * 2730.0 + (windows + table) * 3600.0;
    check(&row("rsa-3072-sign", "sign", "ifma", 64, 32), &[("ifma-512", 2.0 * one)]);
    // 2048 bits are 40 digits: 1640 + 3200, and 6400.
    let of_check = 16.0 * 4840.0 + 6400.0;
    check(&row("rsa-2048-verify", "verify", "ifma", 64, 32), &[("ifma-512", of_check)]);
    let of_g = 12.0 * 4840.0 + 51.0 * 6400.0;
    check(&row("dsa-2048-sign", "sign", "ifma", 64, 32), &[("ifma-512", of_g)]);
    check(&row("rsa-2048-sign", "sign", "adx", 64, 32), &[]);
}

#[test]
fn files() {
    let mut file = row("encrypt-file", "encrypt", "vaes512", 0, 2 << 30);
    file.threads = 2;
    check(&file, &[("memory-read-all", 1.0), ("aes-512", 1.25)]);
    check(&row("encrypt-start", "encrypt", "vaes512", 0, 1024), &[]);
}

/// Unknown names have no bounds, and do not panic.
#[test]
fn unknown_names_have_no_bounds() {
    for name in [
        "",
        "-",
        "aes",
        "aes-",
        "aes-128",
        "aes-x-ctr",
        "rijndael",
        "rijndael-256",
        "rijndael-256-",
        "rc6-128",
        "pipo-1",
        "rsa-0",
        "multiply-",
    ] {
        for lanes in [0, 1, 9] {
            for backend in ["ifma", "vaes512", "avx512", "gfni512", ""] {
                let bounds = bounds_of_row(&row(name, "encrypt", backend, lanes, 0), &Roofline::default());
                assert!(bounds.iter().all(|bound| bound.per_unit.is_finite()), "{name}: {bounds:?}");
            }
        }
    }
}
