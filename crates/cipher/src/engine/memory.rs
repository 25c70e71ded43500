//! Memory for the state of the lanes, up to 50 KB. With the standard library it is on the heap, once for each thread that runs lanes,
//! because some threads have small stacks (musl: 128 KiB). Elsewhere it is on the stack.

pub(crate) use place::{LaneMemory, with_lane_memory};

#[cfg(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod place {
    use core::cell::{Cell, UnsafeCell};
    use core::mem::MaybeUninit;
    use std::vec::Vec;

    /// Number of bytes. Only those that a backend needs are ever written.
    const BYTES: usize = 64 << 10;

    /// Uninitialised memory for one run of lanes at a time.
    #[repr(align(64))]
    pub(crate) struct LaneMemory(UnsafeCell<MaybeUninit<[u8; BYTES]>>);

    impl LaneMemory {
        /// Memory for a value. `on_stack` is not used here.
        ///
        /// # Safety
        /// No other result of this function may be in use.
        #[inline(always)]
        pub(crate) unsafe fn room<'m, R>(&'m self, _on_stack: &'m mut MaybeUninit<R>) -> &'m mut MaybeUninit<R> {
            const { assert!(size_of::<R>() <= BYTES && align_of::<R>() <= align_of::<LaneMemory>()) };
            // SAFETY: there is room for an `R`, aligned, which may be uninitialised. The caller promises that this is the only reference.
            unsafe { &mut *self.0.get().cast() }
        }
    }

    std::thread_local! {
        /// Empty before the thread's first call and while one runs.
        static KEPT: Cell<Vec<LaneMemory>> = const { Cell::new(Vec::new()) };
    }

    /// Calls `run` with memory that nobody else uses.
    pub(crate) fn with_lane_memory<T>(run: impl FnOnce(&LaneMemory) -> T) -> T {
        // A thread that is ending has no place to keep it.
        let mut kept = KEPT.try_with(Cell::take).unwrap_or_default();
        if kept.is_empty() && kept.try_reserve_exact(1).is_ok() {
            // SAFETY: there is capacity for one, which may be uninitialised.
            unsafe { kept.set_len(1) };
        }
        let Some(memory) = kept.first() else { return on_stack(run) };
        let result = run(memory);
        let _ = KEPT.try_with(|place| place.set(kept));
        result
    }

    /// [`with_lane_memory`] if the heap has none.
    #[cold]
    #[inline(never)]
    fn on_stack<T>(run: impl FnOnce(&LaneMemory) -> T) -> T {
        run(&LaneMemory(UnsafeCell::new(MaybeUninit::uninit())))
    }
}

#[cfg(not(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod place {
    use core::mem::MaybeUninit;

    /// No memory: it is on the stack of the kernel.
    pub(crate) struct LaneMemory;

    impl LaneMemory {
        /// # Safety
        /// None here.
        #[inline(always)]
        pub(crate) unsafe fn room<'m, R>(&'m self, on_stack: &'m mut MaybeUninit<R>) -> &'m mut MaybeUninit<R> {
            on_stack
        }
    }

    #[inline(always)]
    pub(crate) fn with_lane_memory<T>(run: impl FnOnce(&LaneMemory) -> T) -> T {
        run(&LaneMemory)
    }
}
