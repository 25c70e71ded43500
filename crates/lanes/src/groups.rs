//! The division of a batch into groups of adjacent items, which threads take one after another.

use std::sync::{Mutex, PoisonError};

use crate::Pool;

/// Largest size of a group in bytes: copied data is still in the second-level cache when it is encrypted.
const GROUP_BYTES: usize = 128 << 10;
/// Number of AES lanes of the widest backend, with AVX-VNNI (Zen 5, Emerald Rapids); others have 4 to 16. Groups of this many items may
/// exceed `GROUP_BYTES`, and larger groups have a multiple of this number, because an idle lane costs as much as a busy one.
pub(crate) const GROUP_ITEMS: usize = 32;
/// Fixed cost of an item, in bytes that take the same time.
const ITEM_BYTES: usize = 128;
/// Smallest work for another thread, in bytes. Less takes no longer than waking a helper (20 µs on Zen 3) and waiting for it.
const THREAD_BYTES: usize = 128 << 10;

/// The division of a batch.
pub(crate) struct Groups {
    /// Number of items of each group.
    pub(crate) counts: Vec<usize>,
    threads: usize,
}

impl Groups {
    /// Divides items of these lengths. All threads get the same number of groups, of about equal cost. Threads beyond the number of
    /// cores get none: they would take items from the lanes of the others.
    pub(crate) fn new(bytes: impl ExactSizeIterator<Item = usize> + Clone, cores: usize, threads: usize) -> Self {
        let items = bytes.len();
        // Callers in C may pass wrong lengths, which must not overflow.
        let costs = bytes.map(|bytes| bytes.saturating_add(ITEM_BYTES));
        let total = costs.clone().fold(0, usize::saturating_add);
        let useful = total / THREAD_BYTES;
        let threads = if threads == 0 { cores } else { threads.min(cores) }.min(useful).max(1);
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

    /// Calls `work` for each group of `items`.
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
    /// Calls `work` for groups of adjacent items, on up to `threads` threads including the caller's; 0 means one for each core.
    /// `bytes` is the amount of work for an item. Groups have about equal sums of it, up to the size of the second-level cache. A batch
    /// that is too small for several threads runs on the caller's. The sizes are chosen for work at the rate of a cipher.
    ///
    /// ```
    /// use tress_lanes::Pool;
    ///
    /// let mut buffers = vec![[1_u8; 4096]; 100];
    /// Pool::shared().for_each_group(&mut buffers, |buffer| buffer.len(), 0, |group| group.as_flattened_mut().fill(2));
    /// assert!(buffers.as_flattened().iter().all(|byte| *byte == 2));
    /// ```
    ///
    /// # Panics
    /// As [`run`](Self::run). Other threads process the remaining groups.
    pub fn for_each_group<T: Send>(
        &self,
        items: &mut [T],
        bytes: impl Fn(&T) -> usize,
        threads: usize,
        work: impl Fn(&mut [T]) + Sync,
    ) {
        Groups::new(items.iter().map(&bytes), self.cores(), threads).run(self, items, work);
    }
}
