//! Tests of forked processes: their numbers, and locks that another thread holds at the time of the fork.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError, mpsc};
use std::thread;
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::fork::wiped_word;
use crate::fork::{ForkMutex, Inherited, OfProcess, PerProcess, cleared_word, generation};
use crate::{FillerOptions, LocalFiller};

/// Forks by `call`, runs `work` in the child, and returns whether that was true. A child that hangs is ended.
fn in_child_of(call: fn() -> libc::pid_t, work: &mut dyn FnMut() -> bool) -> bool {
    // SAFETY: the child runs `work`, which needs no lock of another thread, and ends without destructors.
    unsafe {
        let child = call();
        assert!(child >= 0);
        if child == 0 {
            libc::alarm(600);
            libc::_exit(i32::from(!work()));
        }
        let mut status = 1;
        libc::waitpid(child, &mut status, 0) == child && status == 0
    }
}

fn fork() -> libc::pid_t {
    // SAFETY: as in `in_child_of`.
    unsafe { libc::fork() }
}

/// A child without the handlers of `pthread_atfork`.
#[cfg(target_os = "linux")]
fn clone() -> libc::pid_t {
    // SAFETY: as in `in_child_of`. A stack of 0 is a copy of the caller's, as after a fork.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t }
}

/// Parent, child and grandchild have three numbers, whatever their process numbers are, and each keeps its number.
#[test]
fn every_process_has_its_number() {
    #[cfg(target_os = "linux")]
    let calls = &[fork, clone][..if wiped_word().is_some() { 2 } else { 1 }];
    #[cfg(not(target_os = "linux"))]
    let calls = &[fork as fn() -> libc::pid_t];
    let parent = generation();
    for &call in calls {
        assert!(in_child_of(call, &mut || {
            let child = generation();
            let grandchild = || ![parent, child].contains(&generation()) && generation() == generation();
            child != parent && in_child_of(call, &mut { grandchild }) && generation() == child
        }));
        assert_eq!(generation(), parent);
    }
    // Where no page is cleared.
    // SAFETY: nobody frees the word.
    let word: &AtomicUsize = unsafe { &*cleared_word() };
    word.store(7, Ordering::Relaxed);
    assert!(in_child_of(fork, &mut || word.load(Ordering::Relaxed) == 0) && word.load(Ordering::Relaxed) == 7);
}

/// Runs `work` in a child that is forked while another thread waits in `hold`, and then in this process.
fn while_held(hold: impl FnOnce(&dyn Fn()) + Send, work: &mut dyn FnMut(bool) -> bool) {
    let (held, is_held) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            hold(&|| {
                held.send(()).unwrap();
                let _ = released.recv();
            });
        });
        is_held.recv().unwrap();
        assert!(in_child_of(fork, &mut || work(true)));
        drop(release);
    });
    assert!(work(false));
}

#[test]
fn locks_of_other_threads() {
    let inherited = Inherited::<Vec<u8>>::new();
    inherited.get_or(|| vec![1]);
    let lock = ForkMutex::new(5);
    while_held(
        |wait| {
            let _guard = lock.lock().unwrap();
            wait();
        },
        &mut |is_child| match lock.lock() {
            // Again with the same result.
            Err(TryLockError::WouldBlock) => is_child && matches!(lock.lock(), Err(TryLockError::WouldBlock)),
            found => !is_child && *found.unwrap() == 5,
        },
    );
    // A free lock is inherited, and then locks the threads of the child.
    assert!(in_child_of(fork, &mut || *lock.lock().unwrap() == 5 && *lock.lock().unwrap() == 5));

    let cell = PerProcess::new();
    while_held(
        |wait| {
            let _guard = cell.get_or(|| Mutex::new(1)).lock().unwrap();
            wait();
        },
        &mut |is_child| *cell.get_or(|| Mutex::new(2)).lock().unwrap() == if is_child { 2 } else { 1 },
    );
    let mut filler = LocalFiller::new(FillerOptions::default());
    filler.submit(Duration::ZERO, 1).unwrap();
    assert!(in_child_of(fork, &mut || {
        let had_none = filler.deadline().is_none();
        filler.flush();
        had_none && filler.take().is_none() && filler.submit(Duration::ZERO, 2).is_ok() && filler.deadline().is_some()
    }));
    filler.flush();
    assert_eq!(filler.take(), Some(1));
    let owned = OfProcess::new(());
    assert!(in_child_of(fork, &mut || owned.get().is_none() && inherited.get() == Some(&vec![1])));
    assert!(owned.get().is_some());
}
