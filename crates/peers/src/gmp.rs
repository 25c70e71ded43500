//! GMP: `mpz_powm_sec`, its exponentiation for secrets, and `mpn_mul_n`, opened at run time.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::OnceLock,
};

use libloading::Library;

use crate::{Error, Missing};

/// The name that `tress bench --against` takes.
pub const NAME: &str = "gmp";

const LIBRARY: &str = "libgmp.so.10";
const PACKAGE: &str = "libgmp10";

/// `mpz_t` (gmp.h): digits that there is room for, digits in use with the number's sign, digits.
#[repr(C)]
struct Integer {
    allocated: c_int,
    size: c_int,
    digits: *mut u64,
}

struct Functions {
    version: String,
    init: unsafe extern "C" fn(*mut Integer),
    clear: unsafe extern "C" fn(*mut Integer),
    /// Integer, count, order, bytes of a digit, byte order, unused bits, digits.
    import: unsafe extern "C" fn(*mut Integer, usize, c_int, usize, c_int, usize, *const c_void),
    power: unsafe extern "C" fn(*mut Integer, *const Integer, *const Integer, *const Integer),
    multiply: unsafe extern "C" fn(*mut u64, *const u64, *const u64, isize),
    _library: Library,
}

fn functions() -> Result<&'static Functions, Missing> {
    static FUNCTIONS: OnceLock<Result<Functions, Missing>> = OnceLock::new();
    FUNCTIONS
        .get_or_init(|| load().map_err(|error| Missing { peer: NAME, reason: error.to_string(), package: PACKAGE }))
        .as_ref()
        .map_err(Clone::clone)
}

fn load() -> Result<Functions, libloading::Error> {
    // SAFETY: GMP has no initialisers. The types are those of gmp.h for a machine with digits of 64 bits (`mp_size_t` is
    // a long), and the library stays loaded as long as the pointers: both live in one static. `__gmp_version` is a
    // variable, a pointer to a string with static lifetime.
    unsafe {
        let library = Library::new(LIBRARY)?;
        let version: *const *const c_char = *library.get(b"__gmp_version")?;
        Ok(Functions {
            version: CStr::from_ptr(*version).to_string_lossy().into_owned(),
            init: *library.get(b"__gmpz_init")?,
            clear: *library.get(b"__gmpz_clear")?,
            import: *library.get(b"__gmpz_import")?,
            power: *library.get(b"__gmpz_powm_sec")?,
            multiply: *library.get(b"__gmpn_mul_n")?,
            _library: library,
        })
    }
}

/// Whether GMP is on this machine, and how to install it when not.
pub fn available() -> Result<(), Missing> {
    functions().map(|_| ())
}

/// The version of the loaded library; empty when there is none.
pub fn version() -> String {
    functions().map(|functions| functions.version.clone()).unwrap_or_default()
}

/// A number of GMP's own.
struct Number {
    functions: &'static Functions,
    raw: Integer,
}

impl Number {
    fn new(limbs: &[u64]) -> Result<Number, Missing> {
        let functions = functions()?;
        let mut number = Number { functions, raw: Integer { allocated: 0, size: 0, digits: ptr::null_mut() } };
        // SAFETY: initialised first; as many digits of 8 bytes in this machine's order are read as the slice has.
        unsafe {
            (functions.init)(&mut number.raw);
            (functions.import)(&mut number.raw, limbs.len(), -1, 8, 0, 0, limbs.as_ptr().cast());
        }
        Ok(number)
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: `new` initialised it, and it is freed once.
        unsafe { (self.functions.clear)(&mut self.raw) }
    }
}

/// One exponentiation, over and over: numbers of 64-bit digits, the lowest first.
pub struct Power {
    modulus: Number,
    base: Number,
    exponent: Number,
    result: Number,
}

impl Power {
    /// # Errors
    /// Where GMP is missing, or `mpz_powm_sec` does not take the numbers: an even modulus, an exponent of zero.
    pub fn new(modulus: &[u64], base: &[u64], exponent: &[u64]) -> Result<Power, Error> {
        if modulus.first().is_none_or(|digit| digit % 2 == 0) || exponent.iter().all(|digit| *digit == 0) {
            return Err(Error::Length);
        }
        Ok(Power {
            modulus: Number::new(modulus)?,
            base: Number::new(base)?,
            exponent: Number::new(exponent)?,
            result: Number::new(&[])?,
        })
    }

    /// `mpz_powm_sec`.
    pub fn run(&mut self) {
        // SAFETY: all are initialised, the modulus is odd and the exponent positive, as the function demands.
        unsafe {
            (self.modulus.functions.power)(&mut self.result.raw, &self.base.raw, &self.exponent.raw, &self.modulus.raw);
        }
    }

    /// What the last run found.
    pub fn result(&self, limbs: usize) -> Vec<u64> {
        // SAFETY: as many digits as the size says are initialised; the result is never negative.
        let digits = match self.result.raw.size {
            0 => &[],
            size => unsafe { std::slice::from_raw_parts(self.result.raw.digits, size as usize) },
        };
        let mut result = digits.to_vec();
        result.resize(limbs, 0);
        result
    }
}

/// `mpn_mul_n`: `product = a · b`.
///
/// # Errors
/// Where GMP is missing, or lengths do not fit: both factors have one, the product twice as many, none is zero.
pub fn multiply(a: &[u64], b: &[u64], product: &mut [u64]) -> Result<(), Error> {
    let functions = functions()?;
    if a.is_empty() || a.len() != b.len() || product.len() != 2 * a.len() {
        return Err(Error::Length);
    }
    // SAFETY: the lengths have been checked, and a mutable slice overlaps no other.
    unsafe { (functions.multiply)(product.as_mut_ptr(), a.as_ptr(), b.as_ptr(), a.len() as isize) };
    Ok(())
}
