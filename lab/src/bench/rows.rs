//! The rows that `tress bench` measures by default.

use tress_cipher::Backend;
use tress_cipher::catalogue::{
    self,
    Mode::{self, Cbc, Ccm, Ctr, Ecb},
};
use tress_peers::Direction::{self, Decrypt, Encrypt};
use tress_peers::rustcrypto;

use super::call::{Call, Shape};
use super::matrix;
use super::messages::{EQUAL_LENGTHS, ONE_AT_A_TIME, OWN_AES, OWN_ENCRYPTION};
use super::numbers::{Power, Product};
use super::signatures::{SignatureOperation, Signatures};
use super::work::{BenchCase, Contender, WorkResult};

const WITHOUT_INSTRUCTIONS: &str = "without AES instructions, one message";
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
    peers: RowPeers,
}

enum RowPeers {
    /// All peers that have it.
    All,
    /// All peers that have it, and these baselines.
    AllAnd(&'static [Contender]),
    /// Only this baseline.
    Baseline(Contender),
}

/// One message of 16 KiB.
const fn one_message(cipher: &'static str, mode: Mode, directions: &'static [Direction]) -> Entry {
    let (shape, workload, peers) = (Shape::Usual, "one message", RowPeers::All);
    Entry { cipher, mode, directions, lanes: 1, message_bytes: 16 * KIB, shape, workload, peers }
}

/// The entry with this number of messages and this workload.
const fn with_lanes(lanes: usize, workload: &'static str, entry: Entry) -> Entry {
    Entry { lanes, workload, ..entry }
}

/// Short messages in lanes.
const fn short(lanes: usize, workload: &'static str, message_bytes: usize, shape: Shape) -> Entry {
    let usual = with_lanes(lanes, workload, one_message("aes-128", Ccm, ENCRYPT));
    Entry { message_bytes, shape, peers: RowPeers::AllAnd(GCM), ..usual }
}

/// The fastest authenticated encryption of libraries whose CCM is slow or missing.
const GCM: &[Contender] = &[Contender::OpenSslGcm, Contender::IpsecMbGcm, Contender::AwsLcRsGcm, Contender::RingGcm];
/// (64 + 576 + 1500) / 3, rounded.
const MIXED_BYTES: usize = 713;

/// Messages of an allocator or a container are 16,400 bytes apart, which puts all lanes into a few sets of the
/// first-level cache. A distance of 16,448 bytes spreads them over the sets.
const USUAL: &str = "32 messages 16,400 bytes apart, one key";
const SPREAD: &str = "32 messages 16,448 bytes apart, one key";
const MORE: &str = "64 messages 16,400 bytes apart, one key";

#[rustfmt::skip]
const ENTRIES: &[Entry] = &[
    Entry { peers: RowPeers::AllAnd(GCM), ..with_lanes(32, USUAL, one_message("aes-128", Ccm, ENCRYPT)) },
    with_lanes(32, USUAL, one_message("aes-128", Ccm, &[Decrypt])),
    with_lanes(32, USUAL, one_message("aes-256", Ccm, BOTH)),
    short(256, "256 messages, a key each", 64, Shape::KeyEach),
    short(1024, "1024 messages, a key each", 256, Shape::KeyEach),
    short(4, "4 messages, one key", KIB, Shape::Usual),
    short(16, "16 messages, one key", KIB, Shape::Usual),
    Entry { message_bytes: KIB, shape: Shape::KeyEach, ..with_lanes(256, "256 messages, a key each", one_message("aes-128", Ccm, BOTH)) },
    short(64, "64 messages, a key each", 1500, Shape::KeyEach),
    short(256, "256 messages, one key", 4 * KIB, Shape::Usual),
    Entry {
        message_bytes: MIXED_BYTES, shape: Shape::Mixed, peers: RowPeers::AllAnd(&[EQUAL_LENGTHS]),
        ..with_lanes(Shape::MIXED_MESSAGES, "540 messages of 64, 576 and 1500 bytes, one key", one_message("aes-128", Ccm, BOTH))
    },
    short(Shape::MIXED_MESSAGES, "540 messages of 64, 576 and 1500 bytes, a key each", MIXED_BYTES, Shape::MixedKeyEach),
    Entry { message_bytes: KIB * KIB, ..one_message("aes-128", Ccm, BOTH) },
    one_message("aes-128", Ctr, ENCRYPT),
    one_message("aes-128", Ecb, BOTH),
    one_message("aes-128", Cbc, BOTH),
    with_lanes(32, USUAL, one_message("aes-128", Cbc, ENCRYPT)),
    Entry { shape: Shape::Spread, ..with_lanes(32, SPREAD, one_message("aes-128", Cbc, ENCRYPT)) },
    one_message("rc6-128", Ctr, ENCRYPT),
    one_message("rc6-128", Ecb, BOTH),
    one_message("rc6-128", Cbc, ENCRYPT),
    one_message("pipo-128", Ctr, ENCRYPT),
    one_message("pipo-128", Ecb, ENCRYPT),
    Entry { peers: RowPeers::Baseline(OWN_ENCRYPTION), ..one_message("pipo-128", Ecb, &[Decrypt]) },
    Entry { peers: RowPeers::Baseline(OWN_AES), ..one_message("rijndael-256-256", Ecb, BOTH) },
    Entry { peers: RowPeers::Baseline(ONE_AT_A_TIME), ..with_lanes(64, MORE, one_message("rc6-128", Cbc, ENCRYPT)) },
    Entry { peers: RowPeers::Baseline(ONE_AT_A_TIME), ..with_lanes(64, MORE, one_message("pipo-128", Cbc, ENCRYPT)) },
    Entry { peers: RowPeers::Baseline(ONE_AT_A_TIME), ..with_lanes(64, MORE, one_message("rijndael-256-256", Cbc, ENCRYPT)) },
];

impl Entry {
    fn cases(&self) -> impl Iterator<Item = BenchCase> {
        let &Entry { mode, lanes, message_bytes, shape, .. } = self;
        let cipher = catalogue::find(self.cipher).expect("a cipher of the catalogue");
        self.directions.iter().map(move |&direction| {
            let call = Call { cipher, mode, direction, lanes, message_bytes, shape, registers: 0 };
            let mut case = matrix::case(call, 1, self.workload.into());
            match self.peers {
                RowPeers::All => {}
                RowPeers::AllAnd(more) => case.peers.extend(more),
                RowPeers::Baseline(baseline) => case.peers = vec![baseline],
            }
            case
        })
    }
}

/// Every row that runs inside this process.
pub(crate) fn all() -> Vec<BenchCase> {
    // RustCrypto chooses AES without AES instructions for a whole build, so these rows have a separate build.
    if cfg!(aes_backend = "soft") {
        return without_instructions().collect();
    }
    let mut cases: Vec<BenchCase> = ENTRIES.iter().flat_map(Entry::cases).collect();
    // A build with another release of RustCrypto's AES has only the rows that the release changes.
    if rustcrypto::NAME != "rustcrypto" {
        cases.retain(|case| case.name.ends_with("-ccm"));
        cases.iter_mut().for_each(|case| case.peers = vec![Contender::RustCrypto]);
    } else {
        cases.extend(numbers());
        cases.extend(signatures());
    }
    cases
}

/// AES without AES instructions, by Tress and by RustCrypto.
fn without_instructions() -> impl Iterator<Item = BenchCase> {
    const ENTRIES: [Entry; 2] = [one_message("aes-128", Ecb, BOTH), one_message("aes-128", Ctr, ENCRYPT)];
    let cases = ENTRIES.into_iter().flat_map(|entry| entry.cases().collect::<Vec<_>>());
    cases.map(|case| BenchCase {
        workload: WITHOUT_INSTRUCTIONS.into(),
        peers: vec![Contender::RustCrypto],
        backends: &[Backend::Portable],
        ..case
    })
}

/// A row that is not a cipher; its work names our backend.
fn other_case(
    (name, direction, workload): (&str, &'static str, &str),
    lanes: usize,
    message_bytes: u64,
    peers: &[Contender],
    make: impl Fn(&[Contender]) -> WorkResult + 'static,
) -> BenchCase {
    BenchCase {
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
fn numbers() -> Vec<BenchCase> {
    let product = |bits: usize| {
        let row = ("multiply", "multiply", "factors of one length");
        other_case(row, 1, bits as u64 / 8, &[Contender::Gmp], move |_| Ok(Box::new(Product::new(bits))))
    };
    let mut cases: Vec<BenchCase> = [256, 512, 1024, 2048, 4096].map(product).into();
    let power = ("power", "power", "1024 bits, constant time, one at a time");
    cases.push(other_case(power, 1, 128, &[Contender::Gmp, Contender::CryptoBigint], |_| Ok(Box::new(Power::new()?))));
    cases
}

/// Signatures of SHA-256 digests, and their verification. `tress_modular::lanes` chooses the backend.
fn signatures() -> Vec<BenchCase> {
    const RSA: [&[Contender]; 2] = [
        &[Contender::OpenSsl, Contender::OpenSslWithoutIfma, Contender::AwsLcRs, Contender::Ring, Contender::Rsa],
        &[Contender::OpenSsl, Contender::AwsLcRs, Contender::Ring, Contender::Rsa],
    ];
    let row = |(name, bits, operation, lanes): (&'static str, usize, SignatureOperation, usize)| {
        let workload = match lanes {
            1 => "one digest",
            4 => "four digests, one key",
            _ => "64 digests, one key",
        };
        let is_rsa = name.starts_with("rsa");
        let peers =
            if is_rsa { RSA[usize::from(operation == SignatureOperation::Verify)] } else { &[Contender::OpenSsl] };
        let direction = if operation == SignatureOperation::Sign { "sign" } else { "verify" };
        other_case((name, direction, workload), lanes, 32, peers, move |peers| {
            let made = if is_rsa {
                Signatures::rsa(bits, operation, lanes, peers)
            } else {
                Signatures::dsa(operation, lanes, peers)
            };
            Ok(Box::new(made?))
        })
    };
    let rows = [
        ("rsa-2048-sign", 2048, SignatureOperation::Sign, 64),
        ("rsa-2048-sign", 2048, SignatureOperation::Sign, 1),
        ("rsa-2048-sign", 2048, SignatureOperation::Sign, 4),
        ("rsa-2048-verify", 2048, SignatureOperation::Verify, 64),
        ("rsa-3072-sign", 3072, SignatureOperation::Sign, 64),
        ("rsa-4096-sign", 4096, SignatureOperation::Sign, 64),
        ("dsa-2048-sign", 2048, SignatureOperation::Sign, 64),
        ("dsa-2048-verify", 2048, SignatureOperation::Verify, 64),
    ];
    rows.map(row).into()
}
