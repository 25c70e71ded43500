//! Values that know their process. A fork copies all memory, but only the thread that forks: keys and nonces are then in two processes, and
//! a lock that another thread held is never released in the child.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;
#[cfg(unix)]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError, TryLockResult};

/// A number that differs between a process and all processes that descend from it by forks, even if their process numbers are equal.
/// Constant on systems without forks.
#[inline]
pub fn generation() -> usize {
    #[cfg(unix)]
    {
        /// The number of the next process.
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let word = word();
        match word.load(Ordering::Acquire) {
            0 => {
                let new = NEXT.fetch_add(1, Ordering::Relaxed);
                word.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire).err().unwrap_or(new)
            }
            known => known,
        }
    }
    #[cfg(not(unix))]
    1
}

/// The number of this process, which is 0 after a fork.
#[cfg(unix)]
#[inline]
fn word() -> &'static AtomicUsize {
    static WORD: AtomicPtr<AtomicUsize> = AtomicPtr::new(ptr::null_mut());
    let mut word = WORD.load(Ordering::Acquire);
    if word.is_null() {
        let new = wiped_word().unwrap_or_else(cleared_word);
        word = WORD.compare_exchange(word, new, Ordering::AcqRel, Ordering::Acquire).err().unwrap_or(new);
    }
    // SAFETY: both functions return a pointer to a word that nobody frees.
    unsafe { &*word }
}

/// A word on a page that the kernel clears in a child, also in one of `clone`, which calls no handlers. `None` before Linux 4.14 and in
/// QEMU's user mode.
#[cfg(target_os = "linux")]
pub(crate) fn wiped_word() -> Option<*mut AtomicUsize> {
    use libc::{MADV_WIPEONFORK, MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_READ, PROT_WRITE};
    let bytes = size_of::<AtomicUsize>();
    // SAFETY: the mapping is new and of zeros, and nobody else knows its address.
    unsafe {
        let page = libc::mmap(ptr::null_mut(), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if page == MAP_FAILED {
            return None;
        }
        // The user mode of QEMU takes any advice, even one that does not exist, and ignores it.
        if libc::madvise(page, bytes, -1) == 0 || libc::madvise(page, bytes, MADV_WIPEONFORK) != 0 {
            libc::munmap(page, bytes);
            return None;
        }
        Some(page.cast())
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn wiped_word() -> Option<*mut AtomicUsize> {
    None
}

/// A word that a handler clears in a child of `fork`.
#[cfg(unix)]
pub(crate) fn cleared_word() -> *mut AtomicUsize {
    static WORD: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn clear() {
        WORD.store(0, Ordering::Release);
    }
    // SAFETY: the handler may run at any fork: it stores one word.
    let failed = unsafe { libc::pthread_atfork(None, None, Some(clear)) };
    assert_eq!(failed, 0, "no memory for a handler of forks");
    ptr::from_ref(&WORD).cast_mut()
}

/// A value that only the process that made it may use. Elsewhere it is not dropped: a drop might wait for a thread that does not exist.
#[derive(Debug)]
pub struct OfProcess<T> {
    value: ManuallyDrop<T>,
    process: usize,
}

impl<T> OfProcess<T> {
    /// Makes a value of this process.
    pub fn new(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), process: generation() }
    }

    /// The value; `None` in a forked process.
    pub fn get(&self) -> Option<&T> {
        (self.process == generation()).then_some(&*self.value)
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.process == generation() {
            // SAFETY: the value is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

/// A value that is made when it is first needed, without a lock: if several threads make it at the same time, one of the values stays.
/// If it is `RENEWED`, a forked process makes its own, and leaks the one of its parent.
pub struct ForkCell<T, const RENEWED: bool> {
    current: AtomicPtr<OfProcess<T>>,
    owned: PhantomData<Box<OfProcess<T>>>,
}

/// A value for each process, such as a lock.
pub type PerProcess<T> = ForkCell<T, true>;
/// A value that a forked process inherits.
pub type Inherited<T> = ForkCell<T, false>;

impl<T, const RENEWED: bool> ForkCell<T, RENEWED> {
    /// A cell without a value.
    pub const fn new() -> Self {
        Self { current: AtomicPtr::new(ptr::null_mut()), owned: PhantomData }
    }

    /// The value, if it was made.
    pub fn get(&self) -> Option<&T> {
        // SAFETY: the pointer is null or from `Box::into_raw`, and only `drop` frees the box.
        let current = unsafe { self.current.load(Ordering::Acquire).as_ref() }?;
        if RENEWED { current.get() } else { Some(&*current.value) }
    }
}

impl<T: Send + Sync, const RENEWED: bool> ForkCell<T, RENEWED> {
    /// The value. Makes it if this process has not made it yet.
    pub fn get_or(&self, make: impl FnOnce() -> T) -> &T {
        let last = self.current.load(Ordering::Acquire);
        if let Some(value) = self.get() {
            return value;
        }
        let new = Box::into_raw(Box::new(OfProcess::new(make())));
        if self.current.compare_exchange(last, new, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: the pointer is from `Box::into_raw` above, and no other thread has seen it.
            drop(unsafe { Box::from_raw(new) });
        }
        self.get().expect("this thread or another one has made it")
    }
}

impl<T, const RENEWED: bool> Default for ForkCell<T, RENEWED> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const RENEWED: bool> fmt::Debug for ForkCell<T, RENEWED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkCell").finish_non_exhaustive()
    }
}

impl<T, const RENEWED: bool> Drop for ForkCell<T, RENEWED> {
    fn drop(&mut self) {
        let current = *self.current.get_mut();
        if !current.is_null() {
            // SAFETY: the pointer is from `Box::into_raw` in `get_or`, and `&mut self` proves that no other reference exists.
            drop(unsafe { Box::from_raw(current) });
        }
    }
}

/// A lock that a forked process inherits with its value, unless another thread held it at the time of the fork.
pub struct ForkMutex<T> {
    mutex: Mutex<T>,
    /// Whether no thread of the parent holds the lock. The first use in a process finds out, and other threads wait for that.
    is_free: PerProcess<OnceLock<bool>>,
}

impl<T> ForkMutex<T> {
    /// A lock for this value.
    pub fn new(value: T) -> Self {
        let is_free = PerProcess::new();
        is_free.get_or(|| true.into());
        Self { mutex: Mutex::new(value), is_free }
    }

    /// Waits for the lock.
    ///
    /// # Errors
    /// `WouldBlock` if another thread held it when this process was forked, `Poisoned` after a panic.
    pub fn lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.is_free() {
            true => self.mutex.lock().map_err(TryLockError::Poisoned),
            false => Err(TryLockError::WouldBlock),
        }
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// `WouldBlock` if a thread of this process holds it, too; else those of [`lock`](Self::lock).
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if self.is_free() { self.mutex.try_lock() } else { Err(TryLockError::WouldBlock) }
    }

    fn is_free(&self) -> bool {
        let is_held = || matches!(self.mutex.try_lock(), Err(TryLockError::WouldBlock));
        *self.is_free.get_or(OnceLock::new).get_or_init(|| !is_held())
    }
}
