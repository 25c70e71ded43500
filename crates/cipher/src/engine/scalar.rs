//! Vectors as arrays of blocks, for engines without vector registers.

/// The vector methods of [`Engine`](super::Engine) for a `Vector` that is `[Block; SLOTS]`. A generic engine passes the number of
/// slots.
macro_rules! scalar_vector {
    () => {
        $crate::engine::scalar_vector!(Self::SLOTS);
    };
    ($slots:expr) => {
        #[inline(always)]
        fn load(self, bytes: &[u8]) -> Self::Vector {
            let mut vector = self.zero();
            $crate::block::flat_mut(&mut vector).copy_from_slice(bytes);
            vector
        }

        #[inline(always)]
        fn store(self, mut vector: Self::Vector, bytes: &mut [u8]) {
            bytes.copy_from_slice($crate::block::flat_mut(&mut vector));
        }

        #[inline(always)]
        fn zero(self) -> Self::Vector {
            [<Self::Block as $crate::block::BlockBytes>::ZERO; $slots]
        }

        #[inline(always)]
        fn xor(self, mut a: Self::Vector, mut b: Self::Vector) -> Self::Vector {
            for (a, b) in $crate::block::flat_mut(&mut a).iter_mut().zip($crate::block::flat_mut(&mut b)) {
                *a ^= *b;
            }
            a
        }

        #[inline(always)]
        fn slot(self, vector: &Self::Vector, slot: usize) -> Self::Block {
            vector[slot]
        }

        #[inline(always)]
        fn set_slot(self, vector: &mut Self::Vector, slot: usize, block: &Self::Block) {
            vector[slot] = *block;
        }

        #[inline(always)]
        fn counters<const N: usize>(self, first: &Self::Block) -> [Self::Vector; N] {
            $crate::engine::counters(self, first)
        }

        #[inline(always)]
        unsafe fn gather(self, pointers: &[*mut u8]) -> [Self::Vector; $crate::engine::STEP_BLOCKS] {
            let mut vectors = [self.zero(); $crate::engine::STEP_BLOCKS];
            for slot in 0..Self::SLOTS {
                // SAFETY: the caller guarantees that `STEP_BLOCKS` blocks are readable at each pointer. Byte arrays have alignment 1.
                let blocks = unsafe { pointers[slot].cast::<[Self::Block; $crate::engine::STEP_BLOCKS]>().read() };
                for (vector, block) in vectors.iter_mut().zip(blocks) {
                    vector[slot] = block;
                }
            }
            vectors
        }

        #[inline(always)]
        unsafe fn scatter(self, vectors: [Self::Vector; $crate::engine::STEP_BLOCKS], pointers: &[*mut u8]) {
            for slot in 0..Self::SLOTS {
                let blocks = vectors.map(|vector| vector[slot]);
                // SAFETY: the caller guarantees that `STEP_BLOCKS` blocks are writable at each pointer. Byte arrays have alignment 1.
                unsafe { pointers[slot].cast::<[Self::Block; $crate::engine::STEP_BLOCKS]>().write(blocks) };
            }
        }
    };
}

/// The vector methods of [`CcmEngine`](super::CcmEngine) for a `Vector` that is `[Block; SLOTS]`.
macro_rules! scalar_ccm_vector {
    () => {
        #[inline(always)]
        fn and(self, mut a: Self::Vector, b: Self::Vector) -> Self::Vector {
            for (a, b) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
                *a &= b;
            }
            a
        }

        #[inline(always)]
        fn reverse(self, a: Self::Vector) -> Self::Vector {
            a.map(|block| u128::from_ne_bytes(block).swap_bytes().to_ne_bytes())
        }

        #[inline(always)]
        fn increment(self, a: Self::Vector) -> Self::Vector {
            a.map(|block| {
                let number = u128::from_le_bytes(block);
                let low = (number as u64).wrapping_add(1);
                (number >> 64 << 64 | u128::from(low)).to_le_bytes()
            })
        }
    };
}

pub(crate) use {scalar_ccm_vector, scalar_vector};
