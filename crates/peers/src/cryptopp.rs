//! RC6 of Crypto++, through a small library that the build makes of `cryptopp.cc` where Crypto++'s headers are.

use std::sync::OnceLock;

use libloading::Library;

use crate::{Direction, Error, Missing};

/// The name that `tress bench --against` takes.
pub const NAME: &str = "crypto++";

type Version = unsafe extern "C" fn() -> i32;
type Rc6 = unsafe extern "C" fn(i32, i32, *const u8, usize, *const u8, *mut u8, usize) -> i32;

struct Functions {
    version: Version,
    rc6: Rc6,
    /// Keeps the functions where they are.
    _library: Library,
}

/// Where the build put the library; empty if it could not make it.
const PATH: &str = env!("TRESS_PEERS_CRYPTOPP");

fn functions() -> Result<&'static Functions, Missing> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    let opened = FUNCTIONS.get_or_init(|| {
        if PATH.is_empty() {
            return Err("its headers were not there when this was built".into());
        }
        // SAFETY: the library is ours and Crypto++'s; neither does more when it is opened than set up its own data.
        let library = unsafe { Library::new(PATH) }.map_err(|error| error.to_string())?;
        // SAFETY: the signatures are those of `cryptopp.cc`; the functions live as long as the library beside them.
        unsafe {
            let version = *library.get::<Version>(b"tress_cryptopp_version\0").map_err(|error| error.to_string())?;
            let rc6 = *library.get::<Rc6>(b"tress_cryptopp_rc6\0").map_err(|error| error.to_string())?;
            Ok(Functions { version, rc6, _library: library })
        }
    });
    opened.as_ref().map_err(|reason| Missing {
        peer: NAME,
        reason: reason.clone(),
        package: "libcrypto++-dev, and a C++ compiler, before the build",
    })
}

/// Whether it is there.
pub fn available() -> Result<(), Missing> {
    functions().map(drop)
}

/// Its version, such as `8.7.0`.
pub fn version() -> String {
    match functions() {
        Ok(functions) => {
            // SAFETY: takes nothing and returns a number.
            let number = unsafe { (functions.version)() };
            format!("{}.{}.{}", number / 100, number / 10 % 10, number % 10)
        }
        Err(_) => "missing".into(),
    }
}

/// A mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Electronic codebook.
    Ecb,
    /// Cipher block chaining.
    Cbc,
    /// Counter; the whole block counts.
    Ctr,
}

/// RC6-32/20, in place; whole blocks in ECB and CBC. The key is expanded anew in each call.
pub fn rc6(mode: Mode, direction: Direction, key: &[u8], iv: &[u8; 16], data: &mut [u8]) -> Result<(), Error> {
    if mode != Mode::Ctr && !data.len().is_multiple_of(16) {
        return Err(Error::Length);
    }
    let functions = functions()?;
    let decrypts = i32::from(direction == Direction::Decrypt);
    let (key, key_bytes, bytes) = (key.as_ptr(), key.len(), data.len());
    // SAFETY: pointers and lengths belong together, and the data is whole blocks where it has to be.
    let refused =
        unsafe { (functions.rc6)(mode as i32, decrypts, key, key_bytes, iv.as_ptr(), data.as_mut_ptr(), bytes) };
    if refused == 0 { Ok(()) } else { Err(Error::Refused("RC6")) }
}
