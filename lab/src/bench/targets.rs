//! The performance targets of Tress, and whether a run reached them: the summary of `make bench`.

use std::io::{self, Write};

use super::{
    record::{BenchRow, Document},
    rows::WITHOUT_INSTRUCTIONS,
    text,
};

/// The least ratio, or the largest memory, that a row should have.
struct Target {
    what: &'static str,
    name: &'static str,
    direction: &'static str,
    /// Prefix of the row's workload.
    workload: &'static str,
    message_bytes: Option<u64>,
    limit: Limit,
}

enum Limit {
    /// Our rate over this peer's.
    Ratio(&'static str, f64),
    PeakMib(f64),
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// All targets, in the order of the list; one entry for each direction.
fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    let mut add = |what, name, direction, workload, message_bytes, limit| {
        targets.push(Target { what, name, direction, workload, message_bytes, limit });
    };
    for direction in ["encrypt", "decrypt"] {
        let long = Some(16 * KIB);
        add("AES-128-CCM in lanes, 16 KiB", "aes-128-ccm", direction, "32", long, Limit::Ratio("openssl", 12.0));
        add("AES-128-CCM in lanes, 16 KiB", "aes-128-ccm", direction, "32", long, Limit::Ratio("ipsec-mb", 1.3));
        add("AES-256-CCM in lanes, 16 KiB", "aes-256-ccm", direction, "32", long, Limit::Ratio("openssl", 12.0));
        add("1 KiB messages, a key each", "aes-128-ccm", direction, "256", Some(KIB), Limit::Ratio("ipsec-mb", 1.0));
        add("64, 576, 1500 bytes mixed", "aes-128-ccm", direction, "540", None, Limit::Ratio("equal-lengths", 0.8));
        add("one CCM message of 1 MiB", "aes-128-ccm", direction, "one", Some(MIB), Limit::Ratio("openssl", 1.0));
    }
    add("AES-128-CTR, 16 KiB", "aes-128-ctr", "encrypt", "one", None, Limit::Ratio("rustcrypto", 1.5));
    for direction in ["encrypt", "decrypt"] {
        let what = "Rijndael-256-256-ECB beside AES-256";
        add(what, "rijndael-256-256-ecb", direction, "one", None, Limit::Ratio("own-aes-256", 0.6));
    }
    add("AES-128-CTR, 16 KiB", "aes-128-ctr", "encrypt", "one", None, Limit::Ratio("ipsec-mb", 0.95));
    add("AES-128-ECB, 16 KiB", "aes-128-ecb", "encrypt", "one", None, Limit::Ratio("rustcrypto", 0.95));
    for (what, workload) in [
        ("AES-128-CBC lanes, 16,400 bytes apart", "32 messages 16,400"),
        ("AES-128-CBC lanes, 16,448 bytes apart", "32 messages 16,448"),
    ] {
        add(what, "aes-128-cbc", "encrypt", workload, None, Limit::Ratio("ipsec-mb", 1.2));
    }
    add("AES-128-CBC decryption", "aes-128-cbc", "decrypt", "one", None, Limit::Ratio("openssl", 2.0));
    add("RC6-128-CTR", "rc6-128-ctr", "encrypt", "one", None, Limit::Ratio("crypto++", 25.0));
    add("RC6-128, block after block (CBC)", "rc6-128-cbc", "encrypt", "one", None, Limit::Ratio("crypto++", 1.0));
    add("PIPO-64/128-ECB", "pipo-128-ecb", "encrypt", "one", None, Limit::Ratio("pipo", 50.0));
    add("PIPO-64/128-CTR", "pipo-128-ctr", "encrypt", "one", None, Limit::Ratio("pipo", 50.0));
    add("PIPO-64/128 decryption", "pipo-128-ecb", "decrypt", "one", None, Limit::Ratio("own-encryption", 0.85));
    for (name, direction) in [("aes-128-ecb", "encrypt"), ("aes-128-ecb", "decrypt"), ("aes-128-ctr", "encrypt")] {
        let what = if name == "aes-128-ecb" { "portable AES-128-ECB" } else { "portable AES-128-CTR" };
        add(what, name, direction, WITHOUT_INSTRUCTIONS, None, Limit::Ratio("rustcrypto", 1.0));
    }
    for bits in [256, 512, 1024, 2048, 4096] {
        add("product of two numbers", "multiply", "multiply", "", Some(bits / 8), Limit::Ratio("gmp", 0.5));
    }
    let batch = "64 digests";
    for (what, name, ratio) in [
        ("RSA-2048 batch signing", "rsa-2048-sign", 3.0),
        ("RSA-3072 batch signing", "rsa-3072-sign", 4.5),
        ("RSA-4096 batch signing", "rsa-4096-sign", 4.5),
        ("DSA-2048 batch signing", "dsa-2048-sign", 5.0),
    ] {
        add(what, name, "sign", batch, None, Limit::Ratio("openssl", ratio));
    }
    add("RSA-2048 batch signing", "rsa-2048-sign", "sign", batch, None, Limit::Ratio("rsa", 15.0));
    add("RSA-2048 batch signing", "rsa-2048-sign", "sign", batch, None, Limit::Ratio("openssl-without-ifma", 6.0));
    let one = Limit::Ratio("openssl-without-ifma", 1.0);
    add("RSA-2048, one signature at a time", "rsa-2048-sign", "sign", "one", None, one);
    add("power of 1024 bits, constant time", "power", "power", "1024", None, Limit::Ratio("crypto-bigint", 1.7));
    add("power of 1024 bits, constant time", "power", "power", "1024", None, Limit::Ratio("gmp", 1.0));
    add("RSA-2048 batch verification", "rsa-2048-verify", "verify", batch, None, Limit::Ratio("openssl", 4.0));
    let (null, file) = ("tmpfs to /dev/null", "tmpfs to a fresh");
    add("encrypt to /dev/null, 2 threads", "encrypt-file", "encrypt", null, None, Limit::Ratio("age", 4.0));
    add("encrypt to /dev/null, 2 threads", "encrypt-file", "encrypt", null, None, Limit::Ratio("openssl", 2.0));
    add("encrypt to a fresh file", "encrypt-file", "encrypt", file, None, Limit::Ratio("cp", 0.9));
    add("decrypt to a fresh file", "decrypt-file", "decrypt", file, None, Limit::Ratio("cp", 0.9));
    add("peak memory of encrypt, 2 threads", "encrypt-memory", "encrypt", "", None, Limit::PeakMib(64.0));
    add("start to finish of 1 KiB", "encrypt-start", "encrypt", "", None, Limit::Ratio("age", 1.0));
    targets
}

/// Writes every target with its result, and returns how many were missed or not measured. The median of a ratio
/// decides whether its target is reached; the interval is printed beside it.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<usize> {
    let mut shown =
        text::table(["measurement", "direction", "size", "against", "target", "result (95 % interval)", ""]);
    let mut missed = 0;
    for target in targets() {
        let row = document.rows.iter().find(|row| target.is_for(row));
        let (against, limit, result, reached) = target.judge(row);
        let verdict = match reached {
            Some(true) => "reached",
            Some(false) => "MISSED",
            None => "not measured",
        };
        missed += usize::from(reached != Some(true));
        let size = row.map_or(String::new(), |row| text::length(row.message_bytes));
        shown.add_row([target.what, target.direction, &size, against, &limit, &result, verdict]);
    }
    writeln!(out, "{shown}")?;
    Ok(missed)
}

impl Target {
    fn is_for(&self, row: &BenchRow) -> bool {
        row.name == self.name
            && row.direction == self.direction
            && row.workload.starts_with(self.workload)
            && self.message_bytes.is_none_or(|bytes| row.message_bytes == bytes)
    }

    /// The peer, the target, the result, and whether the target was reached.
    fn judge(&self, row: Option<&BenchRow>) -> (&'static str, String, String, Option<bool>) {
        match self.limit {
            Limit::Ratio(peer, least) => {
                let against = row.and_then(|row| row.against.get(peer));
                let result = against.map(|a| format!("{:.2}× ({:.2}-{:.2})", a.ratio, a.ratio_low, a.ratio_high));
                let target = format!("≥ {least:.1}×");
                (peer, target, result.unwrap_or_default(), against.map(|against| against.ratio >= least))
            }
            Limit::PeakMib(most) => {
                let peak = row.and_then(|row| row.peak_bytes).map(|bytes| bytes as f64 / MIB as f64);
                let result = peak.map(|mib| format!("{mib:.1} MiB")).unwrap_or_default();
                ("", format!("≤ {most:.0} MiB"), result, peak.map(|mib| mib <= most))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Against, Machine};
    use super::*;

    #[test]
    fn rows_are_judged_by_their_own_targets() {
        let mut document = Document::new(Machine::default());
        let mut out = Vec::new();
        let all = write(&document, &mut out).unwrap();
        assert_eq!(all, targets().len());

        let mut row = BenchRow {
            name: "aes-128-ccm".into(),
            direction: "encrypt".into(),
            workload: "one message".into(),
            message_bytes: MIB,
            ..BenchRow::default()
        };
        row.against.insert("openssl".into(), Against { ratio: 1.2, ..Against::default() });
        document.rows.push(row);
        let peak_bytes = Some(65 << 20);
        document.rows.push(BenchRow {
            name: "encrypt-memory".into(),
            direction: "encrypt".into(),
            peak_bytes,
            ..BenchRow::default()
        });
        out.clear();
        assert_eq!(write(&document, &mut out).unwrap(), all - 1);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("MISSED").count(), 1, "{text}");
    }
}
