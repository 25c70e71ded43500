//! The search for nonces that a batch uses twice.

use crate::operation::CcmTask;

/// The end of a list of tasks, as an index.
const END: usize = usize::MAX;
/// Number of lists that one long list is divided into.
const LISTS: usize = 256;
/// Longest list whose tasks are compared pair by pair.
const SHORT: usize = 8;

/// The index of a task that has the key and nonce of an earlier one, if there is one. Overwrites `next` of the tasks.
pub(super) fn repeated<C>(tasks: &mut [CcmTask<'_, C>]) -> Option<usize> {
    let mut ids = tasks.iter().map(id);
    let mut last = ids.next()?;
    if ids.all(|id| core::mem::replace(&mut last, id) < id) {
        return None;
    }
    for (index, task) in tasks.iter_mut().enumerate() {
        task.next = index.checked_sub(1).unwrap_or(END);
    }
    search(tasks, tasks.len() - 1, 0)
}

/// The address of the key, and the nonce.
#[inline(always)]
fn id<C>(task: &CcmTask<'_, C>) -> (usize, u128) {
    (core::ptr::from_ref(task.cipher).addr(), u128::from_be_bytes(task.header.counter()))
}

/// Searches the list that starts with task `first`: pair by pair if it is short. Otherwise it divides the list by one byte of a hash,
/// the next byte at each level.
fn search<C>(tasks: &mut [CcmTask<'_, C>], first: usize, level: u32) -> Option<usize> {
    let some = |at: usize| Some(at).filter(|&at| at != END);
    let list = |from: usize| core::iter::successors(some(from), |&at| some(tasks[at].next));
    if level == u64::BITS / 8 || list(first).nth(SHORT).is_none() {
        let same = |one: usize, other: &usize| id(&tasks[one]) == id(&tasks[*other]);
        return list(first).find_map(|one| Some(one.max(list(tasks[one].next).find(|other| same(one, other))?)));
    }
    let mut lists = [END; LISTS];
    let mut at = first;
    while at != END {
        let (key, nonce) = id(&tasks[at]);
        let hash = (key as u64 ^ nonce as u64 ^ (nonce >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let list = &mut lists[usize::from(hash.to_be_bytes()[level as usize])];
        at = core::mem::replace(&mut tasks[at].next, core::mem::replace(list, at));
    }
    lists.into_iter().filter(|&first| first != END).find_map(|first| search(tasks, first, level + 1))
}
