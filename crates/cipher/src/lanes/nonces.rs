//! The search for nonces that a batch uses twice.

use crate::operation::CcmLaneJob;

/// The end of a list of jobs, as an index.
const END: usize = usize::MAX;
/// Number of lists that one long list is divided into.
const LISTS: usize = 256;
/// Longest list whose jobs are compared pair by pair.
const MAX_PAIRWISE: usize = 8;

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

/// Searches the list that starts with job `first`: pair by pair if it is short. Otherwise it divides the list by one byte of a hash,
/// the next byte at each level.
fn search<C>(lane_jobs: &mut [CcmLaneJob<'_, C>], first: usize, level: u32) -> Option<usize> {
    let some = |at: usize| Some(at).filter(|&at| at != END);
    let list = |from: usize| core::iter::successors(some(from), |&at| some(lane_jobs[at].next));
    if level == u64::BITS / 8 || list(first).nth(MAX_PAIRWISE).is_none() {
        let same = |one: usize, other: &usize| key_and_nonce(&lane_jobs[one]) == key_and_nonce(&lane_jobs[*other]);
        return list(first).find_map(|one| Some(one.max(list(lane_jobs[one].next).find(|other| same(one, other))?)));
    }
    let mut lists = [END; LISTS];
    let mut at = first;
    while at != END {
        let (key, nonce) = key_and_nonce(&lane_jobs[at]);
        let hash = (key as u64 ^ nonce as u64 ^ (nonce >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let list = &mut lists[usize::from(hash.to_be_bytes()[level as usize])];
        at = core::mem::replace(&mut lane_jobs[at].next, core::mem::replace(list, at));
    }
    lists.into_iter().filter(|&first| first != END).find_map(|first| search(lane_jobs, first, level + 1))
}
