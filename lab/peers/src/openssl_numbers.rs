//! OpenSSL 3: the exponentiation for secrets of its big numbers, opened at run time.

use std::{
    ffi::{c_int, c_void},
    sync::OnceLock,
};

use libloading::Library;

use crate::{Error, Missing, openssl};

struct Functions {
    context_new: unsafe extern "C" fn() -> *mut c_void,
    context_free: unsafe extern "C" fn(*mut c_void),
    number_new: unsafe extern "C" fn() -> *mut c_void,
    number_free: unsafe extern "C" fn(*mut c_void),
    read: unsafe extern "C" fn(*const u8, c_int, *mut c_void) -> *mut c_void,
    write: unsafe extern "C" fn(*const c_void, *mut u8, c_int) -> c_int,
    montgomery_new: unsafe extern "C" fn() -> *mut c_void,
    montgomery_free: unsafe extern "C" fn(*mut c_void),
    montgomery_set: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void) -> c_int,
    /// Result, base, exponent, modulus, context, Montgomery context.
    power: unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        *const c_void,
        *const c_void,
        *mut c_void,
        *mut c_void,
    ) -> c_int,
}

fn functions() -> Result<&'static Functions, Missing> {
    static FUNCTIONS: OnceLock<Result<Functions, Missing>> = OnceLock::new();
    openssl::functions_of(&FUNCTIONS, load)
}

fn load(library: &'static Library) -> Result<Functions, libloading::Error> {
    // SAFETY: the types are those of the prototypes in bn.h.
    unsafe {
        Ok(Functions {
            context_new: *library.get(b"BN_CTX_new")?,
            context_free: *library.get(b"BN_CTX_free")?,
            number_new: *library.get(b"BN_new")?,
            number_free: *library.get(b"BN_clear_free")?,
            read: *library.get(b"BN_lebin2bn")?,
            write: *library.get(b"BN_bn2lebinpad")?,
            montgomery_new: *library.get(b"BN_MONT_CTX_new")?,
            montgomery_free: *library.get(b"BN_MONT_CTX_free")?,
            montgomery_set: *library.get(b"BN_MONT_CTX_set")?,
            power: *library.get(b"BN_mod_exp_mont_consttime")?,
        })
    }
}

/// One exponentiation, over and over: numbers of 64-bit digits, the lowest first.
pub struct Power {
    functions: &'static Functions,
    context: *mut c_void,
    montgomery: *mut c_void,
    /// Modulus, base, exponent, result.
    numbers: [*mut c_void; 4],
}

impl Power {
    /// The Montgomery context is set once, as for the primes of a key.
    ///
    /// # Errors
    /// Where libcrypto is missing or refuses the numbers.
    pub fn new(modulus: &[u64], base: &[u64], exponent: &[u64]) -> Result<Power, Error> {
        let functions = functions()?;
        // SAFETY: these take nothing.
        let mut power = unsafe {
            Power {
                functions,
                context: (functions.context_new)(),
                montgomery: (functions.montgomery_new)(),
                numbers: [(); 4].map(|()| (functions.number_new)()),
            }
        };
        if power.context.is_null() || power.montgomery.is_null() || power.numbers.iter().any(|number| number.is_null())
        {
            return Err(Error::Refused("BN_new"));
        }
        for (number, limbs) in power.numbers.iter_mut().zip([modulus, base, exponent]) {
            let bytes: Vec<u8> = limbs.iter().flat_map(|digit| digit.to_le_bytes()).collect();
            let length = c_int::try_from(bytes.len()).map_err(|_| Error::Length)?;
            // SAFETY: as many bytes are read as there are; the number is live.
            if unsafe { (functions.read)(bytes.as_ptr(), length, *number) }.is_null() {
                return Err(Error::Refused("BN_lebin2bn"));
            }
        }
        // SAFETY: all are live.
        match unsafe { (functions.montgomery_set)(power.montgomery, power.numbers[0], power.context) } {
            1 => Ok(power),
            _ => Err(Error::Refused("BN_MONT_CTX_set")),
        }
    }

    /// `BN_mod_exp_mont_consttime`.
    pub fn run(&mut self) -> Result<(), Error> {
        let [modulus, base, exponent, result] = self.numbers;
        // SAFETY: all are live, and the Montgomery context is of this modulus.
        match unsafe { (self.functions.power)(result, base, exponent, modulus, self.context, self.montgomery) } {
            1 => Ok(()),
            _ => Err(Error::Refused("BN_mod_exp_mont_consttime")),
        }
    }

    /// What the last run found.
    pub fn result(&self, limbs: usize) -> Result<Vec<u64>, Error> {
        let mut bytes = vec![0; 8 * limbs];
        // SAFETY: the number is live, and as many bytes are written as there is room for.
        if unsafe { (self.functions.write)(self.numbers[3], bytes.as_mut_ptr(), 8 * limbs as c_int) } < 0 {
            return Err(Error::Length);
        }
        Ok(bytes.as_chunks::<8>().0.iter().map(|digit| u64::from_le_bytes(*digit)).collect())
    }
}

impl Drop for Power {
    fn drop(&mut self) {
        // SAFETY: each came from its own constructor or is null, which these take, and is freed once.
        unsafe {
            self.numbers.iter().for_each(|number| (self.functions.number_free)(*number));
            (self.functions.montgomery_free)(self.montgomery);
            (self.functions.context_free)(self.context);
        }
    }
}
