//! What is measured: pieces of work that we and our peers do over the same buffer, and the list of all of them.

use std::{borrow::Cow, path::Path, time::Duration};

use tress_cipher::{Backend, BlockCipher, aes::Aes, pipo::Pipo, rc6::Rc6, rijndael::Rijndael};
use tress_peers::{
    Direction, aws_lc_rs, crypto_bigint, cryptopp, gcrypt, gmp, ipsec_mb, openssl, pipo, ring, rsa, rustcrypto,
};

use super::{
    Error,
    aead::{Ccm, Mixed, Shape},
    blocks::{Blocks, CbcLanes, Mode},
    kinds::{Kind, Lanes, ONE_AT_A_TIME, OWN_AES, OWN_ENCRYPTION},
    numbers::{Power, Product},
    signatures::{Signatures, Verb},
};

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Ours,
    OpenSsl,
    /// The same without AVX-512 IFMA, in a process of its own.
    OpenSslWithoutIfma,
    IpsecMb,
    Gcrypt,
    RustCrypto,
    AwsLcRs,
    /// Another mode than ours, as fast as anybody's authenticated encryption is otherwise.
    AwsLcRsGcm,
    Ring,
    RingGcm,
    CryptoPp,
    Pipo,
    Gmp,
    CryptoBigint,
    Rsa,
    /// Ours again, on other work: the row's own yardstick, by its name.
    Own(&'static str),
}

impl Who {
    /// The name in `--against` and in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Who::Ours => "ours",
            Who::OpenSsl => openssl::NAME,
            Who::OpenSslWithoutIfma => "openssl-without-ifma",
            Who::IpsecMb => ipsec_mb::NAME,
            Who::Gcrypt => gcrypt::NAME,
            Who::RustCrypto => rustcrypto::NAME,
            Who::AwsLcRs => aws_lc_rs::NAME,
            Who::AwsLcRsGcm => "aws-lc-rs-gcm",
            Who::Ring => ring::NAME,
            Who::RingGcm => "ring-gcm",
            Who::CryptoPp => cryptopp::NAME,
            Who::Pipo => pipo::NAME,
            Who::Gmp => gmp::NAME,
            Who::CryptoBigint => crypto_bigint::NAME,
            Who::Rsa => rsa::NAME,
            Who::Own(what) => what,
        }
    }

    pub(crate) fn version(self) -> String {
        match self {
            Who::Ours | Who::Own(_) => env!("CARGO_PKG_VERSION").into(),
            Who::CryptoPp => cryptopp::version(),
            Who::Pipo => pipo::version(),
            Who::Gmp => gmp::version(),
            Who::CryptoBigint => crypto_bigint::version(),
            Who::Rsa => rsa::version(),
            Who::OpenSsl | Who::OpenSslWithoutIfma => openssl::version(),
            Who::IpsecMb => ipsec_mb::version(),
            Who::Gcrypt => gcrypt::version(),
            Who::AwsLcRs | Who::AwsLcRsGcm => aws_lc_rs::version(),
            Who::Ring | Who::RingGcm => ring::version(),
            Who::RustCrypto => rustcrypto::version(),
        }
    }

    pub(crate) fn is_available(self) -> bool {
        match self {
            Who::Ours | Who::Own(_) | Who::RustCrypto | Who::Pipo | Who::Rsa | Who::CryptoBigint => true,
            Who::CryptoPp => cryptopp::available().is_ok(),
            Who::Gmp => gmp::available().is_ok(),
            Who::OpenSsl | Who::OpenSslWithoutIfma => openssl::available().is_ok(),
            Who::IpsecMb => ipsec_mb::available().is_ok(),
            Who::Gcrypt => gcrypt::available().is_ok(),
            Who::AwsLcRs | Who::AwsLcRsGcm => aws_lc_rs::available().is_ok(),
            Who::Ring | Who::RingGcm => ring::available().is_ok(),
        }
    }
}

/// Our own rate at equal lengths.
pub(crate) const EQUAL_LENGTHS: Who = Who::Own("equal-lengths");

/// Work over a buffer. Whoever runs it leaves the same bytes there.
pub(crate) trait Work {
    /// Bytes of messages that one run works on.
    fn bytes(&self, who: Who) -> u64;
    /// Whether [`bytes`](Self::bytes) are operations, such as signatures.
    fn counts_operations(&self) -> bool {
        false
    }
    /// Whether the buffer has to be prepared, untimed, before every run.
    fn needs_preparation(&self) -> bool {
        false
    }
    /// Whether making it takes long, so that it is kept from visit to visit.
    fn is_costly(&self) -> bool {
        false
    }
    /// Puts the input of a run into the buffer.
    fn prepare(&mut self, who: Who) -> Result<(), Error>;
    /// Has the program work where [`timed_elsewhere`](Self::timed_elsewhere) says.
    fn employ(&mut self, _program: &Path) -> Result<(), Error> {
        Ok(())
    }
    /// Whether cycles of the core that calls say something: not where other threads do the work.
    fn counts_cycles(&self) -> bool {
        true
    }
    /// The name of our backend, where it is not one of the ciphers'.
    fn backend(&self) -> Option<&'static str> {
        None
    }
    /// The time of runs in another process, for who works there.
    fn timed_elsewhere(&mut self, _who: Who, _runs: u32) -> Option<Result<Duration, Error>> {
        None
    }
    /// One run.
    fn run(&mut self, who: Who) -> Result<(), Error>;
    /// The bytes that a run leaves: all of them, or the first ones from a peer that does a part of the work; empty when
    /// outputs of different work cannot be compared.
    fn output(&self, who: Who) -> &[u8];
}

/// Prepares a row's work for a backend.
pub(crate) type Make = Box<dyn Fn(Backend) -> Result<Box<dyn Work>, Error>>;

/// A row to be measured.
pub(crate) struct Case {
    pub(crate) name: Cow<'static, str>,
    /// What is done: `encrypt`, `decrypt`, `multiply`, `sign` or `verify`.
    pub(crate) direction: &'static str,
    pub(crate) workload: Cow<'static, str>,
    pub(crate) threads: usize,
    pub(crate) lanes: usize,
    pub(crate) message_bytes: u64,
    pub(crate) peers: Vec<Who>,
    /// The backends of the cipher.
    pub(crate) backends: &'static [Backend],
    pub(crate) make: Make,
}

/// The name of a direction in the record.
pub(crate) fn called(direction: Direction) -> &'static str {
    match direction {
        Direction::Encrypt => "encrypt",
        Direction::Decrypt => "decrypt",
    }
}

const LANE_PEERS: &[Who] = &[Who::OpenSsl, Who::IpsecMb, Who::Gcrypt, Who::RustCrypto];
/// Those who have other modes than CCM.
const BLOCK_PEERS: &[Who] = &[Who::OpenSsl, Who::IpsecMb, Who::Gcrypt, Who::RustCrypto, Who::AwsLcRs];
pub(crate) const WITHOUT_INSTRUCTIONS: &str = "without AES instructions, one message";
const BOTH: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

/// Every row that runs inside this process.
pub(crate) fn all() -> Vec<Case> {
    // RustCrypto chooses AES without AES instructions for a whole build, so the rows beside it have a build of their own.
    if cfg!(aes_backend = "soft") {
        return without_instructions();
    }
    let mut cases = usual();
    // A build with another release of RustCrypto's AES is there for the rows that the release changes.
    if rustcrypto::NAME != "rustcrypto" {
        cases.retain(|case| case.name.ends_with("-ccm"));
        cases.iter_mut().for_each(|case| case.peers = vec![Who::RustCrypto]);
    }
    cases
}

fn usual() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, key_bytes) in [("aes-128-ccm", 16), ("aes-256-ccm", 32)] {
        for direction in BOTH {
            let shape = Shape { key_bytes, messages: 32, message_bytes: 16_384, key_each: false };
            let mut lane_peers = LANE_PEERS.to_vec();
            if (key_bytes, direction) == (16, Direction::Encrypt) {
                lane_peers.extend([Who::AwsLcRsGcm, Who::RingGcm]);
            }
            cases.push(Case {
                name: name.into(),
                direction: called(direction),
                workload: "32 messages 16,400 bytes apart, one key".into(),
                threads: 1,
                lanes: shape.messages,
                message_bytes: 16_384,
                peers: lane_peers,
                backends: Aes::BACKENDS,
                make: Box::new(move |backend| Ok(Box::new(Ccm::new(backend, direction, shape)?))),
            });
        }
    }
    for direction in BOTH {
        let shape = Shape { key_bytes: 16, messages: 256, message_bytes: 1024, key_each: true };
        cases.push(Case {
            name: "aes-128-ccm".into(),
            direction: called(direction),
            workload: "256 messages, a key each".into(),
            threads: 1,
            lanes: shape.messages,
            message_bytes: 1024,
            peers: LANE_PEERS.to_vec(),
            backends: Aes::BACKENDS,
            make: Box::new(move |backend| Ok(Box::new(Ccm::new(backend, direction, shape)?))),
        });
    }
    for direction in BOTH {
        cases.push(Case {
            name: "aes-128-ccm".into(),
            direction: called(direction),
            workload: "540 messages of 64, 576 and 1500 bytes, one key".into(),
            threads: 1,
            lanes: Mixed::MESSAGES,
            message_bytes: Mixed::MEAN_BYTES as u64,
            peers: vec![EQUAL_LENGTHS, Who::OpenSsl, Who::IpsecMb, Who::Gcrypt, Who::RustCrypto],
            backends: Aes::BACKENDS,
            make: Box::new(move |backend| Ok(Box::new(Mixed::new(backend, direction)?))),
        });
    }
    for direction in BOTH {
        let shape = Shape { key_bytes: 16, messages: 1, message_bytes: 1 << 20, key_each: false };
        cases.push(Case {
            name: "aes-128-ccm".into(),
            direction: called(direction),
            workload: "one message".into(),
            threads: 1,
            lanes: 1,
            message_bytes: 1 << 20,
            // libipsec-mb refuses messages of this length.
            peers: vec![Who::OpenSsl, Who::Gcrypt, Who::RustCrypto],
            backends: Aes::BACKENDS,
            make: Box::new(move |backend| Ok(Box::new(Ccm::new(backend, direction, shape)?))),
        });
    }
    for (name, mode, directions) in [
        ("aes-128-ctr", Mode::Ctr, &BOTH[..1]),
        ("aes-128-ecb", Mode::Ecb, &BOTH[..]),
        ("aes-128-cbc", Mode::Cbc, &BOTH[..]),
    ] {
        for &direction in directions {
            cases.push(Case {
                name: name.into(),
                direction: called(direction),
                workload: "one message".into(),
                threads: 1,
                lanes: 1,
                message_bytes: Blocks::MESSAGE_BYTES as u64,
                peers: BLOCK_PEERS.to_vec(),
                backends: Aes::BACKENDS,
                make: Box::new(move |backend| Ok(Box::new(Blocks::new(backend, mode, direction)?))),
            });
        }
    }
    // As buffers of an allocator lie and containers' chunks, which puts all lanes into a few sets of the first cache; and
    // spread over the sets.
    for (workload, distance) in
        [("32 messages 16,400 bytes apart, one key", 16_400), ("32 messages 16,448 bytes apart, one key", 16_448)]
    {
        cases.push(Case {
            name: "aes-128-cbc".into(),
            direction: "encrypt",
            workload: workload.into(),
            threads: 1,
            lanes: 32,
            message_bytes: 16_384,
            peers: BLOCK_PEERS.to_vec(),
            backends: Aes::BACKENDS,
            make: Box::new(move |backend| Ok(Box::new(CbcLanes::new(backend, distance)?))),
        });
    }
    cases.extend(kinds());
    for bits in [256, 512, 1024, 2048, 4096] {
        cases.push(Case {
            name: "multiply".into(),
            direction: "multiply",
            workload: "factors of one length".into(),
            threads: 1,
            lanes: 1,
            message_bytes: bits as u64 / 8,
            peers: vec![Who::Gmp],
            backends: &[Backend::Portable],
            make: Box::new(move |_| Ok(Box::new(Product::new(bits)))),
        });
    }
    cases.push(Case {
        name: "power".into(),
        direction: "power",
        workload: "1024 bits, constant time, one at a time".into(),
        threads: 1,
        lanes: 1,
        message_bytes: 128,
        peers: vec![Who::Gmp, Who::CryptoBigint],
        backends: &[Backend::Portable],
        make: Box::new(|_| Ok(Box::new(Power::new()?))),
    });
    cases.extend(signatures());
    cases
}

/// Signatures of SHA-256 digests, made and checked. The backend is what `tress_modular::lanes` chooses.
fn signatures() -> Vec<Case> {
    const COUNT: usize = 64;
    let mut cases = Vec::new();
    let mut one = |name, verb, lanes, peers: &[Who], make: Make| {
        cases.push(Case {
            name: Cow::Borrowed(name),
            direction: if verb == Verb::Sign { "sign" } else { "verify" },
            workload: match lanes {
                1 => "one digest",
                4 => "four digests, one key",
                _ => "64 digests, one key",
            }
            .into(),
            threads: 1,
            lanes,
            message_bytes: 32,
            peers: Vec::from(peers),
            backends: &[Backend::Portable],
            make,
        });
    };
    for (name, bits, verb, lanes) in [
        ("rsa-2048-sign", 2048, Verb::Sign, COUNT),
        ("rsa-2048-sign", 2048, Verb::Sign, 1),
        ("rsa-2048-sign", 2048, Verb::Sign, 4),
        ("rsa-2048-verify", 2048, Verb::Verify, COUNT),
        ("rsa-3072-sign", 3072, Verb::Sign, COUNT),
        ("rsa-4096-sign", 4096, Verb::Sign, COUNT),
    ] {
        let make = move |_| -> Result<Box<dyn Work>, Error> { Ok(Box::new(Signatures::rsa(bits, verb, lanes)?)) };
        let peers = match verb {
            Verb::Sign => &[Who::OpenSsl, Who::OpenSslWithoutIfma, Who::AwsLcRs, Who::Ring, Who::Rsa][..],
            Verb::Verify => &[Who::OpenSsl, Who::AwsLcRs, Who::Ring, Who::Rsa],
        };
        one(name, verb, lanes, peers, Box::new(make));
    }
    for (name, verb) in [("dsa-2048-sign", Verb::Sign), ("dsa-2048-verify", Verb::Verify)] {
        let make = move |_| -> Result<Box<dyn Work>, Error> { Ok(Box::new(Signatures::dsa(verb, COUNT)?)) };
        one(name, verb, COUNT, &[Who::OpenSsl][..], Box::new(make));
    }
    cases
}

/// AES in plain code, by us and by RustCrypto.
fn without_instructions() -> Vec<Case> {
    let of = |name: &'static str, mode, direction| Case {
        name: name.into(),
        direction: called(direction),
        workload: WITHOUT_INSTRUCTIONS.into(),
        threads: 1,
        lanes: 1,
        message_bytes: Blocks::MESSAGE_BYTES as u64,
        peers: vec![Who::RustCrypto],
        backends: &[Backend::Portable],
        make: Box::new(move |backend| Ok(Box::new(Blocks::new(backend, mode, direction)?))),
    };
    let ecb = BOTH.map(|direction| of("aes-128-ecb", Mode::Ecb, direction));
    ecb.into_iter().chain([of("aes-128-ctr", Mode::Ctr, Direction::Encrypt)]).collect()
}

/// The rows of the ciphers beside AES.
fn kinds() -> Vec<Case> {
    const RC6: (&[Who], &[Backend]) = (&[Who::CryptoPp, Who::RustCrypto], Rc6::BACKENDS);
    const PIPO: (&[Who], &[Backend]) = (&[Who::Pipo], Pipo::BACKENDS);
    let mut cases = Vec::new();
    let mut one = |name: &'static str, direction, (peers, backends): (&[Who], &'static [Backend]), make: Make| {
        cases.push(Case {
            name: name.into(),
            direction: called(direction),
            workload: "one message".into(),
            threads: 1,
            lanes: 1,
            message_bytes: Blocks::MESSAGE_BYTES as u64,
            peers: peers.to_vec(),
            backends,
            make,
        });
    };
    use Direction::{Decrypt, Encrypt};
    for (name, mode, direction) in [
        ("rc6-128-ctr", Mode::Ctr, Encrypt),
        ("rc6-128-ecb", Mode::Ecb, Encrypt),
        ("rc6-128-ecb", Mode::Ecb, Decrypt),
        ("rc6-128-cbc", Mode::Cbc, Encrypt),
    ] {
        one(name, direction, RC6, Box::new(move |backend| Ok(Box::new(Kind::rc6(backend, mode, direction)?))));
    }
    for (name, mode, direction) in [("pipo-128-ctr", Mode::Ctr, Encrypt), ("pipo-128-ecb", Mode::Ecb, Encrypt)] {
        one(name, direction, PIPO, Box::new(move |backend| Ok(Box::new(Kind::pipo(backend, mode, direction)?))));
    }
    one(
        "pipo-128-ecb",
        Decrypt,
        (&[OWN_ENCRYPTION], Pipo::BACKENDS),
        Box::new(|backend| Ok(Box::new(Kind::pipo_directions(backend)?))),
    );
    for direction in BOTH {
        one(
            "rijndael-256-256-ecb",
            direction,
            (&[OWN_AES], Rijndael::<32>::BACKENDS),
            Box::new(move |backend| Ok(Box::new(Kind::rijndael_256(backend, direction)?))),
        );
    }
    let mut many = |name: &'static str, backends, make: Make| {
        cases.push(Case {
            name: name.into(),
            direction: "encrypt",
            workload: "64 messages 16,400 bytes apart, one key".into(),
            threads: 1,
            lanes: Lanes::<Aes>::MESSAGES,
            message_bytes: Blocks::MESSAGE_BYTES as u64,
            peers: vec![ONE_AT_A_TIME],
            backends,
            make,
        });
    };
    many(
        "rc6-128-cbc",
        Rc6::BACKENDS,
        Box::new(|backend| Ok(Box::new(Lanes::new(Rc6::with_backend(&[7; 16], backend)?)))),
    );
    many(
        "pipo-128-cbc",
        Pipo::BACKENDS,
        Box::new(|backend| Ok(Box::new(Lanes::new(Pipo::with_backend(&[7; 16], backend)?)))),
    );
    many(
        "rijndael-256-256-cbc",
        Rijndael::<32>::BACKENDS,
        Box::new(|backend| Ok(Box::new(Lanes::new(Rijndael::<32>::with_backend(&[7; 32], backend)?)))),
    );
    cases
}
