//! Messages: bytes written by hand, round trips, and malformed input.
#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is meant")]

use proptest::prelude::*;

use super::*;

fn ticket() -> Ticket {
    Ticket::from_bytes(std::array::from_fn(|i| i as u8))
}

fn metadata() -> Metadata {
    Metadata { mode: Some(0o640), modified: Some(FileTime { seconds: -2, nanoseconds: 999_999_999 }) }
}

fn entries() -> Vec<Entry> {
    let entry = |kind, path: &[u8]| Entry { kind, metadata: metadata(), path: path.to_vec() };
    vec![
        entry(EntryKind::File { size_bytes: 5, identity: [7; 32] }, b"a/b"),
        entry(EntryKind::Folder, &[0xff; 4095]),
        Entry { metadata: Metadata::default(), ..entry(EntryKind::Link { target: b"../x".to_vec() }, b"l") },
    ]
}

fn offer(file: u32, size_bytes: Option<u64>, restart: bool, path: Vec<u8>) -> Request {
    Request::Offer { file, size_bytes, restart, identity: [8; 32], metadata: metadata(), path }
}

fn requests() -> Vec<Request> {
    vec![
        Request::Begin { streams: 4 },
        Request::Join { ticket: ticket(), stream: 3 },
        Request::List { list: 7, entries: entries() },
        Request::PackEnd { list: 7, void: vec![] },
        Request::PackEnd { list: 7, void: vec![0, 3, 1000] },
        offer(1, Some(5), false, b"x".to_vec()),
        offer(2, None, true, vec![0xff; 4095]),
        Request::Holes { file: 1, chunks: vec![0..3, 5..6] },
        Request::Finish { file: 1, size_bytes: 1 << 40 },
        Request::Abandon { file: 1 },
        Request::Lost { stream: 9 },
        Request::Ping,
        Request::Bye,
        Request::Key { file: 3, aead: Aead::Aes128Ccm, input_key: Zeroizing::new(vec![1; 16]), prefix: [2; 56] },
        Request::Key { file: 3, aead: Aead::Aes256Ccm, input_key: Zeroizing::new(vec![1; 32]), prefix: [2; 56] },
        Request::Batch { file: 3, first_chunk: 64, sealed_bytes: 524_800 },
    ]
}

fn replies() -> Vec<Reply> {
    let mut replies = vec![
        Reply::Admitted { ticket: ticket(), streams: 2 },
        Reply::Joined,
        Reply::Statuses {
            list: 7,
            statuses: vec![EntryStatus::Complete, EntryStatus::Wanted, EntryStatus::Unfinished],
        },
        Reply::Statuses { list: 7, statuses: REFUSALS.map(EntryStatus::Refused).to_vec() },
        Reply::Resume { file: 1, held: vec![] },
        Reply::Resume { file: 1, held: vec![0..3, 5..6] },
        Reply::Resume { file: 1, held: (0..MAX_RANGES as u64).map(|n| 2 * n..2 * n + 1).collect() },
        Reply::Complete { file: 1 },
        Reply::Progress { file: 1, synced_chunks: 7, streams: vec![(0, 4), (1, 5)] },
        Reply::Drained { stream: 2, batches: 8 },
        Reply::Confirmed { file: 1 },
    ];
    replies.extend(REFUSALS.map(|reason| Reply::Refused { reason }));
    replies
}

#[test]
fn versions_with_and_without_the_time_of_change() {
    let version = |flag: u8, first: u8, second: u8| {
        let mut version = [first; 32];
        version[16..].fill(second);
        version[0] |= flag;
        version
    };
    for (offered, held, is_same) in [
        (version(0, 1, 2), version(0, 1, 3), true),
        (version(0, 1, 2), version(IGNORES_CTIME, 1, 2), true),
        (version(0, 4, 2), version(IGNORES_CTIME, 1, 2), false),
        (version(IGNORES_CTIME, 4, 2), version(0, 1, 2), true),
        (version(IGNORES_CTIME, 4, 3), version(IGNORES_CTIME, 1, 2), false),
    ] {
        assert_eq!(is_same_version(&offered, &held), is_same, "{offered:?} {held:?}");
    }
}

#[test]
fn bytes_by_hand() {
    // Copied by hand from docs/reference/formats/transfer.md.
    assert_eq!(*Request::Begin { streams: 258 }.encode(), [0x01, 1, 2]);
    let offer = offer(1, Some(5), true, b"ab".to_vec());
    let metadata = [&[1, 0xa0][..], &[0xff; 7], &[0xfe, 0x3b, 0x9a, 0xc9, 0xff]].concat();
    let expected = [&[0x04, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 5][..], &[8; 32], &metadata, b"ab"].concat();
    assert_eq!(*offer.encode(), expected);
    let none = [&[0xff; 2][..], &[0; 8], &[0xff; 4]].concat();
    let list = Request::List { list: 7, entries: vec![entries()[0].clone(), entries()[2].clone()] };
    let file = [&[1][..], &metadata, &[0, 3], b"a/b", &[0, 0, 0, 0, 0, 0, 0, 5], &[7; 32]].concat();
    let link = [&[3][..], &none, &[0, 1], b"l", &[0, 4], b"../x"].concat();
    assert_eq!(*list.encode(), [&[0x03, 0, 0, 0, 7][..], &file, &link].concat());
    assert_eq!(*Request::PackEnd { list: 7, void: vec![258] }.encode(), [0x08, 0, 0, 0, 7, 1, 2]);
    let statuses = vec![EntryStatus::Complete, EntryStatus::Wanted, EntryStatus::Refused(Refusal::Exists)];
    assert_eq!(Reply::Statuses { list: 7, statuses }.encode(), [0x43, 0, 0, 0, 7, 0, 0xff, 5]);
    let batch = Request::Batch { file: 1, first_chunk: 32, sealed_bytes: 16 };
    assert_eq!(*batch.encode(), [0x11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 16]);
    let resume = Reply::Resume { file: 2, held: vec![1..4] };
    assert_eq!(resume.encode(), [0x44, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4]);
    for (number, reason) in [(1, Refusal::NotAdmitted), (8, Refusal::NoSpace), (12, Refusal::Stopping)] {
        assert_eq!(Reply::Refused { reason }.encode(), [0x49, number]);
    }
}

#[test]
fn only_encoded_messages_parse() {
    for request in requests() {
        let bytes = request.encode();
        assert!(bytes.len() <= MAX_MESSAGE_BYTES);
        assert_eq!(Request::parse(&bytes), Ok(request));
        // A path extends to the end of the message. The others have one length, or that of whole entries.
        if bytes[0] != 0x04 {
            assert_eq!(Request::parse(&[&bytes[..], &[0]].concat()), Err(Malformed));
            assert_eq!(Request::parse(&bytes[..bytes.len() - 1]), Err(Malformed));
        }
    }
    for reply in replies() {
        let bytes = reply.encode();
        assert!(bytes.len() <= MAX_MESSAGE_BYTES);
        assert_eq!(Reply::parse(&bytes), Ok(reply));
        if bytes[0] != 0x43 {
            assert_eq!(Reply::parse(&[&bytes[..], &[0]].concat()), Err(Malformed));
            assert_eq!(Reply::parse(&bytes[..bytes.len() - 1]), Err(Malformed));
        }
    }
    assert_eq!(Request::parse(&[]), Err(Malformed));
    for (kind, mode, seconds, nanoseconds, name, tail) in [
        (4, 0o640, 1, 0, &b"a"[..], &[0; 40][..]),
        (2, 0o1000, 1, 0, b"a", &[]),
        (2, 0o640, 1, 1_000_000_000, b"a", &[]),
        (2, 0o640, 1, u32::MAX, b"a", &[]),
        (2, 0o640, 1, 0, b"", &[]),
        (2, 0o640, 1, 0, &[b'a'; 4096], &[]),
        (3, 0o640, 1, 0, b"a", &[0, 0]),
        (3, 0o640, 1, 0, b"a", &[0, 2, 1]),
        (1, 0o640, 1, 0, b"a", &[0; 39]),
    ] {
        let numbers =
            [&u16::to_be_bytes(mode)[..], &u64::to_be_bytes(seconds), &u32::to_be_bytes(nanoseconds)].concat();
        let entry = [&[kind][..], &numbers, &(name.len() as u16).to_be_bytes(), name, tail].concat();
        assert_eq!(Request::parse(&[&[0x03, 0, 0, 0, 7][..], &entry].concat()), Err(Malformed), "{entry:?}");
    }
    // No entry, no status, numbers that do not rise.
    for none in [&[0x03, 0, 0, 0, 7][..], &[0x08, 0, 0, 0, 7, 0, 1, 0, 1], &[0x08, 0, 0, 0, 7, 0]] {
        assert_eq!(Request::parse(none), Err(Malformed));
    }
    assert_eq!(Reply::parse(&[0x43, 0, 0, 0, 7]), Err(Malformed));
    assert_eq!(Reply::parse(&[0x43, 0, 0, 0, 7, 13]), Err(Malformed));
}

#[test]
fn lying_counts_and_ranges() {
    let head = |count: u16| [&[0x44, 0, 0, 0, 1][..], &count.to_be_bytes()].concat();
    let range = |start: u64, end: u64| [start.to_be_bytes(), end.to_be_bytes()].concat();
    assert_eq!(Reply::parse(&head(u16::MAX)), Err(Malformed));
    for (one, other) in [((0, 3), (2, 5)), ((0, 3), (3, 4)), ((5, 6), (0, 1)), ((0, 1), (4, 4)), ((0, 1), (6, 5))] {
        let bytes = [head(2), range(one.0, one.1), range(other.0, other.1)].concat();
        assert_eq!(Reply::parse(&bytes), Err(Malformed), "{one:?} {other:?}");
    }
    let offer = |flags: u8, size: u64| {
        Request::parse(&[&[0x04, 0, 0, 0, 1, flags][..], &size.to_be_bytes(), &[0; 32], &[0; 14], b"x"].concat())
    };
    assert!(offer(1, 7).is_ok() && offer(0, 0).is_ok());
    assert_eq!(offer(0, 7), Err(Malformed));
    assert_eq!(offer(4, 0), Err(Malformed));
}

proptest! {
    /// Every message has one form: bytes that parse are the bytes that encoding returns.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0_u8..0x50) {
        let bytes = [&[kind][..], &bytes].concat();
        if let Ok(request) = Request::parse(&bytes) {
            prop_assert_eq!(&*request.encode(), &bytes);
        }
        if let Ok(reply) = Reply::parse(&bytes) {
            prop_assert_eq!(reply.encode(), bytes);
        }
    }
}
