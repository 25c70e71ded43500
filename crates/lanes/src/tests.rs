//! Tests of the pool: in use, with refused threads, with panics and forked. Batches are compared with those of one thread.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use std::{iter, ptr};

use tress_cipher::aes::Aes;
use tress_cipher::chacha20poly1305::ChaCha20Poly1305;
use tress_cipher::lanes::ccm::{Seal, nonce_hash};
use tress_cipher::lanes::{Aead, AeadJob};
use tress_cipher::rc6::Rc6;
use tress_cipher::{Aad, Error};

use crate::groups::Groups;
use crate::nonces::NonceHasher;
use crate::{NonceOfKey, Pool, ccm, open, repeated_nonce, seal};

/// Runs work that waits until `threads` threads have begun it, for at most `longest`. Returns the threads.
fn run_until_all_meet(pool: &Pool, threads: usize, longest: Duration) -> HashSet<ThreadId> {
    let met = Mutex::new(HashSet::new());
    let start = Instant::now();
    pool.run(threads, || {
        met.lock().unwrap().insert(thread::current().id());
        while met.lock().unwrap().len() < threads && start.elapsed() < longest {
            thread::yield_now();
        }
    });
    met.into_inner().unwrap()
}

/// Ends a hang.
const LONG: Duration = Duration::from_secs(1200);
const SHORT: Duration = Duration::from_millis(100);

#[test]
fn helpers_outlive_work() {
    let pool = Pool::new();
    assert_eq!(run_until_all_meet(&pool, 1, LONG), HashSet::from([thread::current().id()]));
    let first = run_until_all_meet(&pool, 4, LONG);
    assert_eq!(first.len(), 4);
    for threads in [2, 3, 4] {
        let again = run_until_all_meet(&pool, threads, LONG);
        assert!(again.len() == threads && again.is_subset(&first) && again.contains(&thread::current().id()));
    }
    // Nested work.
    pool.run(4, || assert_eq!(run_until_all_meet(&pool, 1, LONG).len(), 1));
    let helpers = std::sync::Arc::downgrade(&pool.generation().shared);
    drop(pool);
    let start = Instant::now();
    while helpers.strong_count() > 0 {
        assert!(start.elapsed() < LONG, "helpers stay");
        thread::yield_now();
    }
}

#[test]
fn a_panic_reaches_the_caller_after_all_have_ended() {
    let pool = Pool::new();
    let caller = thread::current().id();
    // The number of threads, and whether the caller and whether the helpers panic.
    for (threads, panicking) in [(1, [true, true]), (4, [true, false]), (4, [false, true]), (4, [true, true])] {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.run(threads, || {
                begun.fetch_add(1, Ordering::SeqCst);
                while begun.load(Ordering::SeqCst) < threads {
                    thread::yield_now();
                }
                let is_caller = thread::current().id() == caller;
                if !is_caller {
                    thread::sleep(SHORT);
                }
                ended.fetch_add(1, Ordering::SeqCst);
                if panicking[usize::from(!is_caller)] {
                    std::panic::panic_any(is_caller);
                }
            });
        }));
        assert_eq!(ended.into_inner(), threads);
        // The caller's own comes first.
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&panicking[0]));
    }
    assert_eq!(run_until_all_meet(&pool, 4, LONG).len(), 4);
}

#[test]
fn many_threads_share_a_pool() {
    let pool = Pool::new();
    thread::scope(|scope| {
        for seed in 1..=8 {
            let pool = &pool;
            scope.spawn(move || {
                for threads in (1..=5).cycle().take(200) {
                    let mut numbers: Vec<usize> = (0..1000).collect();
                    pool.for_each_group(
                        &mut numbers,
                        |_| 1000,
                        threads,
                        |group| {
                            group.iter_mut().for_each(|number| *number *= seed);
                        },
                    );
                    assert!(numbers.iter().enumerate().all(|(index, number)| *number == index * seed));
                }
            });
        }
    });
}

#[test]
fn every_item_is_in_one_group() {
    let pool = Pool::new();
    let tables: [(usize, ItemBytes); 7] = [
        (0, |_| 0),
        (1, |_| usize::MAX),
        (1000, |_| 1024),
        (1000, |_| 16384),
        (5, |index| index * 1_000_000),
        (3000, |index| index % 7 * 300),
        (40, |index| if index % 2 == 0 { usize::MAX } else { 0 }),
    ];
    for (count, bytes) in tables {
        for threads in [0, 1, 2, 3, 7, 1000] {
            let mut items: Vec<_> = (0..count).map(|index| (index, false)).collect();
            pool.for_each_group(
                &mut items,
                |(index, _)| bytes(*index),
                threads,
                |group| {
                    assert!(group.is_sorted() && !group.is_empty());
                    group.iter_mut().for_each(|(_, is_done)| *is_done = !*is_done);
                },
            );
            assert!(items.iter().all(|(_, is_done)| *is_done), "{count} on {threads}");
        }
    }
}

/// Multiples of 32, except if cores would be idle. Only the last group may be smaller.
#[test]
fn groups_fill_lanes() {
    for (count, bytes, cores, threads, least, most) in [
        (1000, 1024, 2, 2, 32, 96),
        (1000, 16384, 2, 2, 32, 32),
        (40, 100_000, 2, 2, 20, 20),
        (4, 1 << 20, 4, 4, 1, 1),
        (16, 1 << 20, 2, 64, 8, 8),
        (40, 100, 8, 8, 32, 32),
    ] {
        let sizes = Groups::new(iter::repeat_n(bytes, count), cores, threads).counts;
        assert_eq!(sizes.iter().max(), Some(&most), "{count} of {bytes}");
        assert!(sizes.iter().filter(|size| **size < least).count() <= 1, "{count} of {bytes}: {sizes:?}");
    }
}

/// Length of an item in bytes, by its number.
type ItemBytes = fn(usize) -> usize;

/// Messages with their tags.
type Messages = Vec<(Vec<u8>, [u8; 16])>;

fn nonce(number: usize) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&(number as u64).to_be_bytes());
    nonce
}

/// Checks that any number of threads gives the result of one thread, in both directions.
fn same_with_any_threads<A: Aead + 'static>(keys: &[A], plain: &Messages) {
    let aad = [5; 21];
    let key = |number: usize| &keys[number % keys.len()];
    let mut expected = plain.clone();
    let seal_all = |messages: &mut Messages, run: &dyn Fn(&mut [A::Seal<'_>])| {
        let jobs = messages.iter_mut().enumerate().map(|(number, (data, tag))| {
            key(number).to_seal(nonce(number)[..].into(), Aad(&aad[number % 21..]), data, tag.into()).unwrap()
        });
        run(&mut jobs.collect::<Vec<_>>());
    };
    seal_all(&mut expected, &|jobs| A::seal(jobs).unwrap());
    for threads in [0, 1, 2, 3, 8] {
        let mut messages = plain.clone();
        seal_all(&mut messages, &|jobs| seal::<A>(jobs, Pool::shared(), threads).unwrap());
        assert!(messages == expected, "{threads} threads");

        // One in five is forged.
        let mut forged = None;
        for (number, (data, tag)) in messages.iter_mut().enumerate().filter(|(number, _)| number % 5 == 3) {
            match data.first_mut() {
                Some(byte) if number % 2 == 0 => *byte ^= 1,
                _ => tag[7] ^= 1,
            }
            forged = Some((forged.map_or(1, |(count, _)| count + 1), 3));
        }
        let jobs = messages.iter_mut().enumerate().map(|(number, (data, tag))| {
            key(number).to_open(nonce(number)[..].into(), Aad(&aad[number % 21..]), data, (&*tag).into()).unwrap()
        });
        let mut jobs: Vec<_> = jobs.collect();
        let opened = open::<A>(&mut jobs, Pool::shared(), threads);
        assert_eq!(opened.err().map(|forged| (forged.count, forged.first)), forged);
        let results: Vec<_> = jobs.iter().map(AeadJob::result).collect();
        drop(jobs);
        for (number, (data, _)) in messages.iter().enumerate() {
            if number % 5 == 3 {
                assert_eq!(results[number], Err(Error::Authentication));
                assert!(data.iter().all(|byte| *byte == 0));
            } else {
                assert_eq!((results[number], data), (Ok(()), &plain[number].0));
            }
        }
    }
}

/// A repeated nonce is found anywhere in a batch, also in groups of different threads.
#[test]
fn nonces_twice() {
    let keys = [1, 2].map(|key| Aes::new(&[key; 16]).unwrap());
    for (first, second, key, is_twice) in
        [(3, 2900, 0, true), (3, 2900, 1, false), (0, 1, 0, true), (2998, 2999, 0, true)]
    {
        let nonces: Vec<_> = (0..3000).map(|number| nonce(if number == second { first } else { number })).collect();
        let key = |number: usize| if number == second { &keys[key] } else { &keys[0] };
        let mut messages: Messages = vec![(vec![7; 1000], [0; 16]); 3000];
        let jobs = messages.iter_mut().enumerate();
        let jobs = jobs.map(|(i, (data, tag))| Seal::new(key(i), &nonces[i], Aad(b""), data, tag).unwrap());
        let sealed = ccm::seal(&mut jobs.collect::<Vec<_>>(), Pool::shared(), 0);
        assert_eq!(sealed, if is_twice { Err(Error::NonceRepeated { job: second }) } else { Ok(()) });
        assert_eq!(messages.iter().all(|(data, _)| *data == [7; 1000]), is_twice);

        let ids = nonces.iter().enumerate().map(|(number, nonce)| NonceOfKey::new(key(number), nonce));
        assert_eq!(repeated_nonce(ids.clone()).unwrap(), is_twice.then_some(second));
        // An iterator that does not know its length.
        assert_eq!(repeated_nonce(ids.filter(|_| true)).unwrap(), is_twice.then_some(second));
    }
    // Trailing zeros make a nonce different.
    let key = &keys[0];
    let ids = [&[0; 13][..], &[0; 12], &[0; 7], &[]].map(|nonce| NonceOfKey::new(key, nonce));
    assert_eq!(repeated_nonce(ids.into_iter()).unwrap(), None);
    // Every byte of a nonce makes a difference.
    for bytes in 1..=15 {
        let nonces = (0..=bytes).map(|at| (0..bytes).map(|i| if i == at { 8 } else { 7 }).collect::<Vec<u8>>());
        let ids = nonces.map(|nonce| NonceOfKey::new(key, &nonce));
        assert_eq!(repeated_nonce(ids).unwrap(), None, "{bytes} bytes");
    }
}

/// Natural nonces fill hash tables evenly, so that the search takes time in proportion to their number: the most that share 16 bits of a
/// hash are few, whether its lowest bits are taken (tables) or its highest (`ccm::check_nonces`).
#[test]
fn natural_nonces_are_spread() {
    const NONCES: u32 = 20_000;
    // 20,000 random numbers put 8 or more into one of 65,536 places with a probability below 0.1 %. Quadratic cost begins in thousands.
    const MOST: u32 = 16;
    let check = |name: &str, nonce: &dyn Fn(u32) -> NonceOfKey| {
        let mut loads = vec![[0_u32; 2]; 1 << 16];
        for number in 0..NONCES {
            let nonce = nonce(number);
            let lowest = BuildHasherDefault::<NonceHasher>::default().hash_one(nonce) as u16;
            let highest = nonce_hash(nonce.0, nonce.1) >> 48;
            loads[usize::from(lowest)][0] += 1;
            loads[highest as usize][1] += 1;
        }
        let most = loads.as_flattened().iter().max();
        assert!(most <= Some(&MOST), "{name}: {most:?}");
    };
    let nonce = |bytes: usize, parts: &[(usize, [u8; 4])]| {
        let mut nonce = vec![0x5a; bytes];
        parts.iter().for_each(|(at, part)| nonce[*at..at + 4].copy_from_slice(part));
        NonceOfKey::new(ptr::without_provenance::<u8>(0x7f12_3456_7890), &nonce)
    };
    type Order = fn(u32) -> [u8; 4];
    let orders: [Order; 2] = [u32::to_be_bytes, u32::to_le_bytes];
    for bytes in 7..=13 {
        for (at, order) in (0..=bytes - 4).flat_map(|at| orders.map(|order| (at, order))) {
            check(&format!("counter at {at} of {bytes}"), &|n| nonce(bytes, &[(at, order(n))]));
            for other in (0..=bytes - 4).filter(|other| at.abs_diff(*other) >= 4) {
                let both = |name: &str, second: &dyn Fn(u32) -> u32| {
                    let name = format!("{name} at {at} and {other} of {bytes}");
                    check(&name, &|n| nonce(bytes, &[(at, order(n)), (other, order(second(n)))]));
                };
                both("counter twice", &|n| n);
                both("counter and complement", &|n| !n);
                both("counter and its double", &|n| 2 * n);
                both("counter and time", &|n| 1_700_000_000 + n / 100);
                check("device and counter", &|n| nonce(bytes, &[(at, order(n % 256)), (other, order(n / 256))]));
            }
        }
        for shift in 0..8 * bytes - 15 {
            let number = |n: u32| (u128::from(n) << shift).to_be_bytes();
            check("shifted counter", &|n| NonceOfKey::new(ptr::null::<u8>(), &number(n)[16 - bytes..]));
            check("Gray code", &|n| NonceOfKey::new(ptr::null::<u8>(), &number(n ^ n >> 1)[16 - bytes..]));
        }
        // A key for each device, one nonce, or the device's number in it.
        let key = |n: u32| ptr::without_provenance::<u8>(0x7f12_3456_0000 + 1008 * n as usize);
        check("keys", &|n| NonceOfKey::new(key(n), &vec![0; bytes]));
        check("keys and numbers", &|n| NonceOfKey(key(n).addr(), nonce(bytes, &[(bytes - 4, n.to_be_bytes())]).1));
    }
}

#[test]
fn batches_are_those_of_one_thread() {
    let tables: [(usize, ItemBytes); 5] = [
        (0, |_| 0),
        (1, |_| 300_000),
        (33, |number| number * 1000),
        (700, |number| number * 97 % 1500),
        (3001, |number| number % 3 * 16),
    ];
    for (count, bytes) in tables {
        let plain: Messages = (0..count).map(|number| (vec![number as u8; bytes(number)], [0; 16])).collect();
        same_with_any_threads(&[Aes::new(&[1; 16]).unwrap()], &plain);
        let keys: Vec<_> =
            (0..7).map(|number| Aes::new(&[number; 32][..16 + 8 * (number as usize % 3)]).unwrap()).collect();
        same_with_any_threads(&keys, &plain);
        same_with_any_threads(&[Rc6::new(&[3; 16]).unwrap()], &plain);
        same_with_any_threads(&[4, 5, 6].map(|key| ChaCha20Poly1305::new(&[key; 32])), &plain);
    }
}

/// Forks a process that runs `work` and returns its result. A process that hangs is ended.
#[cfg(unix)]
fn fork(user: Option<u32>, mut work: impl FnMut() -> bool + Send + Sync + 'static) -> bool {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new("true");
    if let Some(user) = user {
        command.uid(user);
    }
    let work = move || {
        let watch = thread::Builder::new().spawn(|| {
            thread::sleep(LONG);
            std::process::abort();
        });
        let good = work();
        drop(watch);
        if good { Ok(()) } else { Err(std::io::Error::other("in the child")) }
    };
    // SAFETY: after a fork the child may only call async-signal-safe functions. `work` also allocates and starts threads, which the C
    // libraries of our systems allow.
    unsafe { command.pre_exec(work) };
    command.status().is_ok_and(|status| status.success())
}

#[test]
#[cfg(unix)]
fn a_forked_process_starts_new_helpers() {
    let pool: &'static Pool = Box::leak(Box::new(Pool::new()));
    assert_eq!(run_until_all_meet(pool, 3, LONG).len(), 3);
    // Fork while another thread holds the lock. In the child it is never released.
    let held = pool.generation().shared.lock();
    assert!(fork(None, || run_until_all_meet(pool, 3, LONG).len() == 3));
    drop(held);
    // Fork while helpers work and callers come and go.
    let is_over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    pool.run(3, || ());
                }
            });
        }
        let children = (0..20).map(|_| fork(None, || run_until_all_meet(pool, 3, LONG).len() == 3));
        let good = children.filter(|good| *good).count();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(good, 20);
    });
    assert_eq!(run_until_all_meet(pool, 3, LONG).len(), 3);
}

#[test]
#[cfg(target_os = "linux")]
fn refused_threads_are_not_needed() {
    use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};
    let limit = |threads| {
        let maximum = getrlimit(Resource::Nproc).maximum;
        setrlimit(Resource::Nproc, Rlimit { current: threads, maximum }).unwrap();
    };
    // Root has no limit, and another user no processes yet.
    let user = getuid().is_root().then_some(54321);
    if user.is_some() && !fork(user, || true) {
        return eprintln!("*** SKIPPED: this system has no other user ***");
    }
    assert!(fork(user, move || {
        let pool = Pool::new();
        let before = getrlimit(Resource::Nproc).current;
        limit(Some(0));
        let alone = run_until_all_meet(&pool, 4, SHORT);
        let is_alone = alone == HashSet::from([thread::current().id()]);
        limit(before);
        is_alone && run_until_all_meet(&pool, 4, LONG).len() == 4
    }));
}
