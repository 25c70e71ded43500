//! Threads that ask queues for signatures, and one that replaces the queues in use.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{mem, thread};

use fastrand::Rng;
use tress_sign::{Error, Pending, Queue, QueueOptions};

use crate::Tally;
use crate::keys::{Checker, LoadKey, one_in};

/// Number of queues at a time, each with a worker.
const QUEUES: usize = 3;

/// State that all threads share.
pub struct Queues {
    keys: Vec<LoadKey>,
    queues: [Mutex<Arc<Queue>>; QUEUES],
}

/// A digest and a key, by their numbers.
struct Request {
    key: usize,
    digest: Vec<u8>,
}

/// Random options: small and large batches, short and long waits, and room for many requests or few.
fn options(numbers: &mut Rng) -> QueueOptions {
    let mut options = QueueOptions::default();
    options.max_wait = Duration::from_millis(5).mul_f64(numbers.f64());
    options.max_batch = [0, 1, 2, 8, 16, 64][numbers.usize(..6)];
    options.capacity = [0, 1, 16, 1024][numbers.usize(..4)];
    options
}

/// Sleeps for a random time up to `bound_ms` milliseconds.
fn sleep(bound_ms: u64, numbers: &mut Rng) {
    thread::sleep(Duration::from_millis(bound_ms).mul_f64(numbers.f64()));
}

impl Queues {
    /// # Errors
    /// `NoThread` if the system cannot start a thread.
    pub fn new(keys: Vec<LoadKey>, numbers: &mut Rng) -> Result<Queues, Error> {
        let mut queue = || Ok(Mutex::new(Arc::new(Queue::start(options(numbers))?)));
        Ok(Queues { keys, queues: [queue()?, queue()?, queue()?] })
    }

    fn checker(&self, tally: &Tally) -> Option<Checker<'_>> {
        Checker::new(&self.keys).map_err(|error| tally.report_error(&format!("OpenSSL: {error}"))).ok()
    }

    /// One digest in sixteen has a wrong length.
    fn request(&self, numbers: &mut Rng) -> Request {
        let key = numbers.usize(..self.keys.len());
        let right = self.keys[key].signing.scheme().hash().digest_bytes();
        let length = if one_in(16, numbers) { numbers.usize(..2 * right) } else { right };
        let mut digest = vec![0; length];
        numbers.fill(&mut digest);
        Request { key, digest }
    }

    fn submit(&self, queue: &Queue, request: &Request, tally: &Tally) -> Option<Pending> {
        let asked = queue.submit(&self.keys[request.key].signing, &request.digest);
        tally.count("requests");
        asked.map_err(|error| tally.report_error(&format!("a queue rejects a request: {error}"))).ok()
    }

    /// Sends random requests, one by one and in bursts, and does not wait for some of the answers.
    pub fn ask(&self, mut numbers: Rng, tally: &Tally) {
        let Some(mut checker) = self.checker(tally) else { return };
        let numbers = &mut numbers;
        while !tally.is_over() {
            let slot = &self.queues[numbers.usize(..QUEUES)];
            let queue = Arc::clone(&slot.lock().unwrap_or_else(PoisonError::into_inner));
            let mut answers = Vec::new();
            if one_in(2, numbers) {
                let request = self.request(numbers);
                tally.count("requests");
                let answer = queue.sign(&self.keys[request.key].signing, &request.digest);
                answers.push((request, answer));
            } else {
                let mut asked = Vec::new();
                for _ in 0..numbers.usize(1..=40) {
                    let request = self.request(numbers);
                    asked.extend(self.submit(&queue, &request, tally).map(|pending| (request, pending)));
                    if one_in(16, numbers) {
                        sleep(2, numbers);
                    }
                }
                let leaves_all = one_in(16, numbers);
                for (request, pending) in asked {
                    if leaves_all || one_in(16, numbers) {
                        tally.count("answers without a waiting thread");
                        continue;
                    }
                    answers.push((request, pending.wait()));
                }
            }
            // This may be the last reference to the queue.
            drop(queue);
            for (Request { key, digest }, answer) in &answers {
                checker.check(*key, digest, answer, numbers, tally);
            }
            sleep([0, 1, 10, 200][numbers.usize(..4)], numbers);
        }
    }

    /// Replaces queues by new ones, and drops some with pending requests, all of which are answered.
    pub fn replace(&self, mut numbers: Rng, tally: &Tally) {
        let Some(mut checker) = self.checker(tally) else { return };
        let numbers = &mut numbers;
        while !tally.is_over() {
            let queue = match Queue::start(options(numbers)) {
                Ok(queue) => queue,
                Err(error) => return tally.report_error(&format!("no queue: {error}")),
            };
            if one_in(2, numbers) {
                let slot = &self.queues[numbers.usize(..QUEUES)];
                let old = mem::replace(&mut *slot.lock().unwrap_or_else(PoisonError::into_inner), Arc::new(queue));
                drop(old);
                tally.count("queues replaced");
            } else {
                let requests: Vec<Request> = (0..numbers.usize(..30)).map(|_| self.request(numbers)).collect();
                let asked: Vec<_> = requests.iter().filter_map(|request| self.submit(&queue, request, tally)).collect();
                drop(queue);
                tally.count("queues dropped with requests in them");
                for (Request { key, digest }, pending) in requests.iter().zip(asked) {
                    checker.check(*key, digest, &pending.wait(), numbers, tally);
                }
            }
            sleep(300, numbers);
        }
    }
}
