//! Every algorithm at every digit size, against an independent library and against what it has to refuse.

mod common;

/// A test for each digit size.
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

#[path = "algorithms/counts.rs"]
mod counts;
#[path = "algorithms/powers.rs"]
mod powers;
#[path = "algorithms/products.rs"]
mod products;
#[path = "algorithms/properties.rs"]
mod properties;
#[path = "algorithms/refusals.rs"]
mod refusals;
#[path = "algorithms/remainders.rs"]
mod remainders;
#[path = "algorithms/rings.rs"]
mod rings;
