//! Planted leaks, and code without a leak, which the interpreter must distinguish: how a test defines and checks them.

use crate::{Image, Interpreter, Leak, Level, Reason};

/// Defines functions that take a pointer to 64 secret bytes, with an attribute that all of them have, and the expected leak of each. The
/// function `all` returns them.
#[macro_export]
macro_rules! planted {
    ($shared:tt $pointer:ty; $($(#[$doc:meta])* fn $name:ident($data:ident) -> $found:expr; $body:block)*) => {
        $(
            $(#[$doc])*
            #$shared
            unsafe extern "sysv64" fn $name($data: $pointer) -> u64 {
                // SAFETY: only the interpreter calls this function, with a pointer to 64 bytes.
                unsafe { $body }
            }
        )*

        /// Name, address and expected leak.
        pub(crate) fn all() -> Vec<(&'static str, u64, Option<Leak>)> {
            vec![$((stringify!($name), $name as *const () as u64, $found)),*]
        }
    };
}

/// Checks that the interpreter finds the expected leak of each function, and none of them where the bytes are public.
pub fn check_planted(all: &[(&str, u64, Option<Leak>)]) {
    let image = Image::of_this_process();
    let secret = Box::new([0x0505_0505_0505_0505u64; 8]);
    let address = secret.as_ptr().addr() as u64;
    for &(name, function, expected) in all {
        let mut machine = Interpreter::new(&image);
        machine.memory.set_level(address, size_of_val(&*secret), Level::Secret).expect("readable");
        let found = machine.call(function, &[address]).err();
        println!("{name}: {}", found.as_ref().map_or("clean".to_owned(), |stop| stop.location.clone()));
        assert_eq!(found.map(|stop| stop.reason), expected.map(Reason::Leak), "{name}");
        let mut machine = Interpreter::new(&image);
        if let Err(stop) = machine.call(function, &[address]) {
            println!("{name} on public bytes: {:?}", stop.reason);
            assert!(matches!(stop.reason, Reason::Undecided(_)), "{name} on public bytes: {:?}", stop.reason);
        }
    }
}
