//! RC6 of Crypto++, through a small library that the build compiles from `cryptopp.cc` if Crypto++'s headers are installed.

use std::{ffi::c_void, ptr, sync::OnceLock};

use libloading::Library;

use crate::{Direction, Error, Missing, Mode};

/// The name in `tress bench --against`.
pub const NAME: &str = "crypto++";

type Version = unsafe extern "C" fn() -> i32;
type New = unsafe extern "C" fn(i32, i32, *const u8, usize, *const u8) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Apply = unsafe extern "C" fn(*mut c_void, *const u8, *mut u8, usize) -> i32;

struct Functions {
    version: Version,
    new: New,
    free: Free,
    apply: Apply,
    /// Keeps the library loaded, and the functions valid.
    _library: Library,
}

/// Path of the library; empty if the build could not compile it.
const PATH: &str = env!("TRESS_PEERS_CRYPTOPP");

fn functions() -> Result<&'static Functions, Missing> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    let opened = FUNCTIONS.get_or_init(|| {
        if PATH.is_empty() {
            return Err("this program was built without its headers".into());
        }
        // SAFETY: the initialisers of this library and of Crypto++ only set up their own data, and have no precondition.
        let library = unsafe { Library::new(PATH) }.map_err(|error| error.to_string())?;
        // SAFETY: the signatures are those in `cryptopp.cc`. The pointers stay valid because `Functions` keeps the
        // library loaded.
        let found = || unsafe {
            let version = *library.get::<Version>(b"tress_cryptopp_version\0")?;
            let new = *library.get::<New>(b"tress_cryptopp_rc6\0")?;
            let free = *library.get::<Free>(b"tress_cryptopp_free\0")?;
            let apply = *library.get::<Apply>(b"tress_cryptopp_apply\0")?;
            Ok((version, new, free, apply))
        };
        let (version, new, free, apply) = found().map_err(|error: libloading::Error| error.to_string())?;
        Ok(Functions { version, new, free, apply, _library: library })
    });
    opened.as_ref().map_err(|reason| Missing {
        peer: NAME,
        reason: reason.clone(),
        package: "libcrypto++-dev, and a C++ compiler, before the build",
    })
}

/// The version, such as `8.7.0`, or how to install Crypto++.
pub fn version() -> Result<String, Missing> {
    let functions = functions()?;
    // SAFETY: the function takes no argument and returns a number.
    let number = unsafe { (functions.version)() };
    Ok(format!("{}.{}.{}", number / 100, number / 10 % 10, number % 10))
}

/// RC6-32/20 under one key.
pub struct Rc6 {
    functions: &'static Functions,
    cipher: *mut c_void,
    mode: Mode,
}

impl Drop for Rc6 {
    fn drop(&mut self) {
        // SAFETY: the cipher came from `new` and is freed once.
        unsafe { (self.functions.free)(self.cipher) }
    }
}

impl Rc6 {
    /// Sets a key.
    pub fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Rc6, Error> {
        let functions = functions()?;
        let mode_number = match mode {
            Mode::Ecb => 0,
            Mode::Cbc => 1,
            Mode::Ctr => 2,
            Mode::Ccm => return Err(Error::Refused("RC6")),
        };
        let decrypts = i32::from(direction == Direction::Decrypt);
        // SAFETY: the pointer to the key is valid for `key.len()` bytes, and the initialisation vector has 16 bytes, one block.
        let cipher = unsafe { (functions.new)(mode_number, decrypts, key.as_ptr(), key.len(), [0; 16].as_ptr()) };
        if cipher.is_null() { Err(Error::Refused("RC6")) } else { Ok(Rc6 { functions, cipher, mode }) }
    }

    /// Encrypts or decrypts one message in place. `iv` is not used in ECB. In ECB and CBC, `data` must be whole blocks.
    pub fn apply(&mut self, iv: &[u8; 16], data: &mut [u8]) -> Result<(), Error> {
        if self.mode != Mode::Ctr && !data.len().is_multiple_of(16) {
            return Err(Error::Length);
        }
        let iv = if self.mode == Mode::Ecb { ptr::null() } else { iv.as_ptr() };
        // SAFETY: the cipher is live. The pointer is valid for `data.len()` bytes, which are whole blocks in ECB and CBC.
        let refused = unsafe { (self.functions.apply)(self.cipher, iv, data.as_mut_ptr(), data.len()) };
        if refused == 0 { Ok(()) } else { Err(Error::Refused("RC6")) }
    }
}
