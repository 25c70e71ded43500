//! A wrapper allocates no memory per message, so that measured times are those of the peer. Allocations inside of C
//! libraries are not counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tress_peers::{Direction, Error, Mode, gcrypt, ipsec_mb, openssl, rustcrypto};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: forwards every call to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type PeerCall = Box<dyn FnMut(&mut [u8]) -> Result<(), Error>>;

#[test]
fn a_message_allocates_nothing() {
    let (key, iv, nonce, direction) = ([1; 16], [2; 16], [3; 12], Direction::Encrypt);
    let aead = rustcrypto::Ccm::new(&key).unwrap();
    let mut runs: Vec<(&str, PeerCall)> = Vec::new();
    runs.push(("rustcrypto", Box::new(move |data| aead.encrypt(&nonce, b"", data, &mut [0; 16]))));
    if openssl::version().is_ok() {
        let mut aead = openssl::Ccm::new(&key, 12, 16, direction).unwrap();
        runs.push(("openssl", Box::new(move |data| aead.encrypt(&nonce, b"", data, &mut [0; 16]))));
        let mut cipher = openssl::Cipher::new(Mode::Cbc, &key, direction).unwrap();
        runs.push(("openssl", Box::new(move |data| cipher.apply(&iv, data))));
    }
    if gcrypt::version().is_ok() {
        let mut cipher = gcrypt::Cipher::new(Mode::Ccm, &key).unwrap();
        runs.push(("libgcrypt", Box::new(move |data| cipher.encrypt(&nonce, b"", data, &mut [0; 16]))));
    }
    if ipsec_mb::version().is_ok() {
        for (mode, iv, tag_bytes) in [(Mode::Ccm, &nonce[..], 16), (Mode::Cbc, &iv, 0)] {
            let message = |place| ipsec_mb::BatchMessage { key: 0, iv, aad: b"", start: place, bytes: 64, tag_bytes };
            let messages: Vec<_> = (0..3200).step_by(80).map(message).collect();
            let mut batch = ipsec_mb::Batch::new(mode, direction, &[&key], &messages).unwrap();
            runs.push(("ipsec-mb", Box::new(move |data| batch.run(data))));
        }
    }
    let mut data = vec![0; 3200];
    for (name, run) in &mut runs {
        let before = ALLOCATIONS.get();
        run(&mut data).unwrap();
        assert_eq!(ALLOCATIONS.get() - before, 0, "{name}");
    }
}
