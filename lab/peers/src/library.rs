//! Functions of libraries that are opened at run time.

/// Defines `Functions`, functions of a library with their types and symbols, and `functions`, which calls `load` of the calling module
/// once. The library has the given name as a field, which keeps it loaded and the functions valid.
macro_rules! functions {
    ($library:ident; $($(#[$attribute:meta])* $name:ident: $type:ty = $symbol:literal,)*) => {
        struct Functions {
            $($(#[$attribute])* $name: $type,)*
            $library: libloading::Library,
        }

        impl Functions {
            /// # Safety
            /// The library's initialisers must have no precondition, and the types must be those of its prototypes.
            unsafe fn open(file: &str) -> Result<Functions, Missing> {
                let found = || -> Result<Functions, libloading::Error> {
                    // SAFETY: the caller guarantees the initialisers and the types. The pointers stay valid because the library is in
                    // the same value.
                    unsafe {
                        let $library = libloading::Library::new(file)?;
                        Ok(Functions { $($name: *$library.get($symbol)?,)* $library })
                    }
                };
                found().map_err(|error| missing(error.to_string()))
            }
        }

        fn missing(reason: String) -> Missing {
            Missing { peer: NAME, reason, package: PACKAGE }
        }

        fn functions() -> Result<&'static Functions, Missing> {
            static FUNCTIONS: std::sync::OnceLock<Result<Functions, Missing>> = std::sync::OnceLock::new();
            FUNCTIONS.get_or_init(load).as_ref().map_err(Clone::clone)
        }
    };
}

pub(crate) use functions;
