//! GMP: products and constant-time powers on digits of 64 bits, through libgmp's low-level functions, opened at run time.

use std::ffi::{CStr, c_char, c_long, c_ulong};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::library::functions;
use crate::{Error, Missing};

pub const NAME: &str = "gmp";

const FILE: &str = "libgmp.so.10";
const PACKAGE: &str = "libgmp10";

functions! {
    _library;
    /// `gmp_version`, which is written once by the library.
    version: &'static AtomicPtr<c_char> = b"__gmp_version",
    /// `mpn_mul_n`: product, factors, number of digits of a factor.
    multiply: unsafe extern "C" fn(*mut u64, *const u64, *const u64, c_long) = b"__gmpn_mul_n",
    /// `mpn_sec_powm_itch`: number of digits of the base, bits of the exponent, digits of the modulus.
    power_scratch: unsafe extern "C" fn(c_long, c_ulong, c_long) -> c_long = b"__gmpn_sec_powm_itch",
    /// `mpn_sec_powm`: result, base and its number of digits, exponent and its number of bits, modulus and its number
    /// of digits, scratch memory.
    power: unsafe extern "C" fn(*mut u64, *const u64, c_long, *const u64, c_ulong, *const u64, c_long, *mut u64) = b"__gmpn_sec_powm",
}

fn load() -> Result<Functions, Missing> {
    // A digit in gmp.h is an unsigned long, and this crate needs 64 bits.
    if c_ulong::BITS != 64 {
        return Err(missing("digits of 64 bits".into()));
    }
    // SAFETY: libgmp's initialisers have no precondition. The types are those of the prototypes in gmp.h with digits of 64 bits; the
    // version is a `const char * const`.
    unsafe { Functions::open(FILE) }
}

/// The version of libgmp on this machine, such as `6.2.1`, or how to install it.
pub fn version() -> Result<String, Missing> {
    let version = functions()?.version.load(Ordering::Relaxed);
    // SAFETY: the pointer is to a string with static lifetime.
    Ok(unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned())
}

/// `mpn_mul_n`: `product = a · b`, for factors of the same length.
pub fn multiply(a: &[u64], b: &[u64], product: &mut [u64]) -> Result<(), Error> {
    let functions = functions()?;
    if a.is_empty() || a.len() != b.len() || product.len() != 2 * a.len() {
        return Err(Error::Length);
    }
    // SAFETY: the factors have the same length of at least one digit, and the product has twice as many. Rust
    // references do not overlap.
    unsafe { (functions.multiply)(product.as_mut_ptr(), a.as_ptr(), b.as_ptr(), a.len() as c_long) };
    Ok(())
}

/// `mpn_sec_powm`, which `mpz_powm_sec` calls: powers modulo an odd number in constant time. The scratch memory is kept.
pub struct Power {
    functions: &'static Functions,
    modulus: Vec<u64>,
    scratch: Vec<u64>,
}

impl Power {
    /// Prepares a modulus whose highest digit is not zero.
    pub fn new(modulus: &[u64]) -> Result<Power, Error> {
        if modulus.first().is_none_or(|low| low % 2 == 0) || modulus.last() == Some(&0) {
            return Err(Error::Length);
        }
        Ok(Power { functions: functions()?, modulus: modulus.to_vec(), scratch: Vec::new() })
    }

    /// Computes `result = base ^ exponent`. The base has as many digits as the modulus, and the exponent's highest
    /// digit is not zero.
    pub fn power(&mut self, base: &[u64], exponent: &[u64], result: &mut [u64]) -> Result<(), Error> {
        let n = self.modulus.len();
        if base.len() != n || result.len() != n || exponent.last().is_none_or(|&top| top == 0) {
            return Err(Error::Length);
        }
        let (n, bits) = (n as c_long, 64 * exponent.len() as c_ulong);
        // SAFETY: the function only computes a size.
        let digits = unsafe { (self.functions.power_scratch)(n, bits, n) };
        self.scratch.resize(usize::try_from(digits).map_err(|_| Error::Refused("mpn_sec_powm_itch"))?, 0);
        // SAFETY: the modulus is odd and its highest digit is not zero. Base and result have the modulus's length,
        // and the exponent has `bits` bits. The scratch memory has the size that the library returned. Rust
        // references do not overlap.
        unsafe {
            (self.functions.power)(
                result.as_mut_ptr(),
                base.as_ptr(),
                n,
                exponent.as_ptr(),
                bits,
                self.modulus.as_ptr(),
                n,
                self.scratch.as_mut_ptr(),
            );
        }
        Ok(())
    }
}
