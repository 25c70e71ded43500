//! What sessions hold and for how long: sockets, places, waits.

use super::*;
use std::io::IoSlice;
use std::sync::atomic::AtomicUsize;

/// Counts the connections that a receiver holds.
#[derive(Default)]
struct Counting(Arc<AtomicUsize>);

struct Counted(Box<dyn Link>, Arc<AtomicUsize>);

impl Network for Counting {
    fn connect(&self, to: &str) -> std::io::Result<Box<dyn Link>> {
        Tcp.connect(to)
    }

    fn accepted(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::new(Counted(link, self.0.clone()))
    }
}

impl Link for Counted {
    fn read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }

    fn write(&self, buffers: &[IoSlice<'_>]) -> std::io::Result<usize> {
        self.0.write(buffers)
    }

    fn close(&self) {
        self.0.close();
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for something that comes soon.
fn soon(what: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while !what() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    what()
}

/// A link that flaps: a hundred data connections of one session, one after the other.
#[test]
fn a_data_connection_that_is_gone_holds_no_socket() {
    let ends = Ends::new();
    let network: &'static Counting = Box::leak(Box::default());
    let running = ends.receive_on(&OS, network);
    let (mut control, ticket) = ends.hostile_session(&running);
    for stream in 0..100 {
        let mut data = ends.hostile(&running);
        data.say(&Request::Join { ticket: ticket.clone(), stream });
        assert_eq!(data.hear(), Some(Reply::Joined));
        drop(data);
        assert_eq!(control.hear(), Some(Reply::Drained { stream, batches: 0 }));
    }
    let live = || network.0.load(Ordering::Relaxed);
    assert!(soon(|| live() == 1), "{} of 100 are held", live());
    running.stop();
}
