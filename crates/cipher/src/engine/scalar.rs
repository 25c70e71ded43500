//! Vectors that are arrays of blocks, for engines without vector registers.

/// The vector half of [`Engine`](super::Engine) for a `Vector` that is `[Block; SLOTS]`, and the one-message operations
/// in terms of `encrypt_block`.
macro_rules! scalar_vector {
    () => {
        #[inline(always)]
        fn load(self, bytes: &[u8]) -> Self::Vector {
            let mut vector = [[0; 16]; Self::SLOTS];
            vector.as_flattened_mut().copy_from_slice(bytes);
            vector
        }

        #[inline(always)]
        fn store(self, vector: Self::Vector, bytes: &mut [u8]) {
            bytes.copy_from_slice(vector.as_flattened());
        }

        #[inline(always)]
        fn splat(self, block: &Block) -> Self::Vector {
            [*block; Self::SLOTS]
        }

        #[inline(always)]
        fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            core::array::from_fn(|slot| (u128::from_ne_bytes(a[slot]) ^ u128::from_ne_bytes(b[slot])).to_ne_bytes())
        }

        #[inline(always)]
        fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            core::array::from_fn(|slot| (u128::from_ne_bytes(a[slot]) & u128::from_ne_bytes(b[slot])).to_ne_bytes())
        }

        #[inline(always)]
        fn reverse(self, a: Self::Vector) -> Self::Vector {
            a.map(|block| u128::from_ne_bytes(block).swap_bytes().to_ne_bytes())
        }

        #[inline(always)]
        fn add64(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            core::array::from_fn(|slot| {
                let (a, b) = (u128::from_le_bytes(a[slot]), u128::from_le_bytes(b[slot]));
                let low = (a as u64).wrapping_add(b as u64);
                let high = ((a >> 64) as u64).wrapping_add((b >> 64) as u64);
                ((u128::from(high) << 64) | u128::from(low)).to_le_bytes()
            })
        }

        #[inline(always)]
        unsafe fn gather(self, pointers: &[*mut u8]) -> [Self::Vector; 4] {
            let mut vectors = [[[0; 16]; Self::SLOTS]; 4];
            for slot in 0..Self::SLOTS {
                // SAFETY: the caller vouches for 64 readable bytes at each pointer; an array has alignment 1.
                let bytes = unsafe { pointers[slot].cast::<[Block; 4]>().read() };
                for (vector, block) in vectors.iter_mut().zip(bytes) {
                    vector[slot] = block;
                }
            }
            vectors
        }

        #[inline(always)]
        unsafe fn scatter(self, vectors: [Self::Vector; 4], pointers: &[*mut u8]) {
            for slot in 0..Self::SLOTS {
                let bytes = vectors.map(|vector| vector[slot]);
                // SAFETY: the caller vouches for 64 writable bytes at each pointer; an array has alignment 1.
                unsafe { pointers[slot].cast::<[Block; 4]>().write(bytes) };
            }
        }

        fn ccm_blocks(
            self,
            keys: &Self::Keys,
            mac: &mut Block,
            counter: &mut Block,
            data: &mut [u8],
            direction: Direction,
        ) {
            for block in data.chunks_exact_mut(16) {
                let mut key_stream = *counter;
                self.encrypt_block(keys, &mut key_stream);
                increment(counter);
                if direction == Direction::Encrypt {
                    xor_block(mac, block);
                }
                for (byte, key) in block.iter_mut().zip(key_stream) {
                    *byte ^= key;
                }
                if direction == Direction::Decrypt {
                    xor_block(mac, block);
                }
                self.encrypt_block(keys, mac);
            }
        }

        fn cbc_encrypt_blocks(self, keys: &Self::Keys, chain: &mut Block, data: &mut [u8]) {
            for block in data.chunks_exact_mut(16) {
                xor_block(chain, block);
                self.encrypt_block(keys, chain);
                block.copy_from_slice(chain);
            }
        }
    };
}

pub(crate) use scalar_vector;
