//! What all threads count, and what they find wrong.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Texts of so many wrong things are kept.
const KEPT: usize = 20;

/// One for a run.
#[derive(Default)]
pub struct Tally {
    is_over: AtomicBool,
    counted: Mutex<Counted>,
}

#[derive(Clone, Default)]
pub struct Counted {
    /// In the order of their names.
    pub counts: BTreeMap<String, u64>,
    /// From asking to the answer.
    pub slowest: Duration,
    pub wrong: Vec<String>,
    pub wrong_count: u64,
}

impl Tally {
    pub fn count(&self, what: &str, number: u64) {
        self.with(|counted| match counted.counts.get_mut(what) {
            Some(count) => *count += number,
            None => drop(counted.counts.insert(what.to_owned(), number)),
        });
    }

    pub fn answered_after(&self, time: Duration) {
        self.with(|counted| counted.slowest = counted.slowest.max(time));
    }

    pub fn wrong(&self, what: String) {
        self.with(|counted| {
            counted.wrong_count += 1;
            if counted.wrong.len() < KEPT {
                counted.wrong.push(what);
            }
        });
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub fn so_far(&self) -> Counted {
        self.with(|counted| counted.clone())
    }

    fn with<T>(&self, then: impl FnOnce(&mut Counted) -> T) -> T {
        // A thread that panicked is told when it is joined; its counts hold.
        then(&mut self.counted.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}
