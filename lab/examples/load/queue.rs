//! Threads that ask queues for signatures, and one that replaces the queues under them.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tress_sign::{Error, Pending, Queue, QueueOptions};

use crate::{
    keys::{Checker, Key},
    numbers::Numbers,
    tally::Tally,
};

/// So many queues at a time, each with its worker.
const QUEUES: usize = 3;

/// What all of them share.
pub struct Queues {
    keys: Vec<Key>,
    queues: [Mutex<Arc<Queue>>; QUEUES],
}

/// A digest under a key, by its number.
struct Request {
    key: usize,
    digest: Vec<u8>,
}

/// Few and many at once, long and short waits, room for all and for none.
fn options(numbers: &mut Numbers) -> QueueOptions {
    let mut options = QueueOptions::default();
    options.max_wait = numbers.within(Duration::from_millis(5));
    options.max_batch = *numbers.pick(&[0, 1, 2, 8, 16, 64]);
    options.capacity = *numbers.pick(&[0, 1, 16, 1024]);
    options
}

impl Queues {
    /// # Errors
    /// `NoThread` when the system gives no thread.
    pub fn new(keys: Vec<Key>, numbers: &mut Numbers) -> Result<Queues, Error> {
        let mut queue = || Ok(Mutex::new(Arc::new(Queue::start(options(numbers))?)));
        Ok(Queues { keys, queues: [queue()?, queue()?, queue()?] })
    }

    fn checker(&self, tally: &Tally) -> Option<Checker<'_>> {
        Checker::new(&self.keys).map_err(|error| tally.wrong(format!("OpenSSL: {error}"))).ok()
    }

    /// One digest in sixteen has a wrong length.
    fn request(&self, numbers: &mut Numbers) -> Request {
        let key = numbers.below(self.keys.len());
        let right = self.keys[key].signing.scheme().hash().digest_bytes();
        let length = if numbers.one_in(16) { numbers.below(2 * right) } else { right };
        Request { key, digest: numbers.bytes(length) }
    }

    fn submit(&self, queue: &Queue, request: &Request, tally: &Tally) -> Option<Pending> {
        let asked = queue.submit(&self.keys[request.key].signing, &request.digest);
        tally.count("requests", 1);
        asked.map_err(|error| tally.wrong(format!("a queue takes nothing: {error}"))).ok()
    }

    /// Asks at random, alone and in bursts, and goes away before some of the answers.
    pub fn ask(&self, mut numbers: Numbers, tally: &Tally) {
        let Some(mut checker) = self.checker(tally) else { return };
        while !tally.is_over() {
            let slot = &self.queues[numbers.below(QUEUES)];
            let queue = Arc::clone(&slot.lock().unwrap_or_else(PoisonError::into_inner));
            let mut answers = Vec::new();
            if numbers.one_in(2) {
                let request = self.request(&mut numbers);
                let start = Instant::now();
                tally.count("requests", 1);
                let answer = queue.sign(&self.keys[request.key].signing, &request.digest);
                tally.answered_after(start.elapsed());
                answers.push((request, answer));
            } else {
                let mut asked = Vec::new();
                for _ in 0..1 + numbers.below(40) {
                    let request = self.request(&mut numbers);
                    let start = Instant::now();
                    asked.extend(self.submit(&queue, &request, tally).map(|pending| (request, start, pending)));
                    if numbers.one_in(16) {
                        thread::sleep(numbers.within(Duration::from_millis(2)));
                    }
                }
                let leaves_all = numbers.one_in(16);
                for (request, start, pending) in asked {
                    if leaves_all || numbers.one_in(16) {
                        tally.count("answers that nobody waited for", 1);
                        continue;
                    }
                    let answer = pending.wait();
                    tally.answered_after(start.elapsed());
                    answers.push((request, answer));
                }
            }
            // It may be the last one that holds it.
            drop(queue);
            for (Request { key, digest }, answer) in &answers {
                checker.check(*key, digest, answer, &mut numbers, tally);
            }
            let longest = *numbers.pick(&[0, 1, 10, 200]);
            thread::sleep(numbers.within(Duration::from_millis(longest)));
        }
    }

    /// Puts new queues in the places of old ones, and drops some with requests in them, all of which are answered.
    pub fn replace(&self, mut numbers: Numbers, tally: &Tally) {
        let Some(mut checker) = self.checker(tally) else { return };
        while !tally.is_over() {
            let queue = match Queue::start(options(&mut numbers)) {
                Ok(queue) => queue,
                Err(error) => return tally.wrong(format!("no queue: {error}")),
            };
            if numbers.one_in(2) {
                let slot = &self.queues[numbers.below(QUEUES)];
                let old = mem::replace(&mut *slot.lock().unwrap_or_else(PoisonError::into_inner), Arc::new(queue));
                drop(old);
                tally.count("queues replaced", 1);
            } else {
                let requests: Vec<Request> = (0..numbers.below(30)).map(|_| self.request(&mut numbers)).collect();
                let asked: Vec<_> = requests.iter().filter_map(|request| self.submit(&queue, request, tally)).collect();
                drop(queue);
                tally.count("queues dropped with requests in them", 1);
                for (Request { key, digest }, pending) in requests.iter().zip(asked) {
                    checker.check(*key, digest, &pending.wait(), &mut numbers, tally);
                }
            }
            thread::sleep(numbers.within(Duration::from_millis(300)));
        }
    }
}
