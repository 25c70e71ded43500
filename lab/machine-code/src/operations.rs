//! The vector instructions that have a model, as a table: what each of them does.

use std::sync::OnceLock;

use iced_x86::Mnemonic::{self, *};

use Rearrangement as R;
use VectorOperation as V;

/// What a vector instruction does.
#[derive(Clone, Copy)]
pub(super) enum VectorOperation {
    Move,
    /// At most eight bytes.
    MoveLow,
    /// One element; between registers the rest of the destination stays.
    MoveScalar,
    /// A function of two operands that treats all bits alike.
    Bits(fn(u64, u64) -> u64),
    /// A function of two operands, element by element.
    Elements(fn(u64, u64) -> u64),
    /// All elements by one count. The function takes the element, the count and the element's length in bits.
    Shift(fn(u64, u64, u64) -> u64),
    /// Each element by its own count.
    ShiftEach(fn(u64, u64, u64) -> u64),
    /// The bytes of a part.
    Broadcast(usize),
    Insert(usize),
    Extract(usize),
    /// Bytes of an element before and after.
    Narrow(usize, usize),
    Ternary,
    /// Elements of two operands by a third. The result replaces one of the two, or else their order.
    PermuteTwo {
        overwrites: bool,
    },
    FromMask,
    BlendByMask,
    /// By the highest bit of each element of a third operand.
    BlendBySign,
    Expand,
    Rearrange(Rearrangement),
}

/// Where each byte of a result comes from.
#[derive(Clone, Copy)]
pub(super) enum Rearrangement {
    /// Bytes of an element, and the half of each 16 bytes that is taken.
    Interleave(usize, usize),
    /// Bytes of an element before it is narrowed with saturation.
    Pack(usize),
    PackUnsigned(usize),
    ShiftLeft,
    ShiftRight,
    /// Of 4 bytes in each 16.
    Shuffle,
    /// The same, the lower half from one operand and the upper half from the other.
    ShuffleTwo,
    /// Of 2 bytes in the first 8 of each 16.
    ShuffleLow,
    /// By an immediate, 8 bytes in each 32; otherwise elements by an operand.
    Permute,
    Blend,
    AlignBytes,
    PermuteHalves,
    ShuffleBytes,
    /// Of 16 bytes.
    ShuffleLanes,
    AlignElements,
}

fn left(element: u64, count: u64, bits: u64) -> u64 {
    if count < bits { element << count } else { 0 }
}

fn right(element: u64, count: u64, bits: u64) -> u64 {
    if count < bits { element >> count } else { 0 }
}

#[rustfmt::skip]
const OPERATIONS: &[(VectorOperation, &[Mnemonic])] = &[
    (V::Move, &[
        Movups, Movupd, Movaps, Movapd, Movdqa, Movdqu, Lddqu, Movntdq, Movntps,
        Vmovups, Vmovupd, Vmovaps, Vmovapd, Vmovdqa, Vmovdqu, Vlddqu, Vmovntdq, Vmovntps,
        Vmovdqa32, Vmovdqa64, Vmovdqu8, Vmovdqu16, Vmovdqu32, Vmovdqu64,
    ]),
    (V::MoveLow, &[Movd, Movq, Vmovd, Vmovq]),
    (V::MoveScalar, &[Movss, Movsd, Vmovss, Vmovsd]),
    (V::Bits(|a, b| a ^ b), &[Pxor, Xorps, Xorpd, Vpxor, Vpxord, Vpxorq, Vxorps, Vxorpd]),
    (V::Bits(|a, b| a & b), &[Pand, Andps, Andpd, Vpand, Vpandd, Vpandq, Vandps, Vandpd]),
    (V::Bits(|a, b| !a & b), &[Pandn, Andnps, Andnpd, Vpandn, Vpandnd, Vpandnq, Vandnps, Vandnpd]),
    (V::Bits(|a, b| a | b), &[Por, Orps, Orpd, Vpor, Vpord, Vporq, Vorps, Vorpd]),
    (V::Elements(u64::wrapping_add), &[Paddb, Paddw, Paddd, Paddq, Vpaddb, Vpaddw, Vpaddd, Vpaddq]),
    (V::Elements(u64::wrapping_sub), &[Psubb, Psubw, Psubd, Psubq, Vpsubb, Vpsubw, Vpsubd, Vpsubq]),
    (V::Elements(u64::min), &[Vpminuq, Vpminud, Pminud, Pminub, Vpminub]),
    (V::Elements(u64::max), &[Vpmaxuq, Vpmaxud, Pmaxub, Vpmaxub]),
    (V::Elements(|a, b| if a == b { u64::MAX } else { 0 }), &[Pcmpeqb, Pcmpeqd, Vpcmpeqb, Vpcmpeqd, Vpcmpeqq]),
    (V::Elements(|a, b| if a as i64 > b as i64 { u64::MAX } else { 0 }), &[Pcmpgtq, Vpcmpgtq]),
    (V::Shift(left), &[Psllw, Vpsllw, Psllq, Vpsllq, Pslld, Vpslld]),
    (V::Shift(right), &[Psrlw, Vpsrlw, Psrlq, Vpsrlq, Psrld, Vpsrld]),
    (V::ShiftEach(left), &[Vpsllvq, Vpsllvd]),
    (V::ShiftEach(right), &[Vpsrlvq, Vpsrlvd]),
    (V::Broadcast(1), &[Vpbroadcastb]),
    (V::Broadcast(2), &[Vpbroadcastw]),
    (V::Broadcast(4), &[Vpbroadcastd, Vbroadcastss]),
    (V::Broadcast(8), &[Vpbroadcastq, Vbroadcastsd]),
    (V::Broadcast(16), &[
        Vbroadcasti128, Vbroadcastf128, Vbroadcasti32x4, Vbroadcastf32x4, Vbroadcasti64x2, Vbroadcastf64x2,
    ]),
    (V::Broadcast(32), &[Vbroadcasti32x8, Vbroadcastf32x8, Vbroadcasti64x4, Vbroadcastf64x4]),
    (V::Insert(1), &[Pinsrb, Vpinsrb]),
    (V::Insert(2), &[Pinsrw, Vpinsrw]),
    (V::Insert(4), &[Pinsrd, Vpinsrd]),
    (V::Insert(8), &[Pinsrq, Vpinsrq]),
    (V::Insert(16), &[Vinserti128, Vinsertf128, Vinserti32x4, Vinsertf32x4, Vinserti64x2, Vinsertf64x2]),
    (V::Insert(32), &[Vinserti32x8, Vinsertf32x8, Vinserti64x4, Vinsertf64x4]),
    (V::Extract(1), &[Pextrb, Vpextrb]),
    (V::Extract(2), &[Pextrw, Vpextrw]),
    (V::Extract(4), &[Pextrd, Vpextrd]),
    (V::Extract(8), &[Pextrq, Vpextrq]),
    (V::Extract(16), &[Vextracti128, Vextractf128, Vextracti32x4, Vextractf32x4, Vextracti64x2, Vextractf64x2]),
    (V::Extract(32), &[Vextracti32x8, Vextractf32x8, Vextracti64x4, Vextractf64x4]),
    (V::Narrow(8, 1), &[Vpmovqb]),
    (V::Narrow(8, 2), &[Vpmovqw]),
    (V::Narrow(8, 4), &[Vpmovqd]),
    (V::Narrow(4, 1), &[Vpmovdb]),
    (V::Narrow(4, 2), &[Vpmovdw]),
    (V::Narrow(2, 1), &[Vpmovwb]),
    (V::Ternary, &[Vpternlogd, Vpternlogq]),
    (V::PermuteTwo { overwrites: false }, &[Vpermi2q, Vpermi2d]),
    (V::PermuteTwo { overwrites: true }, &[Vpermt2q, Vpermt2d]),
    (V::FromMask, &[Vpmovm2b, Vpmovm2w, Vpmovm2d, Vpmovm2q]),
    (V::BlendByMask, &[Vpblendmq, Vpblendmd]),
    (V::BlendBySign, &[Vblendvpd, Vblendvps, Vpblendvb]),
    (V::Expand, &[Vpexpandq, Vpexpandd]),
    (V::Rearrange(R::Interleave(1, 0)), &[Punpcklbw, Vpunpcklbw]),
    (V::Rearrange(R::Interleave(2, 0)), &[Punpcklwd, Vpunpcklwd]),
    (V::Rearrange(R::Interleave(4, 0)), &[Punpckldq, Vpunpckldq]),
    (V::Rearrange(R::Interleave(8, 0)), &[Punpcklqdq, Vpunpcklqdq, Movlhps, Vmovlhps]),
    (V::Rearrange(R::Interleave(1, 8)), &[Punpckhbw, Vpunpckhbw]),
    (V::Rearrange(R::Interleave(2, 8)), &[Punpckhwd, Vpunpckhwd]),
    (V::Rearrange(R::Interleave(4, 8)), &[Punpckhdq, Vpunpckhdq]),
    (V::Rearrange(R::Interleave(8, 8)), &[Punpckhqdq, Vpunpckhqdq]),
    (V::Rearrange(R::Pack(4)), &[Packssdw, Vpackssdw]),
    (V::Rearrange(R::Pack(2)), &[Packsswb, Vpacksswb]),
    (V::Rearrange(R::PackUnsigned(2)), &[Packuswb, Vpackuswb]),
    (V::Rearrange(R::PackUnsigned(4)), &[Packusdw, Vpackusdw]),
    (V::Rearrange(R::ShiftLeft), &[Pslldq, Vpslldq]),
    (V::Rearrange(R::ShiftRight), &[Psrldq, Vpsrldq]),
    (V::Rearrange(R::Shuffle), &[Pshufd, Vpshufd]),
    (V::Rearrange(R::ShuffleTwo), &[Shufps, Vshufps]),
    (V::Rearrange(R::ShuffleLow), &[Pshuflw, Vpshuflw]),
    (V::Rearrange(R::Permute), &[Vpermb, Vpermw, Vpermd, Vpermq, Vpermps, Vpermpd]),
    (V::Rearrange(R::Blend), &[Vpblendd, Blendps, Vblendps, Blendpd, Vblendpd, Pblendw, Vpblendw]),
    (V::Rearrange(R::AlignBytes), &[Palignr, Vpalignr]),
    (V::Rearrange(R::PermuteHalves), &[Vperm2i128, Vperm2f128]),
    (V::Rearrange(R::ShuffleBytes), &[Pshufb, Vpshufb]),
    (V::Rearrange(R::ShuffleLanes), &[Vshufi64x2, Vshuff64x2, Vshufi32x4, Vshuff32x4]),
    (V::Rearrange(R::AlignElements), &[Valignq, Valignd]),
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
    if ends(&["dqu8", "b"]) {
        1
    } else if ends(&["dqu16", "w"]) {
        2
    } else if ends(&["dqu32", "dqa32", "32x4", "32x8", "ps", "ss"]) || ends(&["d"]) && !ends(&["pd", "sd"]) {
        4
    } else {
        8
    }
}
