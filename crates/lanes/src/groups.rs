//! How a batch is divided: into groups of neighbours that threads take one after the other.

use std::sync::{Mutex, PoisonError};

use crate::Pool;

/// Bytes of a group, at most: what is copied for it is still in the second cache when it is encrypted.
const GROUP_BYTES: usize = 128 << 10;
/// Lanes of the widest engine: this many items go together all the same, and larger groups are multiples of it, because a lane without
/// a message takes as long as one with.
pub(crate) const GROUP_ITEMS: usize = 32;
/// What an item costs besides its bytes, in bytes.
const ITEM_BYTES: usize = 128;
/// Less takes no longer than a helper that wakes, 20 µs on Zen 3, and the wait for it at the end.
const THREAD_BYTES: usize = 128 << 10;

/// The division of a batch.
pub(crate) struct Groups {
    /// Number of items of each group.
    counts: Vec<usize>,
    threads: usize,
}

impl Groups {
    /// For items of this many bytes each. Every thread gets as many groups of about equal cost as the others.
    pub(crate) fn new(bytes: impl ExactSizeIterator<Item = usize> + Clone, pool: &Pool, threads: usize) -> Self {
        let items = bytes.len();
        // Lengths that a caller in C got wrong may be anything.
        let costs = bytes.map(|bytes| bytes.saturating_add(ITEM_BYTES));
        let total = costs.clone().fold(0, usize::saturating_add);
        let useful = total / THREAD_BYTES;
        let threads = match threads {
            0 if useful > 1 => pool.cores().min(useful),
            _ => threads.min(useful).max(1),
        };
        let share = total.div_ceil(threads);
        let full = (total / items.max(1)).max(1).saturating_mul(GROUP_ITEMS);
        let mut group = share.div_ceil(share.div_ceil(GROUP_BYTES.max(full)).max(1));
        if group > full {
            group -= group % full;
        }

        let mut counts = Vec::new();
        let (mut count, mut sum) = (0, 0_usize);
        for cost in costs {
            count += 1;
            sum = sum.saturating_add(cost);
            if sum >= group {
                counts.push(count);
                (count, sum) = (0, 0);
            }
        }
        counts.extend(Some(count).filter(|count| *count > 0));
        Self { counts, threads }
    }

    /// Does `work` on each group of these items.
    pub(crate) fn run<T: Send>(self, pool: &Pool, mut items: &mut [T], work: impl Fn(&mut [T]) + Sync) {
        let threads = self.threads.min(self.counts.len());
        let groups = self.counts.into_iter().map_while(|count| items.split_off_mut(..count));
        let groups = Mutex::new(groups);
        let next = || groups.lock().unwrap_or_else(PoisonError::into_inner).next();
        pool.run(threads, || {
            while let Some(group) = next() {
                work(group);
            }
        });
    }
}

impl Pool {
    /// Does `work` on all items, in groups of neighbours, on up to `threads` threads of which the caller's is one; 0 is one for each
    /// core. `bytes` says how much work an item is: groups have about equal sums of it, as large as the second cache takes, and a
    /// batch that is too small for more than one thread stays on the caller's. Sizes are for work at the rate of a cipher.
    ///
    /// # Panics
    /// As [`run`](Self::run). Other threads do the groups that are left.
    pub fn for_each_group<T: Send>(
        &self,
        items: &mut [T],
        bytes: impl Fn(&T) -> usize,
        threads: usize,
        work: impl Fn(&mut [T]) + Sync,
    ) {
        Groups::new(items.iter().map(&bytes), self, threads).run(self, items, work);
    }
}
