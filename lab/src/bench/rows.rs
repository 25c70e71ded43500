//! The rows that `tress bench` measures by default.

use tress_cipher::{
    Backend,
    catalogue::{
        self,
        Mode::{self, Cbc, Ccm, Ctr, Ecb},
    },
};
use tress_peers::{
    Direction::{self, Decrypt, Encrypt},
    rustcrypto,
};

use super::{
    call::{Call, Shape},
    matrix,
    messages::{EQUAL_LENGTHS, ONE_AT_A_TIME, OWN_AES, OWN_ENCRYPTION},
    numbers::{Power, Product},
    signatures::{Signatures, Verb},
    work::{Case, Made, Who},
};

pub(crate) const WITHOUT_INSTRUCTIONS: &str = "without AES instructions, one message";
const BOTH: &[Direction] = &[Encrypt, Decrypt];
const ENCRYPT: &[Direction] = &[Encrypt];
const KIB: usize = 1 << 10;

/// A row of a cipher, and its peers.
struct Entry {
    cipher: &'static str,
    mode: Mode,
    directions: &'static [Direction],
    lanes: usize,
    message_bytes: usize,
    shape: Shape,
    workload: &'static str,
    beside: Beside,
}

enum Beside {
    /// All peers that have it.
    Others,
    /// All peers that have it, and these baselines.
    OthersAnd(&'static [Who]),
    /// Only this baseline.
    Own(Who),
}

/// One message of 16 KiB.
const fn one(cipher: &'static str, mode: Mode, directions: &'static [Direction]) -> Entry {
    let (shape, workload, beside) = (Shape::Usual, "one message", Beside::Others);
    Entry { cipher, mode, directions, lanes: 1, message_bytes: 16 * KIB, shape, workload, beside }
}

/// The entry with this number of messages and this workload.
const fn many(lanes: usize, workload: &'static str, entry: Entry) -> Entry {
    Entry { lanes, workload, ..entry }
}

/// Messages of an allocator or a container are 16,400 bytes apart, which puts all lanes into a few sets of the
/// first-level cache. A distance of 16,448 bytes spreads them over the sets.
const USUAL: &str = "32 messages 16,400 bytes apart, one key";
const SPREAD: &str = "32 messages 16,448 bytes apart, one key";
const MORE: &str = "64 messages 16,400 bytes apart, one key";

/// The rows of ciphers, in order.
#[rustfmt::skip]
const ENTRIES: &[Entry] = &[
    Entry { beside: Beside::OthersAnd(&[Who::AwsLcRsGcm, Who::RingGcm]), ..many(32, USUAL, one("aes-128", Ccm, ENCRYPT)) },
    many(32, USUAL, one("aes-128", Ccm, &[Decrypt])),
    many(32, USUAL, one("aes-256", Ccm, BOTH)),
    Entry { message_bytes: KIB, shape: Shape::KeyEach, ..many(256, "256 messages, a key each", one("aes-128", Ccm, BOTH)) },
    Entry {
        // (64 + 576 + 1500) / 3, rounded.
        message_bytes: 713, shape: Shape::Mixed, beside: Beside::OthersAnd(&[EQUAL_LENGTHS]),
        ..many(Shape::MIXED_MESSAGES, "540 messages of 64, 576 and 1500 bytes, one key", one("aes-128", Ccm, BOTH))
    },
    Entry { message_bytes: KIB * KIB, ..one("aes-128", Ccm, BOTH) },
    one("aes-128", Ctr, ENCRYPT),
    one("aes-128", Ecb, BOTH),
    one("aes-128", Cbc, BOTH),
    many(32, USUAL, one("aes-128", Cbc, ENCRYPT)),
    Entry { shape: Shape::Spread, ..many(32, SPREAD, one("aes-128", Cbc, ENCRYPT)) },
    one("rc6-128", Ctr, ENCRYPT),
    one("rc6-128", Ecb, BOTH),
    one("rc6-128", Cbc, ENCRYPT),
    one("pipo-128", Ctr, ENCRYPT),
    one("pipo-128", Ecb, ENCRYPT),
    Entry { beside: Beside::Own(OWN_ENCRYPTION), ..one("pipo-128", Ecb, &[Decrypt]) },
    Entry { beside: Beside::Own(OWN_AES), ..one("rijndael-256-256", Ecb, BOTH) },
    Entry { beside: Beside::Own(ONE_AT_A_TIME), ..many(64, MORE, one("rc6-128", Cbc, ENCRYPT)) },
    Entry { beside: Beside::Own(ONE_AT_A_TIME), ..many(64, MORE, one("pipo-128", Cbc, ENCRYPT)) },
    Entry { beside: Beside::Own(ONE_AT_A_TIME), ..many(64, MORE, one("rijndael-256-256", Cbc, ENCRYPT)) },
];

impl Entry {
    fn cases(&self) -> impl Iterator<Item = Case> {
        let &Entry { mode, lanes, message_bytes, shape, .. } = self;
        let cipher = catalogue::find(self.cipher).expect("a cipher of the catalogue");
        self.directions.iter().map(move |&direction| {
            let call = Call { cipher, mode, direction, lanes, message_bytes, shape };
            let mut case = matrix::case(call, 1, self.workload.into());
            match self.beside {
                Beside::Others => {}
                Beside::OthersAnd(more) => case.peers.extend(more),
                Beside::Own(yardstick) => case.peers = vec![yardstick],
            }
            case
        })
    }
}

/// Every row that runs inside this process.
pub(crate) fn all() -> Vec<Case> {
    // RustCrypto chooses AES without AES instructions for a whole build, so these rows have a separate build.
    if cfg!(aes_backend = "soft") {
        return without_instructions().collect();
    }
    let mut cases: Vec<Case> = ENTRIES.iter().flat_map(Entry::cases).collect();
    // A build with another release of RustCrypto's AES has only the rows that the release changes.
    if rustcrypto::NAME != "rustcrypto" {
        cases.retain(|case| case.name.ends_with("-ccm"));
        cases.iter_mut().for_each(|case| case.peers = vec![Who::RustCrypto]);
    } else {
        cases.extend(numbers());
        cases.extend(signatures());
    }
    cases
}

/// AES without AES instructions, by Tress and by RustCrypto.
fn without_instructions() -> impl Iterator<Item = Case> {
    const ENTRIES: [Entry; 2] = [one("aes-128", Ecb, BOTH), one("aes-128", Ctr, ENCRYPT)];
    let cases = ENTRIES.into_iter().flat_map(|entry| entry.cases().collect::<Vec<_>>());
    cases.map(|case| Case {
        workload: WITHOUT_INSTRUCTIONS.into(),
        peers: vec![Who::RustCrypto],
        backends: &[Backend::Portable],
        ..case
    })
}

/// A row that is not a cipher; its work names our backend.
fn number(
    (name, direction, workload): (&str, &'static str, &str),
    lanes: usize,
    message_bytes: u64,
    peers: &[Who],
    make: impl Fn(&[Who]) -> Made + 'static,
) -> Case {
    Case {
        name: name.into(),
        direction,
        workload: workload.into(),
        threads: 1,
        lanes,
        message_bytes,
        peers: peers.into(),
        backends: &[Backend::Portable],
        make: Box::new(move |_, peers| make(peers)),
    }
}

/// Products and powers.
fn numbers() -> Vec<Case> {
    let product = |bits: usize| {
        let row = ("multiply", "multiply", "factors of one length");
        number(row, 1, bits as u64 / 8, &[Who::Gmp], move |_| Ok(Box::new(Product::new(bits))))
    };
    let mut cases: Vec<Case> = [256, 512, 1024, 2048, 4096].map(product).into();
    let power = ("power", "power", "1024 bits, constant time, one at a time");
    cases.push(number(power, 1, 128, &[Who::Gmp, Who::CryptoBigint], |_| Ok(Box::new(Power::new()?))));
    cases
}

/// Signatures of SHA-256 digests, and their verification. `tress_modular::lanes` chooses the backend.
fn signatures() -> Vec<Case> {
    const RSA: [&[Who]; 2] = [
        &[Who::OpenSsl, Who::OpenSslWithoutIfma, Who::AwsLcRs, Who::Ring, Who::Rsa],
        &[Who::OpenSsl, Who::AwsLcRs, Who::Ring, Who::Rsa],
    ];
    let row = |(name, bits, verb, lanes): (&'static str, usize, Verb, usize)| {
        let workload = match lanes {
            1 => "one digest",
            4 => "four digests, one key",
            _ => "64 digests, one key",
        };
        let is_rsa = name.starts_with("rsa");
        let peers = if is_rsa { RSA[usize::from(verb == Verb::Verify)] } else { &[Who::OpenSsl] };
        let direction = if verb == Verb::Sign { "sign" } else { "verify" };
        number((name, direction, workload), lanes, 32, peers, move |peers| {
            let made =
                if is_rsa { Signatures::rsa(bits, verb, lanes, peers) } else { Signatures::dsa(verb, lanes, peers) };
            Ok(Box::new(made?))
        })
    };
    let rows = [
        ("rsa-2048-sign", 2048, Verb::Sign, 64),
        ("rsa-2048-sign", 2048, Verb::Sign, 1),
        ("rsa-2048-sign", 2048, Verb::Sign, 4),
        ("rsa-2048-verify", 2048, Verb::Verify, 64),
        ("rsa-3072-sign", 3072, Verb::Sign, 64),
        ("rsa-4096-sign", 4096, Verb::Sign, 64),
        ("dsa-2048-sign", 2048, Verb::Sign, 64),
        ("dsa-2048-verify", 2048, Verb::Verify, 64),
    ];
    rows.map(row).into()
}
