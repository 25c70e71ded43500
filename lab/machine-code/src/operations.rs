//! The instructions on vectors and masks that have a model, as a table: what each of them does. The compiler keeps
//! pointers and lengths of several lanes in vectors; ciphers need no models, only levels.

use std::sync::OnceLock;

use iced_x86::Mnemonic::{self, *};

use VectorOperation as V;

use crate::machine::Vector;
use crate::memory::Level;

/// What an instruction does. The sources are `b` if there is one, `a` and `b`, or `c`, `a` and `b`.
#[derive(Clone, Copy)]
pub(super) enum VectorOperation {
    Move,
    /// The elements of `b` that the mask selects, and of `a`.
    Blend,
    /// A function of an element of `a`, the element of `b` at its place, and their length in bits. A mask as the result
    /// has a bit for each element that is not zero.
    Elements(fn(u64, u64, u64) -> u64),
    /// The same, with one count for all elements in place of `b`.
    Shift(fn(u64, u64, u64) -> u64),
    /// The byte at each place of the result.
    Bytes(fn(&Operands, usize) -> Byte),
    /// A comparison into a mask, with a predicate as immediate.
    Compare {
        is_signed: bool,
    },
    /// The highest bit of each element; its length in bytes.
    SignBits(usize),
    /// A function of two masks, or of a mask and an immediate, and their length in bits.
    Mask(fn(u64, u64, u64) -> u64),
    /// The mask that sets the zero flag if it is zero, and the same for the carry flag.
    MaskFlags(fn(u64, u64) -> [u64; 2]),
}

/// A byte of a vector.
pub(super) type Byte = (u8, Level);

const ZERO: Byte = (0, Level::Public);

/// The operands of an instruction, whose sizes are in bytes.
pub(super) struct Operands {
    pub(super) a: Vector,
    pub(super) b: Vector,
    pub(super) c: Vector,
    pub(super) immediate: Option<u8>,
    /// A bit for each element that the mask selects.
    pub(super) chosen: u64,
    /// Size of the result.
    pub(super) size: usize,
    /// Size of `b`, and whether it is in memory.
    pub(super) source: (usize, bool),
    /// Size of an element.
    pub(super) unit: usize,
    /// The level of a byte from a place that is not public.
    pub(super) unknown: Level,
}

impl Operands {
    fn immediate(&self) -> usize {
        usize::from(self.immediate.unwrap_or_default())
    }

    /// The byte that `find` finds by the element of `order` at a place.
    fn find(&self, order: &Vector, place: usize, unit: usize, find: impl Fn(usize) -> Byte) -> Byte {
        match order.level_of(place / unit, unit) {
            Level::Public => find(order.number(place / unit, unit) as usize),
            _ => (0, self.unknown),
        }
    }

    /// One of the 16 bytes in which a place is, or zero.
    fn near(&self, from: &Vector, place: usize, at: Option<usize>) -> Byte {
        at.filter(|at| *at < 16).map_or(ZERO, |at| from.byte(place / 16 * 16 + at))
    }

    /// Elements of both sources alternately, from the first or the second half of each 16 bytes.
    fn interleave(&self, i: usize, unit: usize, half: usize) -> Byte {
        let from = if (i / unit).is_multiple_of(2) { &self.a } else { &self.b };
        self.near(from, i, Some(half + i % 16 / (2 * unit) * unit + i % unit))
    }

    /// Elements narrowed to half of their length, with saturation.
    fn pack(&self, i: usize, unit: usize, is_signed: bool) -> Byte {
        let from = if i % 16 < 8 { &self.a } else { &self.b };
        let (element, bits) = (i / 16 * 16 / unit + i % 8 / (unit / 2), 4 * unit as u32);
        let (least, most) = if is_signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let narrow = signed(from.number(element, unit), 2 * u64::from(bits)).clamp(least, most);
        ((narrow >> (8 * (i % (unit / 2)))) as u8, from.level_of(element, unit))
    }

    /// Elements narrowed without saturation.
    fn narrow(&self, i: usize, wide: usize, narrow: usize) -> Byte {
        self.b.byte(i / narrow * wide + i % narrow)
    }

    /// Elements made longer.
    fn extend(&self, i: usize, narrow: usize, wide: usize, is_signed: bool) -> Byte {
        let element = i / wide * narrow;
        let (top, level) = self.b.byte(element + narrow - 1);
        match i % wide {
            at if at < narrow => self.b.byte(element + at),
            _ if is_signed => (if top >> 7 == 1 { 0xff } else { 0 }, level),
            _ => ZERO,
        }
    }

    /// The place from which two bits of the immediate take an element, among four.
    fn shuffle(&self, i: usize, unit: usize) -> usize {
        let four = 4 * unit;
        i / four * four + (self.immediate() >> (i / unit % 4 * 2) & 3) * unit + i % unit
    }

    /// Elements of two vectors, in an order.
    fn permute_two(&self, i: usize, order: &Vector, first: &Vector) -> Byte {
        self.find(order, i, self.unit, |element| {
            let at = element % (2 * self.size / self.unit) * self.unit + i % self.unit;
            if at < self.size { first.byte(at) } else { self.b.byte(at - self.size) }
        })
    }

    fn insert(&self, i: usize, part: usize) -> Byte {
        let start = self.immediate() % (self.size / part) * part;
        if (start..start + part).contains(&i) { self.b.byte(i - start) } else { self.a.byte(i) }
    }

    fn extract(&self, i: usize, part: usize) -> Byte {
        if i < part { self.b.byte(self.immediate() % (self.source.0 / part) * part + i) } else { ZERO }
    }

    /// A table of results by three bits, for each bit.
    fn ternary(&self, i: usize) -> Byte {
        let [c, a, b] = [&self.c, &self.a, &self.b].map(|source| source.byte(i));
        let table = self.immediate();
        let chosen = |index: usize, bit: usize, byte: u8| if index >> bit & 1 == 1 { byte } else { !byte };
        let value = (0..8).filter(|index| table >> index & 1 == 1);
        let value = value.map(|index| chosen(index, 2, c.0) & chosen(index, 1, a.0) & chosen(index, 0, b.0));
        (
            value.fold(0, |all, byte| all | byte),
            if matches!(table, 0 | 0xff) { Level::Public } else { c.1.max(a.1).max(b.1) },
        )
    }
}

/// A number of `bits` bits, with its sign.
fn signed(element: u64, bits: u64) -> i64 {
    (element << (64 - bits)) as i64 >> (64 - bits)
}

fn left(element: u64, count: u64, bits: u64) -> u64 {
    if count < bits { element << count } else { 0 }
}

fn right(element: u64, count: u64, bits: u64) -> u64 {
    if count < bits { element >> count } else { 0 }
}

fn rotate(element: u64, count: u64, bits: u64) -> u64 {
    left(element, count % bits, bits) | right(element, bits - count % bits, bits)
}

/// Whether the predicate of a comparison holds.
pub(super) fn holds(predicate: u8, is_signed: bool, [a, b]: [u64; 2], bits: u64) -> bool {
    let order = if is_signed { signed(a, bits).cmp(&signed(b, bits)) } else { a.cmp(&b) };
    let holds = match predicate & 3 {
        0 => order.is_eq(),
        1 => order.is_lt(),
        2 => order.is_le(),
        _ => false,
    };
    holds != (predicate & 4 != 0)
}

fn all_if(holds: bool) -> u64 {
    if holds { u64::MAX } else { 0 }
}

#[rustfmt::skip]
const OPERATIONS: &[(VectorOperation, &[Mnemonic])] = &[
    (V::Move, &[
        Movups, Movupd, Movaps, Movapd, Movdqa, Movdqu, Lddqu, Movntdq, Movntps,
        Vmovups, Vmovupd, Vmovaps, Vmovapd, Vmovdqa, Vmovdqu, Vlddqu, Vmovntdq, Vmovntps,
        Vmovdqa32, Vmovdqa64, Vmovdqu8, Vmovdqu16, Vmovdqu32, Vmovdqu64,
    ]),
    (V::Blend, &[Vpblendmq, Vpblendmd]),
    (V::Elements(|a, b, _| a ^ b), &[Pxor, Xorps, Xorpd, Vpxor, Vpxord, Vpxorq, Vxorps, Vxorpd]),
    (V::Elements(|a, b, _| a & b), &[
        Pand, Andps, Andpd, Vpand, Vpandd, Vpandq, Vandps, Vandpd, Vptestmb, Vptestmd, Vptestmq,
    ]),
    (V::Elements(|a, b, _| all_if(a & b == 0)), &[Vptestnmb, Vptestnmd, Vptestnmq]),
    (V::Elements(|a, b, _| !a & b), &[Pandn, Andnps, Andnpd, Vpandn, Vpandnd, Vpandnq, Vandnps, Vandnpd]),
    (V::Elements(|a, b, _| a | b), &[Por, Orps, Orpd, Vpor, Vpord, Vporq, Vorps, Vorpd]),
    (V::Elements(|a, b, _| a.wrapping_add(b)), &[Paddb, Paddw, Paddd, Paddq, Vpaddb, Vpaddw, Vpaddd, Vpaddq]),
    (V::Elements(|a, b, _| a.wrapping_sub(b)), &[Psubb, Psubw, Psubd, Psubq, Vpsubb, Vpsubw, Vpsubd, Vpsubq]),
    (V::Elements(|a, b, _| a.wrapping_mul(b)), &[Pmulld, Vpmulld]),
    (V::Elements(|a, b, _| u64::from(a as u32) * u64::from(b as u32)), &[Pmuludq, Vpmuludq]),
    (V::Elements(|a, b, _| a.min(b)), &[Vpminuq, Vpminud, Pminud, Pminub, Vpminub, Vpminuw]),
    (V::Elements(|a, b, _| a.max(b)), &[Vpmaxuq, Vpmaxud, Pmaxub, Vpmaxub]),
    (V::Elements(|a, b, _| all_if(a == b)), &[Pcmpeqb, Pcmpeqd, Vpcmpeqb, Vpcmpeqw, Vpcmpeqd, Vpcmpeqq]),
    (V::Elements(|a, b, bits| all_if(signed(a, bits) > signed(b, bits))), &[Pcmpgtq, Vpcmpgtd, Vpcmpgtq]),
    (V::Shift(left), &[Psllw, Vpsllw, Psllq, Vpsllq, Pslld, Vpslld]),
    (V::Shift(right), &[Psrlw, Vpsrlw, Psrlq, Vpsrlq, Psrld, Vpsrld]),
    (V::Shift(rotate), &[Vprold, Vprolq]),
    (V::Elements(rotate), &[Vprolvd, Vprolvq]),
    (V::Elements(left), &[Vpsllvq, Vpsllvd]),
    (V::Elements(right), &[Vpsrlvq, Vpsrlvd]),
    (V::Bytes(|o, i| if i < 8 { o.b.byte(i) } else { ZERO }), &[Movd, Movq, Vmovd, Vmovq]),
    // One element, and between registers the rest of the first source.
    (V::Bytes(|o, i| if i < o.unit || o.source.1 { &o.b } else { &o.a }.byte(i)), &[Movss, Movsd, Vmovss, Vmovsd]),
    // Eight bytes, and the rest of the first source.
    (V::Bytes(|o, i| if i < 8 { &o.b } else { &o.a }.byte(i)), &[Movlps, Vmovlps, Movlpd, Vmovlpd]),
    // One element by two numbers of the immediate, and zeroes by the others.
    (V::Bytes(|o, i| match (o.immediate(), o.source.1) {
        (by, _) if by >> (i / 4) & 1 == 1 => ZERO,
        (by, _) if by >> 4 & 3 != i / 4 => o.a.byte(i),
        (by, false) => o.b.byte((by >> 6) * 4 + i % 4),
        _ => o.b.byte(i % 4),
    }), &[Insertps, Vinsertps]),
    (V::Bytes(|o, i| o.b.byte(i / 16 * 16 + i % 8)), &[Movddup, Vmovddup]),
    (V::Bytes(|o, _| o.b.byte(0)), &[Vpbroadcastb]),
    (V::Bytes(|o, i| o.b.byte(i % 2)), &[Vpbroadcastw]),
    (V::Bytes(|o, i| o.b.byte(i % 4)), &[Vpbroadcastd, Vbroadcastss]),
    (V::Bytes(|o, i| o.b.byte(i % 8)), &[Vpbroadcastq, Vbroadcastsd]),
    (V::Bytes(|o, i| o.b.byte(i % 16)), &[
        Vbroadcasti128, Vbroadcastf128, Vbroadcasti32x4, Vbroadcastf32x4, Vbroadcasti64x2, Vbroadcastf64x2,
    ]),
    (V::Bytes(|o, i| o.b.byte(i % 32)), &[Vbroadcasti32x8, Vbroadcastf32x8, Vbroadcasti64x4, Vbroadcastf64x4]),
    (V::Bytes(|o, i| o.insert(i, 1)), &[Pinsrb, Vpinsrb]),
    (V::Bytes(|o, i| o.insert(i, 2)), &[Pinsrw, Vpinsrw]),
    (V::Bytes(|o, i| o.insert(i, 4)), &[Pinsrd, Vpinsrd]),
    (V::Bytes(|o, i| o.insert(i, 8)), &[Pinsrq, Vpinsrq]),
    (V::Bytes(|o, i| o.insert(i, 16)), &[
        Vinserti128, Vinsertf128, Vinserti32x4, Vinsertf32x4, Vinserti64x2, Vinsertf64x2,
    ]),
    (V::Bytes(|o, i| o.insert(i, 32)), &[Vinserti32x8, Vinsertf32x8, Vinserti64x4, Vinsertf64x4]),
    (V::Bytes(|o, i| o.extract(i, 1)), &[Pextrb, Vpextrb]),
    (V::Bytes(|o, i| o.extract(i, 2)), &[Pextrw, Vpextrw]),
    (V::Bytes(|o, i| o.extract(i, 4)), &[Pextrd, Vpextrd]),
    (V::Bytes(|o, i| o.extract(i, 8)), &[Pextrq, Vpextrq]),
    (V::Bytes(|o, i| o.extract(i, 16)), &[
        Vextracti128, Vextractf128, Vextracti32x4, Vextractf32x4, Vextracti64x2, Vextractf64x2,
    ]),
    (V::Bytes(|o, i| o.extract(i, 32)), &[Vextracti32x8, Vextractf32x8, Vextracti64x4, Vextractf64x4]),
    (V::Bytes(|o, i| o.narrow(i, 8, 1)), &[Vpmovqb]),
    (V::Bytes(|o, i| o.narrow(i, 8, 2)), &[Vpmovqw]),
    (V::Bytes(|o, i| o.narrow(i, 8, 4)), &[Vpmovqd]),
    (V::Bytes(|o, i| o.narrow(i, 4, 1)), &[Vpmovdb]),
    (V::Bytes(|o, i| o.narrow(i, 4, 2)), &[Vpmovdw]),
    (V::Bytes(|o, i| o.narrow(i, 2, 1)), &[Vpmovwb]),
    (V::Bytes(|o, i| o.extend(i, 4, 8, true)), &[Pmovsxdq, Vpmovsxdq]),
    (V::Bytes(|o, i| o.extend(i, 4, 8, false)), &[Pmovzxdq, Vpmovzxdq]),
    (V::Bytes(Operands::ternary), &[Vpternlogd, Vpternlogq]),
    (V::Bytes(|o, i| o.permute_two(i, &o.c, &o.a)), &[Vpermi2b, Vpermi2d, Vpermi2q]),
    (V::Bytes(|o, i| o.permute_two(i, &o.a, &o.c)), &[Vpermt2b, Vpermt2d, Vpermt2q]),
    // The element's bit of a mask.
    (V::Bytes(|o, i| (if o.b.number(0, 8) >> (i / o.unit) & 1 == 1 { 0xff } else { 0 }, o.b.levels[0])), &[
        Vpmovm2b, Vpmovm2w, Vpmovm2d, Vpmovm2q,
    ]),
    // By the highest bit of an element.
    (V::Bytes(|o, i| o.find(&o.b, i, o.unit, |sign| {
        if sign >> (8 * o.unit - 1) & 1 == 1 { o.a.byte(i) } else { o.c.byte(i) }
    })), &[Vblendvpd, Vblendvps, Vpblendvb]),
    (V::Bytes(|o, i| {
        let before = o.chosen & ((1 << (i / o.unit)) - 1);
        o.b.byte(before.count_ones() as usize * o.unit + i % o.unit)
    }), &[Vpexpandq, Vpexpandd]),
    (V::Bytes(|o, i| o.interleave(i, 1, 0)), &[Punpcklbw, Vpunpcklbw]),
    (V::Bytes(|o, i| o.interleave(i, 2, 0)), &[Punpcklwd, Vpunpcklwd]),
    (V::Bytes(|o, i| o.interleave(i, 4, 0)), &[Punpckldq, Vpunpckldq, Unpcklps, Vunpcklps]),
    (V::Bytes(|o, i| o.interleave(i, 8, 0)), &[
        Punpcklqdq, Vpunpcklqdq, Movlhps, Vmovlhps, Unpcklpd, Vunpcklpd,
    ]),
    (V::Bytes(|o, i| o.interleave(i, 1, 8)), &[Punpckhbw, Vpunpckhbw]),
    (V::Bytes(|o, i| o.interleave(i, 2, 8)), &[Punpckhwd, Vpunpckhwd]),
    (V::Bytes(|o, i| o.interleave(i, 4, 8)), &[Punpckhdq, Vpunpckhdq, Unpckhps, Vunpckhps]),
    (V::Bytes(|o, i| o.interleave(i, 8, 8)), &[Punpckhqdq, Vpunpckhqdq, Unpckhpd, Vunpckhpd]),
    (V::Bytes(|o, i| o.pack(i, 4, true)), &[Packssdw, Vpackssdw]),
    (V::Bytes(|o, i| o.pack(i, 2, true)), &[Packsswb, Vpacksswb]),
    (V::Bytes(|o, i| o.pack(i, 2, false)), &[Packuswb, Vpackuswb]),
    (V::Bytes(|o, i| o.pack(i, 4, false)), &[Packusdw, Vpackusdw]),
    (V::Bytes(|o, i| o.near(&o.b, i, (i % 16).checked_sub(o.immediate()))), &[Pslldq, Vpslldq]),
    (V::Bytes(|o, i| o.near(&o.b, i, Some(i % 16 + o.immediate()))), &[Psrldq, Vpsrldq]),
    (V::Bytes(|o, i| o.b.byte(o.shuffle(i, 4))), &[Pshufd, Vpshufd]),
    (V::Bytes(|o, i| if i % 16 < 8 { &o.a } else { &o.b }.byte(o.shuffle(i, 4))), &[Shufps, Vshufps]),
    (V::Bytes(|o, i| o.b.byte(if i % 16 < 8 { o.shuffle(i, 2) } else { i })), &[Pshuflw, Vpshuflw]),
    (V::Bytes(|o, i| o.b.byte(if i % 16 < 8 { i } else { o.shuffle(i, 2) })), &[Pshufhw, Vpshufhw]),
    // By an immediate, or by the elements of an operand.
    (V::Bytes(|o, i| match o.immediate {
        Some(_) => o.b.byte(o.shuffle(i, 8)),
        None => o.find(&o.a, i, o.unit, |element| o.b.byte(element % (o.size / o.unit) * o.unit + i % o.unit)),
    }), &[Vpermb, Vpermw, Vpermd, Vpermq, Vpermps, Vpermpd]),
    (V::Bytes(|o, i| if o.immediate() >> (i / o.unit % 8) & 1 == 1 { &o.b } else { &o.a }.byte(i)), &[
        Vpblendd, Blendps, Vblendps, Blendpd, Vblendpd, Pblendw, Vpblendw,
    ]),
    (V::Bytes(|o, i| match i % 16 + o.immediate() {
        at @ 0..16 => o.near(&o.b, i, Some(at)),
        at => o.near(&o.a, i, Some(at - 16)),
    }), &[Palignr, Vpalignr]),
    // Four bits of the immediate for each 16 bytes.
    (V::Bytes(|o, i| match o.immediate() >> (i / 16 * 4) & 15 {
        8.. => ZERO,
        choice => if choice & 2 == 0 { &o.a } else { &o.b }.byte(choice % 2 * 16 + i % 16),
    }), &[Vperm2i128, Vperm2f128]),
    (V::Bytes(|o, i| o.find(&o.b, i, 1, |at| o.near(&o.a, i, (at < 128).then_some(at % 16)))), &[Pshufb, Vpshufb]),
    // Two bits of the immediate, or one, for each 16 bytes.
    (V::Bytes(|o, i| {
        let bits = o.size / 32;
        let part = o.immediate() >> (i / 16 * bits) & (2 * bits - 1);
        if i < o.size / 2 { &o.a } else { &o.b }.byte(part * 16 + i % 16)
    }), &[Vshufi64x2, Vshuff64x2, Vshufi32x4, Vshuff32x4]),
    (V::Bytes(|o, i| {
        let at = i + o.unit * (o.immediate() % (o.size / o.unit));
        if at < o.size { o.b.byte(at) } else { o.a.byte(at - o.size) }
    }), &[Valignq, Valignd]),
    (V::Compare { is_signed: false }, &[Vpcmpub, Vpcmpuw, Vpcmpud, Vpcmpuq]),
    (V::Compare { is_signed: true }, &[Vpcmpd, Vpcmpq]),
    (V::SignBits(1), &[Vpmovb2m, Pmovmskb, Vpmovmskb]),
    (V::SignBits(4), &[Vpmovd2m, Movmskps, Vmovmskps]),
    (V::SignBits(8), &[Vpmovq2m, Movmskpd, Vmovmskpd]),
    (V::Mask(|_, b, _| b), &[Kmovb, Kmovw, Kmovd, Kmovq]),
    (V::Mask(|_, b, _| !b), &[Knotb, Knotw, Knotd, Knotq]),
    (V::Mask(|a, b, _| a & b), &[Kandb, Kandw, Kandd, Kandq]),
    (V::Mask(|a, b, _| a | b), &[Korb, Korw, Kord, Korq]),
    (V::Mask(|a, b, _| a ^ b), &[Kxorb, Kxorw, Kxord, Kxorq]),
    (V::Mask(|a, b, _| !(a ^ b)), &[Kxnorb, Kxnorw, Kxnord, Kxnorq]),
    (V::Mask(left), &[Kshiftlb, Kshiftlw, Kshiftld, Kshiftlq]),
    (V::Mask(|a, b, bits| right(a & u64::MAX >> (64 - bits), b, bits)), &[Kshiftrb, Kshiftrw, Kshiftrd, Kshiftrq]),
    (V::Mask(|a, b, bits| a << (bits / 2) | b & u64::MAX >> (64 - bits / 2)), &[Kunpckbw, Kunpckwd, Kunpckdq]),
    (V::MaskFlags(|a, b| [a | b, !(a | b)]), &[Kortestb, Kortestw, Kortestd, Kortestq]),
    (V::MaskFlags(|a, b| [a & b, !a & b]), &[Ktestb, Ktestw, Ktestd, Ktestq]),
];

/// The model of an instruction, by its mnemonic.
struct Model {
    operation: Option<VectorOperation>,
    element_bytes: usize,
}

fn model(mnemonic: Mnemonic) -> &'static Model {
    static ALL: OnceLock<Vec<Model>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let model = |mnemonic| Model { operation: None, element_bytes: by_name(mnemonic) };
        let mut all: Vec<Model> = Mnemonic::values().map(model).collect();
        for (operation, mnemonics) in OPERATIONS {
            mnemonics.iter().for_each(|&mnemonic| all[mnemonic as usize].operation = Some(*operation));
        }
        all
    });
    &all[mnemonic as usize]
}

/// What the instruction does, if it has a model.
pub(super) fn operation(mnemonic: Mnemonic) -> Option<VectorOperation> {
    model(mnemonic).operation
}

/// Bytes of an element of arithmetic, or of the part that a mask bit selects.
pub(super) fn element_bytes(mnemonic: Mnemonic) -> usize {
    model(mnemonic).element_bytes
}

/// Finds [`element_bytes`] by the last letters of the mnemonic.
fn by_name(mnemonic: Mnemonic) -> usize {
    let name = format!("{mnemonic:?}").to_lowercase();
    let ends = |with: &[&str]| with.iter().any(|end| name.ends_with(end));
    if ends(&["dqu8", "b", "palignr", "lbw", "hbw"]) {
        1
    } else if ends(&["dqu16", "w", "lwd", "hwd"]) {
        2
    } else if ends(&["dqu32", "dqa32", "32x4", "32x8", "ps", "ss", "ldq", "hdq", "pcmpd"])
        || ends(&["d"]) && !ends(&["pd", "sd"])
    {
        4
    } else {
        8
    }
}
