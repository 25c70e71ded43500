//! Numbers: products of two factors of one length, by us and by GMP.

use tress_modular::multiply::{karatsuba_scratch, multiply};
use tress_peers::gmp;

use super::{
    Error,
    aead::peer,
    case::{Who, Work},
};

/// Products a run: one alone is over before a clock has been read.
const PRODUCTS: usize = 64;

/// The same product over and over.
pub(crate) struct Product {
    factors: [Vec<u64>; 2],
    product: Vec<u64>,
    scratch: Vec<u64>,
    bytes: Vec<u8>,
}

impl Product {
    pub(crate) fn new(bits: usize) -> Product {
        let digits = bits / 64;
        // Any digits: no step looks at their values.
        let factor = |seed: u64| (0..digits as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        Product {
            factors: [factor(1), factor(1 << 32)],
            product: vec![0; 2 * digits],
            scratch: vec![0; karatsuba_scratch(digits)],
            bytes: Vec::new(),
        }
    }
}

impl Work for Product {
    fn bytes(&self, _: Who) -> u64 {
        (PRODUCTS * 8 * self.factors[0].len()) as u64
    }

    fn prepare(&mut self, _: Who) -> Result<(), Error> {
        self.product.fill(0);
        Ok(())
    }

    fn run(&mut self, who: Who) -> Result<(), Error> {
        let [a, b] = &self.factors;
        for _ in 0..PRODUCTS {
            let (a, b) = std::hint::black_box((a, b));
            match who {
                Who::Gmp => gmp::multiply(a, b, &mut self.product).map_err(peer(Who::Gmp))?,
                _ => multiply(a, b, &mut self.product, &mut self.scratch),
            }
        }
        self.bytes.clear();
        self.bytes.extend(self.product.iter().flat_map(|digit| digit.to_le_bytes()));
        Ok(())
    }

    fn output(&self, _: Who) -> &[u8] {
        &self.bytes
    }
}
