//! Numbers: products of two factors of one length, by Tress and by GMP; powers of 1024 bits in constant time, also by
//! the crate crypto-bigint.

use tress_arithmetic::multiply::{karatsuba_scratch, multiply};
use tress_modular::Modulus;
use tress_peers::{crypto_bigint, gmp};

use super::Error;
use super::work::{Contender, TimedWork};

/// Products in a run. A single one would end before a clock has been read.
const PRODUCTS: usize = 64;

/// The same product, repeated.
pub(crate) struct Product {
    factors: [Vec<u64>; 2],
    product: Vec<u64>,
    scratch: Vec<u64>,
    bytes: Vec<u8>,
    /// The assembly for products is that for products modulo a number.
    backend: Option<&'static str>,
}

impl Product {
    pub(crate) fn new(bits: usize) -> Product {
        let digits = bits / 64;
        Product {
            factors: [1, 1 << 32].map(|seed| pseudorandom(digits, seed)),
            product: vec![0; 2 * digits],
            scratch: vec![0; karatsuba_scratch(digits)],
            bytes: Vec::new(),
            backend: Modulus::new(&vec![u64::MAX; digits]).ok().map(|modulus| modulus.backend()),
        }
    }
}

/// Digits with arbitrary values; the time does not depend on them.
fn pseudorandom(digits: usize, seed: u64) -> Vec<u64> {
    (0..digits as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

impl TimedWork for Product {
    fn bytes(&self, _: Contender) -> u64 {
        (PRODUCTS * 8 * self.factors[0].len()) as u64
    }

    fn backend(&self) -> Option<&'static str> {
        self.backend
    }

    fn prepare(&mut self, _: Contender) -> Result<(), Error> {
        self.product.fill(0);
        Ok(())
    }

    fn run(&mut self, contender: Contender) -> Result<(), Error> {
        let [a, b] = &self.factors;
        for _ in 0..PRODUCTS {
            let (a, b) = std::hint::black_box((a, b));
            match contender {
                Contender::Gmp => gmp::multiply(a, b, &mut self.product).map_err(Contender::Gmp.failed())?,
                _ => multiply(a, b, &mut self.product, &mut self.scratch),
            }
        }
        self.bytes.clear();
        self.bytes.extend(self.product.iter().flat_map(|digit| digit.to_le_bytes()));
        Ok(())
    }

    fn output(&self, _: Contender) -> &[u8] {
        &self.bytes
    }
}

/// Length of a power's numbers, in digits.
const DIGITS: usize = 16;

/// The same power, repeated. Every contender has prepared the modulus before.
pub(crate) struct Power {
    modulus: Modulus,
    base: Vec<u64>,
    exponent: Vec<u64>,
    gmp: Option<gmp::Power>,
    crypto_bigint: crypto_bigint::Power<DIGITS>,
    result: Vec<u64>,
    bytes: Vec<u8>,
}

impl Power {
    pub(crate) fn new() -> Result<Power, Error> {
        let [mut modulus, base, exponent] = [1, 1 << 20, 1 << 40].map(|seed| pseudorandom(DIGITS, seed));
        modulus[0] |= 1;
        modulus[DIGITS - 1] |= 1 << 63;
        let prepared = Modulus::new(&modulus).expect("an odd modulus");
        let base = prepared.reduce(&base);
        Ok(Power {
            gmp: gmp::Power::new(&modulus).ok(),
            crypto_bigint: crypto_bigint::Power::new(&modulus, &base, &exponent)
                .map_err(Contender::CryptoBigint.failed())?,
            modulus: prepared,
            base,
            exponent,
            result: vec![0; DIGITS],
            bytes: Vec::new(),
        })
    }
}

impl TimedWork for Power {
    fn bytes(&self, _: Contender) -> u64 {
        1
    }

    fn counts_operations(&self) -> bool {
        true
    }

    fn backend(&self) -> Option<&'static str> {
        Some(self.modulus.backend())
    }

    fn run(&mut self, contender: Contender) -> Result<(), Error> {
        match (contender, &mut self.gmp) {
            (Contender::Gmp, Some(power)) => {
                power.power(&self.base, &self.exponent, &mut self.result).map_err(contender.failed())?;
            }
            (Contender::CryptoBigint, _) => {
                self.crypto_bigint.run();
                self.result = self.crypto_bigint.result();
            }
            _ => self.result = self.modulus.power(&self.base, &self.exponent),
        }
        self.bytes.clear();
        self.bytes.extend(self.result.iter().flat_map(|digit| digit.to_le_bytes()));
        Ok(())
    }

    fn output(&self, _: Contender) -> &[u8] {
        &self.bytes
    }
}
