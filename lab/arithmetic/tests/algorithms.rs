//! Every algorithm at every digit size, compared with an independent library; and the inputs that it must reject.

/// Makes a test for each digit size.
macro_rules! for_all_digits {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn u16() {
                super::$name::<u16>();
            }

            #[test]
            fn u32() {
                super::$name::<u32>();
            }

            #[test]
            fn u64() {
                super::$name::<u64>();
            }
        }
    )*};
}

mod powers;
mod products;
mod properties;
mod refusals;
mod remainders;
mod rings;
