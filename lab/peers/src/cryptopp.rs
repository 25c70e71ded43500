//! RC6 of Crypto++, through a small library that the build compiles from `cryptopp.cc` if Crypto++'s headers are installed.

use std::ffi::c_void;
use std::ptr;

use crate::library::functions;
use crate::{Direction, Error, Missing, Mode, PeerCipher};

pub const NAME: &str = "crypto++";

const PACKAGE: &str = "libcrypto++-dev, and a C++ compiler, before the build";

functions! {
    _library;
    version: unsafe extern "C" fn() -> i32 = b"tress_cryptopp_version",
    new: unsafe extern "C" fn(i32, i32, *const u8, usize, *const u8) -> *mut c_void = b"tress_cryptopp_rc6",
    free: unsafe extern "C" fn(*mut c_void) = b"tress_cryptopp_free",
    apply: unsafe extern "C" fn(*mut c_void, *const u8, *mut u8, usize) -> i32 = b"tress_cryptopp_apply",
}

/// Path of the library; empty if the build could not compile it.
const PATH: &str = env!("TRESS_PEERS_CRYPTOPP");

fn load() -> Result<Functions, Missing> {
    if PATH.is_empty() {
        return Err(missing("this program was built without its headers".into()));
    }
    // SAFETY: the initialisers of this library and of Crypto++ only set up their own data, and have no precondition. The types are those
    // in `cryptopp.cc`.
    unsafe { Functions::open(PATH) }
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

impl PeerCipher for Rc6 {
    fn new(mode: Mode, direction: Direction, key: &[u8]) -> Result<Rc6, Error> {
        let functions = functions()?;
        let mode_number = match mode {
            Mode::Ecb => 0,
            Mode::Cbc => 1,
            Mode::Ctr => 2,
            Mode::Ccm | Mode::Gcm => return Err(Error::Refused("RC6")),
        };
        let decrypts = i32::from(direction == Direction::Decrypt);
        // SAFETY: the pointer to the key is valid for `key.len()` bytes, and the initialisation vector has 16 bytes, one block.
        let cipher = unsafe { (functions.new)(mode_number, decrypts, key.as_ptr(), key.len(), [0; 16].as_ptr()) };
        if cipher.is_null() { Err(Error::Refused("RC6")) } else { Ok(Rc6 { functions, cipher, mode }) }
    }

    fn apply(&mut self, iv: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        self.mode.check(iv, data.len(), tag.len())?;
        let iv = if self.mode == Mode::Ecb { ptr::null() } else { iv.as_ptr() };
        // SAFETY: the cipher is live. The pointer is valid for `data.len()` bytes, which are whole blocks in ECB and CBC.
        let refused = unsafe { (self.functions.apply)(self.cipher, iv, data.as_mut_ptr(), data.len()) };
        if refused == 0 { Ok(()) } else { Err(Error::Refused("RC6")) }
    }
}
