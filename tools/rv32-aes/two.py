"""The parts of the kernel for two blocks of AES, in two.S.

A state is eight words in registers, one for each bit; bit 8 r + 2 c + b of a word is that of row r, column c, block b.
ShiftRows is left out, so that after k rounds the columns of row r are k r places too far, and MixColumns reads them
there ("fixslicing": A. Adomnicai, T. Peyrin, TCHES 2021). After 4 or 12 rounds all columns are back in place; after 10 or 14
they are two places off.
"""

from allocate import Program
from eight import bit_masks, li, sbox, transpose_bits

STATE = ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"]
PINNED = {"key": "s10", "end": "s11"}


def begin():
    p = Program()
    return p, [f"x{i}" for i in range(8)], {f"x{i}": STATE[i] for i in range(8)}


def add_key(p, words, offset):
    return [p.xor(p.load("key", offset + 4 * i), words[i]) for i in range(8)]


def merge(p, low, high, mask):
    """Bits of `low` under the mask, bits of `high` elsewhere."""
    return p.xor(high, p.and_(p.xor(low, high), mask))


def mix_columns(p, a, k):
    """2 t + b + (t two rows below), where b is the byte below a and t = a + b."""
    turn = half = None
    if k % 2:
        turn = li(p, {1: 0x3F3F3F3F, 3: 0x03030303}[k])
    if k:
        half = li(p, 0x0F0F0F0F)

    def below(x):
        """One row below: the column k places further, in the next byte."""
        if k in (1, 3):
            x = merge(p, p.srl(x, 2 * k), p.sll(x, 8 - 2 * k), turn)
        elif k == 2:
            x = merge(p, p.srl(x, 4), p.sll(x, 4), half)
        return p.ror(x, 8)

    def two_below(x):
        if k % 2:
            x = merge(p, p.srl(x, 4), p.sll(x, 4), half)
        return p.ror(x, 16)

    out = [None] * 8
    b7 = below(a[7])
    t7 = p.xor(a[7], b7)
    last = p.xor(b7, two_below(t7))
    before = t7
    for i in range(7):
        b = below(a[i])
        t = p.xor(a[i], b)
        out[i] = p.xor(p.xor(b, before), two_below(t))
        if i in (1, 3, 4):
            out[i] = p.xor(out[i], t7)
        before = t
    out[7] = p.xor(last, before)
    return out


def rounds(ks):
    """Rounds with the given displacements. `key` is the address of the first round key."""
    p, x, start = begin()
    for n, k in enumerate(ks):
        x = add_key(p, mix_columns(p, sbox(p, x), k), 32 * n)
    return p, x, start


def pack():
    """Turns words 2 c + b into planes, and adds the first round key."""
    p, x, start = begin()
    return p, add_key(p, transpose_bits(p, x, bit_masks(p)), 0), start


def last_round():
    """SubBytes, AddRoundKey and back to words."""
    p, x, start = begin()
    return p, transpose_bits(p, add_key(p, sbox(p, x), 0), bit_masks(p)), start


def turn():
    """Moves rows 1 and 3 back by two columns."""
    p, x, start = begin()
    mask = li(p, 0xFF00FF00)
    for n in range(4):
        t = p.and_(p.xor(x[n], x[n + 4]), mask)
        x[n], x[n + 4] = p.xor(x[n], t), p.xor(x[n + 4], t)
    return p, x, start
