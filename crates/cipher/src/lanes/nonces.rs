//! The search for nonces that a batch uses twice.

use crate::operation::CcmLaneJob;

/// The end of a list of jobs, as an index.
const END: usize = usize::MAX;
/// Number of lists that one long list is divided into.
const LISTS: usize = 256;
/// Longest list whose jobs are compared pair by pair.
const MAX_PAIRWISE: usize = 8;
/// Number of times that a list is divided. Lists that are still long then are sorted.
const DIVISIONS: u32 = 2;

/// The index of a job that has the key and nonce of an earlier one, if there is one. Overwrites `next` of the jobs.
pub(super) fn repeated<C>(lane_jobs: &mut [CcmLaneJob<'_, C>]) -> Option<usize> {
    let mut ids = lane_jobs.iter().map(key_and_nonce);
    let mut last = ids.next()?;
    if ids.all(|id| core::mem::replace(&mut last, id) < id) {
        return None;
    }
    for (index, lane_job) in lane_jobs.iter_mut().enumerate() {
        lane_job.next = index.checked_sub(1).unwrap_or(END);
    }
    search(lane_jobs, lane_jobs.len() - 1, 0)
}

/// The address of the key, and the nonce.
#[inline(always)]
fn key_and_nonce<C>(lane_job: &CcmLaneJob<'_, C>) -> (usize, u128) {
    (core::ptr::from_ref(lane_job.cipher).addr(), u128::from_be_bytes(lane_job.header.counter()))
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
fn search<C>(lane_jobs: &mut [CcmLaneJob<'_, C>], first: usize, level: u32) -> Option<usize> {
    let some = |at: usize| Some(at).filter(|&at| at != END);
    let list = |from: usize| core::iter::successors(some(from), |&at| some(lane_jobs[at].next));
    let same = |one: usize, other: usize| key_and_nonce(&lane_jobs[one]) == key_and_nonce(&lane_jobs[other]);
    if list(first).nth(MAX_PAIRWISE).is_none() {
        return list(first).find_map(|one| Some(one.max(list(lane_jobs[one].next).find(|&other| same(one, other))?)));
    }
    if level == DIVISIONS {
        let first = sort(lane_jobs, first);
        let pairs = core::iter::successors(Some(first), |&at| some(lane_jobs[at].next));
        let mut pairs = pairs.map_while(|at| Some((at, some(lane_jobs[at].next)?)));
        let pair = pairs.find(|(one, other)| key_and_nonce(&lane_jobs[*one]) == key_and_nonce(&lane_jobs[*other]));
        return pair.map(|(one, other)| one.max(other));
    }
    let mut lists = [END; LISTS];
    let mut at = first;
    while at != END {
        let (key, nonce) = key_and_nonce(&lane_jobs[at]);
        let list = &mut lists[usize::from(nonce_hash(key, nonce).to_be_bytes()[level as usize])];
        at = core::mem::replace(&mut lane_jobs[at].next, core::mem::replace(list, at));
    }
    lists.into_iter().filter(|&first| first != END).find_map(|first| search(lane_jobs, first, level + 1))
}

/// Sorts a list by key and nonce (merge sort), and returns its first job.
fn sort<C>(lane_jobs: &mut [CcmLaneJob<'_, C>], first: usize) -> usize {
    // Sorted lists: number `i` is empty or has 2^i jobs.
    let mut sorted = [END; usize::BITS as usize];
    let mut at = first;
    while at != END {
        let (mut list, mut place) = (at, 0);
        at = core::mem::replace(&mut lane_jobs[at].next, END);
        while sorted[place] != END {
            list = merge(lane_jobs, core::mem::replace(&mut sorted[place], END), list);
            place += 1;
        }
        sorted[place] = list;
    }
    sorted.into_iter().fold(END, |all, list| merge(lane_jobs, list, all))
}

/// Merges two sorted lists, each of which may be empty, and returns the first job.
fn merge<C>(lane_jobs: &mut [CcmLaneJob<'_, C>], mut one: usize, mut other: usize) -> usize {
    let (mut first, mut last) = (END, END);
    loop {
        if one == END || other != END && key_and_nonce(&lane_jobs[other]) < key_and_nonce(&lane_jobs[one]) {
            core::mem::swap(&mut one, &mut other);
        }
        match last {
            END => first = one,
            _ => lane_jobs[last].next = one,
        }
        if other == END {
            return first;
        }
        (last, one) = (one, lane_jobs[one].next);
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::operation::{CcmHeader, CcmTag};

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
