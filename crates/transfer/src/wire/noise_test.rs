//! Tests our primitives in crate `snow` against the vectors of another implementation, and the handshake of this protocol.

use std::net::TcpListener;
use std::sync::Mutex;

use x25519_dalek::{PublicKey as Point, StaticSecret};

use super::*;
use crate::wire::link::{Listener, Network, Tcp};

/// Ends a hang.
const HANG: Duration = Duration::from_secs(1200);

fn hex(value: &serde_json::Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn vectors_of_another_implementation() {
    let file: serde_json::Value = serde_json::from_str(include_str!("testdata/ik.json")).unwrap();
    let tests = file["testGroups"][0]["tests"].as_array().unwrap();
    assert_eq!(file["numberOfTests"], 1);
    for test in tests {
        let key = |name: &str| hex(&test[name]);
        let prologue = key("prologue");
        let build =
            || Builder::with_resolver(PATTERN.parse().unwrap(), Box::new(Resolver)).prologue(&prologue).unwrap();
        let (initiator, responder) = (key("init_static"), key("resp_static"));
        let (e_initiator, e_responder) = (key("init_ephemeral"), key("resp_ephemeral"));
        let remote = key("init_remote_static");
        let mut ends = [
            build()
                .local_private_key(&initiator)
                .unwrap()
                .remote_public_key(&remote)
                .unwrap()
                .fixed_ephemeral_key_for_testing_only(&e_initiator)
                .build_initiator()
                .unwrap(),
            build()
                .local_private_key(&responder)
                .unwrap()
                .fixed_ephemeral_key_for_testing_only(&e_responder)
                .build_responder()
                .unwrap(),
        ];
        let messages = test["messages"].as_array().unwrap();
        let (mut sealed, mut opened) = ([0; 200], [0; 200]);
        for (number, message) in messages[..2].iter().enumerate() {
            let bytes = ends[number % 2].write_message(&hex(&message["payload"]), &mut sealed).unwrap();
            assert_eq!(sealed[..bytes], hex(&message["ciphertext"]), "message {number}");
            let bytes = ends[1 - number % 2].read_message(&sealed[..bytes], &mut opened).unwrap();
            assert_eq!(opened[..bytes], hex(&message["payload"]));
        }
        assert_eq!(ends[0].get_handshake_hash(), key("handshake_hash"));
        let ends = ends.map(|end| end.into_stateless_transport_mode().unwrap());
        for (number, message) in messages[2..].iter().enumerate() {
            let nonce = number as u64 / 2;
            let (from, to) = (&ends[number % 2], &ends[1 - number % 2]);
            let bytes = from.write_message(nonce, &hex(&message["payload"]), &mut sealed).unwrap();
            assert_eq!(sealed[..bytes], hex(&message["ciphertext"]), "message {}", number + 2);
            let bytes = to.read_message(nonce, &sealed[..bytes], &mut opened).unwrap();
            assert_eq!(opened[..bytes], hex(&message["payload"]));
            sealed[0] ^= 1;
            assert!(to.read_message(nonce, &sealed[..bytes + 16], &mut opened).is_err());
        }
    }
}

#[test]
fn points_of_small_order_are_refused() {
    use snow::params::DHChoice;
    use snow::resolvers::CryptoResolver as _;
    let mut dh = Resolver.resolve_dh(&DHChoice::Curve25519).unwrap();
    dh.set(&[7; 32]);
    let mut shared = [0; 32];
    // RFC 7748, section 6.1: multiples of a point of small order are zero. 0 and 1 are such points.
    for point in [[0; 32], std::array::from_fn(|i| u8::from(i == 0))] {
        assert!(dh.dh(&point, &mut shared).is_err());
    }
}

type InitiatorResult = Result<(Incoming, Outgoing), Error>;
type ResponderResult = Result<(Incoming, Outgoing, NoisePublicKey), Error>;

/// Runs both ends of a handshake over loopback.
fn handshake(
    initiator: impl FnOnce(Arc<dyn Link>) -> InitiatorResult,
    secret: [u8; 32],
) -> (InitiatorResult, ResponderResult) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap().to_string();
    let listener = Listener::new(listener).unwrap();
    let answer = Mutex::new(None);
    let asked = std::thread::scope(|scope| {
        scope.spawn(|| {
            let link = loop {
                if let Some((link, _)) = listener.accept().unwrap() {
                    break link;
                }
            };
            *answer.lock().unwrap() = Some(respond(link.into(), &secret, HANG, &|| None));
        });
        initiator(Tcp.connect(&to, &|| None).unwrap().into())
    });
    (asked, answer.into_inner().unwrap().unwrap())
}

#[test]
fn each_end_knows_the_other_and_messages_arrive_in_order() {
    let secrets = [[1; 32], [2; 32]];
    let publics = secrets.map(|secret| Point::from(&StaticSecret::from(secret)).to_bytes());
    let initiate = |link| initiate(link, &secrets[0], &publics[1], HANG, &|| None);
    let (asked, answered) = handshake(initiate, secrets[1]);
    let ((_, mut out), (mut incoming, _, sender)) = (asked.unwrap(), answered.unwrap());
    assert_eq!(sender, publics[0]);
    let timeouts = Timeouts::idle(HANG, &|| None);
    let longest = vec![5; MAX_MESSAGE_BYTES];
    for message in [&b""[..], b"one", &longest] {
        out.write(message, &timeouts).unwrap();
        assert_eq!(**incoming.read(&timeouts).unwrap().unwrap(), *message);
    }
    // A repeated message is an error.
    let frame = out.seal(b"twice").unwrap().to_vec();
    for _ in 0..2 {
        write_all(&**out.link(), &mut [IoSlice::new(&frame)], &timeouts).unwrap();
    }
    assert_eq!(**incoming.read(&timeouts).unwrap().unwrap(), *b"twice");
    assert_eq!(incoming.read(&timeouts).unwrap_err().kind, ErrorKind::Protocol);
}

#[test]
fn another_key_than_the_address_says() {
    let other = Point::from(&StaticSecret::from([3; 32])).to_bytes();
    let initiate = |link| initiate(link, &[1; 32], &other, HANG, &|| None);
    let (asked, answered) = handshake(initiate, [2; 32]);
    assert_eq!(asked.err().unwrap().kind, ErrorKind::WrongPeer);
    assert_eq!(answered.err().unwrap().kind, ErrorKind::WrongPeer);
}
