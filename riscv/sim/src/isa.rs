//! Instruction sets that harts execute.

use crate::error::Error;
use crate::machine::invalid_field;

/// Width of the integer registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Xlen {
    /// RV32.
    Rv32,
    /// RV64.
    Rv64,
}

impl Xlen {
    /// The width in bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Xlen::Rv32 => 32,
            Xlen::Rv64 => 64,
        }
    }

    /// The valid bits of an address.
    #[must_use]
    pub const fn address_mask(self) -> u64 {
        match self {
            Xlen::Rv32 => 0xffff_ffff,
            Xlen::Rv64 => u64::MAX,
        }
    }
}

macro_rules! extensions {
    ($($field:ident $name:literal,)*) => {
        /// An instruction set: RV32I or RV64I with Zicsr, Zifencei and these extensions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub struct Isa {
            pub xlen: Xlen,
            $(pub $field: bool,)*
        }

        impl Isa {
            /// The names of the extensions.
            pub(crate) const NAMES: &[&str] = &[$($name),*];

            const fn with(xlen: Xlen, all: bool) -> Isa {
                Isa { xlen, $($field: all),* }
            }

            /// The extension of this name in lower case.
            fn extension(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $(stringify!($field) => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

extensions! {
    m "M", a "A", f "F", d "D", c "C",
    zba "Zba", zbb "Zbb", zbs "Zbs", zbkb "Zbkb", zbc "Zbc", zbkc "Zbkc", zbkx "Zbkx",
    zicond "Zicond", zcb "Zcb", zicbom "Zicbom", zicboz "Zicboz",
    zkne "Zkne", zknd "Zknd", zknh "Zknh",
}

impl Isa {
    /// All extensions that the simulator supports.
    #[must_use]
    pub const fn full(xlen: Xlen) -> Isa {
        Isa::with(xlen, true)
    }

    /// Parses a name such as `rv32imac` or `rv64imafdc_zba_zbb_zbs_zbkb`.
    pub(crate) fn parse(name: &str) -> Result<Isa, Error> {
        let xlen = match name.get(..4).map(str::to_ascii_lowercase).as_deref() {
            Some("rv32") => Xlen::Rv32,
            Some("rv64") => Xlen::Rv64,
            _ => return Err(invalid_field("isa", format_args!("{name:?} does not begin with rv32 or rv64"))),
        };
        let mut isa = Isa::with(xlen, false);
        let lower = name[4..].to_ascii_lowercase();
        let letters = lower.split('_').next().unwrap_or_default();
        let names = letters.char_indices().map(|(at, letter)| &letters[at..at + letter.len_utf8()]);
        for name in names.chain(lower.split('_').skip(1)) {
            if !isa.add(name) {
                return Err(invalid_field("isa", format_args!("unknown extension {name:?}")));
            }
        }
        for (is_there, needs, text) in
            [(isa.d, isa.f, "extension D requires F"), (isa.zcb, isa.c, "extension Zcb requires C")]
        {
            if is_there && !needs {
                return Err(invalid_field("isa", text));
            }
        }
        Ok(isa)
    }

    /// Adds an extension, by its name in lower case. Returns false if the simulator does not support it.
    pub(crate) fn add(&mut self, name: &str) -> bool {
        match name {
            "i" | "zicsr" | "zifencei" => {}
            "g" => (self.m, self.a, self.f, self.d) = (true, true, true, true),
            "b" => (self.zba, self.zbb, self.zbs) = (true, true, true),
            "zkn" => {
                (self.zbkb, self.zbkc, self.zbkx) = (true, true, true);
                (self.zkne, self.zknd, self.zknh) = (true, true, true);
            }
            _ => match self.extension(name) {
                Some(extension) => *extension = true,
                None => return false,
            },
        }
        true
    }

    /// Whether it has this width or extension, by its name in lower case.
    pub(crate) fn has(mut self, name: &str) -> bool {
        match name {
            "rv32" => self.xlen == Xlen::Rv32,
            "rv64" => self.xlen == Xlen::Rv64,
            _ => self.extension(name).is_some_and(|extension| *extension),
        }
    }

    /// Whether harts can execute what a compiler makes for an extension, given by its name in lower case.
    pub(crate) fn runs(&self, name: &str) -> bool {
        match name {
            "e" => true,
            "zmmul" => self.m,
            "zaamo" | "zalrsc" => self.a,
            "zca" => self.c,
            "zcf" => self.c && self.f,
            "zcd" => self.c && self.d,
            // These add no instruction but hints and counters.
            "zicbop" | "zicfilp" | "zicntr" | "zihpm" | "zihintpause" | "zihintntl" | "zkt" | "ztso" => true,
            "za64rs" | "za128rs" | "zama16b" | "zic64b" | "ziccamoa" | "ziccif" | "zicclsm" | "ziccrse" => true,
            // Registers of privileged modes.
            _ if name.starts_with('s') => true,
            _ => {
                let mut more = *self;
                more.add(name) && more == *self
            }
        }
    }

    /// The value of `misa`: the width and a bit for each letter.
    #[must_use]
    pub(crate) fn misa(&self) -> u64 {
        let letters =
            [('a', self.a), ('c', self.c), ('d', self.d), ('f', self.f), ('i', true), ('m', self.m), ('u', true)]
                .into_iter()
                .chain([('b', self.zba && self.zbb && self.zbs)])
                .fold(0, |letters, (letter, there)| letters | u64::from(there) << (letter as u8 - b'a'));
        match self.xlen {
            // Registers of RV32 are kept sign-extended.
            Xlen::Rv32 => letters | 1 << 30,
            Xlen::Rv64 => letters | 2 << 62,
        }
    }
}
