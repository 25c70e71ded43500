//! A wrapper allocates no memory per message, so that measured times are those of the peer. Allocations inside of C
//! libraries are not counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tress_peers::{Direction, Error, Missing, Mode, PeerCipher, gcrypt, ipsec_mb, openssl, rustcrypto};

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

fn call<C: PeerCipher + 'static>(version: Result<String, Missing>, mode: Mode, iv: &'static [u8]) -> Option<PeerCall> {
    version.ok()?;
    let mut cipher = C::new(mode, Direction::Encrypt, &[1; 16]).unwrap();
    Some(Box::new(move |data| cipher.apply(iv, data, &mut [0; 16])))
}

fn batch(mode: Mode, iv: &'static [u8]) -> Option<PeerCall> {
    ipsec_mb::version().ok()?;
    let message = |start| ipsec_mb::BatchMessage { key: 0, iv, start, bytes: 64 };
    let messages: Vec<_> = (0..3200).step_by(80).map(message).collect();
    let mut batch = ipsec_mb::Batch::new(mode, Direction::Encrypt, &[&[1; 16]], &messages).unwrap();
    Some(Box::new(move |data| batch.run(data)))
}

#[test]
fn a_message_allocates_nothing() {
    let mut data = vec![0; 3200];
    for (name, run) in [
        ("rustcrypto", call::<rustcrypto::Ccm>(Ok(String::new()), Mode::Ccm, &[3; 12])),
        ("openssl", call::<openssl::Cipher>(openssl::version(), Mode::Ccm, &[3; 12])),
        ("openssl", call::<openssl::Cipher>(openssl::version(), Mode::Cbc, &[2; 16])),
        ("libgcrypt", call::<gcrypt::Cipher>(gcrypt::version(), Mode::Ccm, &[3; 12])),
        ("ipsec-mb", batch(Mode::Ccm, &[3; 12])),
        ("ipsec-mb", batch(Mode::Cbc, &[2; 16])),
    ] {
        let Some(mut run) = run else { continue };
        let before = ALLOCATIONS.get();
        run(&mut data).unwrap();
        assert_eq!(ALLOCATIONS.get() - before, 0, "{name}");
    }
}
