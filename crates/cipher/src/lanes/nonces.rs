//! The search for nonces that a batch uses twice.

/// A job to encrypt, with room for the index of another job.
pub(super) trait NonceJob {
    /// The address of the key, and the nonce.
    fn key_and_nonce(&self) -> (usize, u128);
    fn link(&mut self) -> &mut usize;
    fn linked(&self) -> usize;
}

/// The end of a list of jobs, as an index.
const END: usize = usize::MAX;
/// Number of lists that one long list is divided into.
const LISTS: usize = 256;
/// Longest list whose jobs are compared pair by pair.
const MAX_PAIRWISE: usize = 8;
/// Number of times that a list is divided. Lists that are still long then are sorted.
const DIVISIONS: u32 = 2;

/// The index of a job that has the key and nonce of an earlier one, if there is one. Overwrites the links of the jobs.
pub(super) fn repeated<J: NonceJob>(jobs: &mut [J]) -> Option<usize> {
    if jobs.is_sorted_by(|one, other| one.key_and_nonce().0 < other.key_and_nonce().0) {
        return None;
    }
    let mut ids = jobs.iter().map(J::key_and_nonce);
    let mut last = ids.next()?;
    if ids.all(|id| core::mem::replace(&mut last, id) < id) {
        return None;
    }
    for (index, job) in jobs.iter_mut().enumerate() {
        *job.link() = index.checked_sub(1).unwrap_or(END);
    }
    search(jobs, jobs.len() - 1, 0)
}

/// A hash of a key's address and a nonce, for lists that natural nonces must fill evenly: counters at any place, also two that depend on
/// each other. A product depends on lower bits only, so its high half is added to its low half before the next part. Without a random
/// key: the owner of nonces chooses them, not an attacker. The highest bits are the best ones.
#[doc(hidden)]
#[inline(always)]
pub fn nonce_hash(key: usize, nonce: u128) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |hash: u64, part: u64| {
        let product = (hash ^ part).wrapping_mul(ODD);
        product ^ product >> 32
    };
    add(add(key as u64, nonce as u64), (nonce >> 64) as u64).wrapping_mul(ODD)
}

/// Searches the list that starts with job `first`: pair by pair if it is short. Otherwise it divides the list by one byte of a hash,
/// the next byte at each level.
fn search<J: NonceJob>(jobs: &mut [J], first: usize, level: u32) -> Option<usize> {
    let some = |at: usize| Some(at).filter(|&at| at != END);
    let list = |from: usize| core::iter::successors(some(from), |&at| some(jobs[at].linked()));
    let same = |one: usize, other: usize| jobs[one].key_and_nonce() == jobs[other].key_and_nonce();
    if list(first).nth(MAX_PAIRWISE).is_none() {
        return list(first).find_map(|one| Some(one.max(list(jobs[one].linked()).find(|&other| same(one, other))?)));
    }
    if level == DIVISIONS {
        let first = sort(jobs, first);
        let pairs = core::iter::successors(Some(first), |&at| some(jobs[at].linked()));
        let mut pairs = pairs.map_while(|at| Some((at, some(jobs[at].linked())?)));
        let pair = pairs.find(|(one, other)| jobs[*one].key_and_nonce() == jobs[*other].key_and_nonce());
        return pair.map(|(one, other)| one.max(other));
    }
    let mut lists = [END; LISTS];
    let mut at = first;
    while at != END {
        let (key, nonce) = jobs[at].key_and_nonce();
        let list = &mut lists[usize::from(nonce_hash(key, nonce).to_be_bytes()[level as usize])];
        at = core::mem::replace(jobs[at].link(), core::mem::replace(list, at));
    }
    lists.into_iter().filter(|&first| first != END).find_map(|first| search(jobs, first, level + 1))
}

/// Sorts a list by key and nonce (merge sort), and returns its first job.
fn sort<J: NonceJob>(jobs: &mut [J], first: usize) -> usize {
    // Sorted lists: number `i` is empty or has 2^i jobs.
    let mut sorted = [END; usize::BITS as usize];
    let mut at = first;
    while at != END {
        let (mut list, mut place) = (at, 0);
        at = core::mem::replace(jobs[at].link(), END);
        while sorted[place] != END {
            list = merge(jobs, core::mem::replace(&mut sorted[place], END), list);
            place += 1;
        }
        sorted[place] = list;
    }
    sorted.into_iter().fold(END, |all, list| merge(jobs, list, all))
}

/// Merges two sorted lists, each of which may be empty, and returns the first job.
fn merge<J: NonceJob>(jobs: &mut [J], mut one: usize, mut other: usize) -> usize {
    let (mut first, mut last) = (END, END);
    loop {
        if one == END || other != END && jobs[other].key_and_nonce() < jobs[one].key_and_nonce() {
            core::mem::swap(&mut one, &mut other);
        }
        match last {
            END => first = one,
            _ => *jobs[last].link() = one,
        }
        if other == END {
            return first;
        }
        (last, one) = (one, jobs[one].linked());
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::operation::{CcmHeader, CcmLaneJob, CcmTag};

    /// Long lists that the hash does not divide are sorted. Every order of arrival gives the same lists.
    #[test]
    fn sorted_lists() {
        for (count, factor) in [(9, 1), (16, 3), (1000, 7), (4097, 4096)] {
            for twice in [None, Some((0, count - 1)), Some((count / 2, count / 2 + 1))] {
                let mut numbers: Vec<usize> = (0..count).map(|job| job * factor % count).collect();
                if let Some((first, second)) = twice {
                    numbers[second] = numbers[first];
                }
                let jobs = numbers.iter().map(|number| {
                    let nonce = (*number as u64).to_be_bytes();
                    let header = CcmHeader::new(&nonce, &[], 0, 16).unwrap();
                    CcmLaneJob {
                        cipher: &(),
                        header,
                        data: &mut [],
                        tag: CcmTag::Check(&[]),
                        next: 0,
                        is_authentic: None,
                    }
                });
                let mut jobs: Vec<_> = jobs.collect();
                for job in 1..count {
                    jobs[job].next = job - 1;
                }
                jobs[0].next = END;
                assert_eq!(search(&mut jobs, count - 1, DIVISIONS), twice.map(|(_, second)| second), "{count}");
            }
        }
    }
}
