//! Memory for the state of the lanes, up to 50 KB. With the standard library it is on the heap, once for each thread that runs lanes,
//! because some threads have small stacks (musl: 128 KiB). Elsewhere it is on the stack.

pub(crate) use place::{LaneMemory, with_lane_memory};

#[cfg(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod place {
    use core::any::TypeId;
    use core::cell::{Cell, UnsafeCell};
    use core::mem::MaybeUninit;
    use std::vec::Vec;

    /// Number of bytes. Only those that a backend needs are ever written.
    const BYTES: usize = 64 << 10;

    /// Memory for one run of lanes at a time. It keeps the last run's value, in which secrets are wiped: to set all of it to zero takes
    /// longer than a short message.
    #[repr(C, align(64))]
    pub(crate) struct LaneMemory {
        bytes: UnsafeCell<MaybeUninit<[u8; BYTES]>>,
        holds: Cell<Option<TypeId>>,
    }

    impl LaneMemory {
        /// Whether a value is kept for the next call.
        pub(crate) const KEEPS: bool = true;

        /// Memory for a value, and whether the value has to be written first. If not, it is one that an earlier call has left.
        /// `on_stack` is not used here.
        ///
        /// # Safety
        /// No other result of this function may be in use.
        #[inline(always)]
        pub(crate) unsafe fn room<'m, R: 'static>(
            &'m self,
            _on_stack: &'m mut MaybeUninit<R>,
        ) -> (&'m mut MaybeUninit<R>, bool) {
            const { assert!(size_of::<R>() <= BYTES && align_of::<R>() <= align_of::<LaneMemory>()) };
            let this = Some(TypeId::of::<R>());
            // SAFETY: there is room for an `R`, aligned, which may be uninitialised. The caller promises that this is the only reference.
            (unsafe { &mut *self.bytes.get().cast() }, self.holds.replace(this) != this)
        }

        /// A copy of the memory. The first call on a thread sets it to zero.
        #[cfg(test)]
        pub(crate) fn bytes(&self) -> Vec<u8> {
            let bytes = self.bytes.get().cast::<u8>();
            if self.holds.get().is_none() {
                // SAFETY: the memory has `BYTES` bytes, and nobody else uses it.
                unsafe { bytes.write_bytes(0, BYTES) };
            }
            // SAFETY: as above.
            unsafe { core::slice::from_raw_parts(bytes, BYTES) }.to_vec()
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
            // SAFETY: there is capacity for one, of which only `holds` must be initialised.
            unsafe {
                (&raw mut (*kept.as_mut_ptr()).holds).write(Cell::new(None));
                kept.set_len(1);
            }
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
        run(&LaneMemory { bytes: UnsafeCell::new(MaybeUninit::uninit()), holds: Cell::new(None) })
    }
}

#[cfg(not(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod place {
    use core::mem::MaybeUninit;

    /// No memory: it is on the stack of the kernel.
    pub(crate) struct LaneMemory;

    impl LaneMemory {
        pub(crate) const KEEPS: bool = false;

        /// # Safety
        /// None here.
        #[inline(always)]
        pub(crate) unsafe fn room<'m, R>(&'m self, on_stack: &'m mut MaybeUninit<R>) -> (&'m mut MaybeUninit<R>, bool) {
            (on_stack, true)
        }
    }

    #[inline(always)]
    pub(crate) fn with_lane_memory<T>(run: impl FnOnce(&LaneMemory) -> T) -> T {
        run(&LaneMemory)
    }
}
