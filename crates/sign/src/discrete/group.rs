//! Groups of prime order q in the integers modulo a prime p, for DSA and Schnorr signatures (FIPS 186-4, 4.1).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tress_lanes::fork::{Inherited, PerProcess};
use tress_modular::Modulus;
use tress_modular::lanes::Comb;
use tress_modular::prime::{self, PrimeError};

use crate::Error;
use crate::integer::{self, Number};
use crate::random;

/// Rounds of the primality test for numbers from an untrusted source: a composite number passes with a probability below 2^−64.
const PRIME_ROUNDS: usize = 32;

/// Number of powers from which on a table for them is worth its cost, which is that of a few powers.
const COMB_POWERS: usize = 8;

/// Largest number of groups, besides the published ones, that live keys share.
const MAX_KNOWN: usize = 64;

/// The parameters p, q and g. Cloning is cheap.
#[derive(Clone)]
pub struct Group(Arc<GroupData>);

struct GroupData {
    p: Modulus,
    q: Modulus,
    g: Number,
    /// The table for powers of g, made when many are needed.
    comb: Inherited<Comb>,
    /// Set once p and q were found to be primes.
    primes_checked: AtomicBool,
}

/// Lengths of p and q.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupSize {
    /// 2048 and 256 bits: about as secure as RSA with 2048 bits.
    Bits2048,
    /// 3072 and 256 bits: about as secure as AES-128.
    Bits3072,
}

impl Group {
    /// A published group, which anyone can generate again from its seed (`docs/explanation/signatures.md`).
    #[must_use]
    pub fn published(size: GroupSize) -> &'static Group {
        static BITS_2048: Inherited<Group> = Inherited::new();
        static BITS_3072: Inherited<Group> = Inherited::new();
        let (group, numbers) = match size {
            GroupSize::Bits2048 => (&BITS_2048, include_str!("group-2048.txt")),
            GroupSize::Bits3072 => (&BITS_3072, include_str!("group-3072.txt")),
        };
        group.get_or(|| Group::of(numbers))
    }

    /// Reads lines like `p = 0123cdef`.
    fn of(numbers: &str) -> Group {
        let [p, q, g] = ["p = ", "q = ", "g = "].map(|name| {
            let digits = numbers.lines().find_map(|line| line.strip_prefix(name)).expect("a line for each number");
            base16ct::mixed::decode_vec(digits).expect("hexadecimal")
        });
        let group = Group::new(&p, &q, &g).expect("a published group");
        group.0.primes_checked.store(true, Ordering::Relaxed);
        group
    }

    /// Makes a group from big-endian numbers.
    ///
    /// # Errors
    /// `GroupSize` unless p and q have 2048 and 224, 2048 and 256, or 3072 and 256 bits; `WrongGroup` unless q divides p − 1 and g has
    /// order q. Does not check that p and q are primes.
    pub fn new(p: &[u8], q: &[u8], g: &[u8]) -> Result<Group, Error> {
        // 385 bytes are the longest p with a leading zero.
        if [p, q, g].iter().any(|number| number.len() > 385) {
            return Err(Error::GroupSize);
        }
        let [p, q, g] = [p, q, g].map(integer::from_bytes);
        if !matches!((integer::bits(&p), integer::bits(&q)), (2048, 224 | 256) | (3072, 256)) {
            return Err(Error::GroupSize);
        }
        // Fails for even numbers.
        let p = Modulus::new(&p).map_err(|_| Error::WrongGroup)?;
        let q = Modulus::new(&q).map_err(|_| Error::WrongGroup)?;
        let divides = integer::is_zero(&integer::remainder(&integer::less_one(p.as_limbs()), q.as_limbs()));
        let is_small = integer::is_less(&g, &[2]) || !integer::is_less(&g, p.as_limbs());
        if !divides || is_small || !integer::is_equal(&p.power_vartime(&g, q.as_limbs()), &[1]) {
            return Err(Error::WrongGroup);
        }
        let g = integer::padded(&g[..g.len().min(p.limbs())], p.limbs());
        Ok(Group(Arc::new(GroupData { p, q, g, comb: Inherited::new(), primes_checked: AtomicBool::new(false) })))
    }

    /// Checks that p and q are primes. A signature with a private key whose q is composite could reveal the key.
    pub(super) fn check_primes(&self) -> Result<(), Error> {
        if self.0.primes_checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        for number in [self.q(), self.p()] {
            match prime::is_probable_prime(number.as_limbs(), PRIME_ROUNDS, &mut |bytes: &mut [u8]| random::fill(bytes))
            {
                Ok(true) => {}
                Err(PrimeError::Random(error)) => return Err(error),
                _ => return Err(Error::WrongGroup),
            }
        }
        self.0.primes_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn published_ones() -> impl Iterator<Item = &'static Group> {
        [GroupSize::Bits2048, GroupSize::Bits3072].into_iter().map(Group::published)
    }

    pub(crate) fn p(&self) -> &Modulus {
        &self.0.p
    }

    pub(crate) fn q(&self) -> &Modulus {
        &self.0.q
    }

    pub(crate) fn g(&self) -> &[u64] {
        &self.0.g
    }

    /// The table for powers of g, if it exists or if this many powers justify making it.
    pub(super) fn comb(&self, powers: impl FnOnce() -> usize) -> Option<&Comb> {
        if self.0.comb.get().is_none() && powers() < COMB_POWERS {
            return None;
        }
        Some(self.0.comb.get_or(|| Comb::new(self.p(), self.g(), self.q().bits())))
    }

    /// Whether this is the same group in memory, not only an equal one.
    pub(crate) fn is_same_instance(&self, other: &Group) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the equal published group, or the equal group of another live key, if there is one: all keys share the tables and checks of
    /// a group.
    pub(super) fn shared(self) -> Group {
        // A forked process begins without groups: its parent may have held the lock.
        static KNOWN: PerProcess<Mutex<Vec<Weak<GroupData>>>> = PerProcess::new();
        if let Some(group) = Self::published_ones().find(|group| **group == self) {
            return group.clone();
        }
        let mut known = KNOWN.get_or(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|group| group.strong_count() > 0);
        if let Some(group) = known.iter().filter_map(Weak::upgrade).map(Group).find(|group| *group == self) {
            return group;
        }
        if known.len() < MAX_KNOWN {
            known.push(Arc::downgrade(&self.0));
        }
        self
    }

    /// Length of p in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.p().bits()
    }

    /// Length of a number below p in bytes.
    pub(crate) fn element_bytes(&self) -> usize {
        self.p().bits().div_ceil(8)
    }

    /// Length of a number below q in bytes.
    pub(crate) fn scalar_bytes(&self) -> usize {
        self.q().bits().div_ceil(8)
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.p().as_limbs() == other.p().as_limbs()
            && self.q().as_limbs() == other.q().as_limbs()
            && self.g() == other.g()
    }
}

impl Eq for Group {}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "group of {} and {} bits", self.bits(), self.q().bits())
    }
}
