"""The parts of the kernel for eight blocks of AES, in eight.S.

A state is 32 words in the frame: bit i of row r at offset 16 i + 4 r, block b of column c at bit 8 c + b of the word. So
ShiftRows rotates a word by a multiple of eight and MixColumns adds words (E. Käsper, P. Schwabe, CHES 2009, for the idea;
"barrel-shiftrows" of A. Adomnicai, T. Peyrin, TCHES 2021). A round key has the same form.
"""

from allocate import Program
from circuit import FORWARD, INVERSE, gates

KEY = 128  # where the frame has the address of the next round key


def home(row, bit):
    return 16 * bit + 4 * row


def sbox(p, x, circuit=FORWARD):
    values = {f"u{7 - i}": x[i] for i in range(8)}
    for name, operation, a, b in gates(circuit):
        values[name] = p.op("xor" if operation == "^" else "and", values[a], values[b], note=name)
    return [values[f"s{7 - i}"] for i in range(8)]


def state(p):
    return [[p.memory(home(r, i), f"x{r}.{i}") for i in range(8)] for r in range(4)]


def add_key(p, value, row, bit):
    return p.xor(value, p.load("key", home(row, bit)))


def mix_columns(p, a, finish):
    """2(a + b) + b + (c + d) for a byte a and the three bytes b, c, d below it. Calls `finish` with each word."""
    double = [p.xor(a[r][7], a[(r + 1) % 4][7]) for r in range(4)]  # bit 7 of a + b, which comes back at 0, 1, 3, 4
    last = [p.xor(a[(r + 1) % 4][7], double[(r + 2) % 4]) for r in range(4)]
    before = double
    for i in range(7):
        sums = [p.xor(a[r][i], a[(r + 1) % 4][i]) for r in range(4)]
        for r in range(4):
            out = p.xor(p.xor(a[(r + 1) % 4][i], sums[(r + 2) % 4]), before[r])
            if i in (1, 3, 4):
                out = p.xor(out, double[r])
            finish(out, r, i)
        before = sums
    for r in range(4):
        finish(p.xor(last[r], before[r]), r, 7)


def all_of(out):
    return [out[r][i] for r in range(4) for i in range(8)]


def round_():
    """SubBytes, ShiftRows, MixColumns and AddRoundKey."""
    p = Program()
    a = []
    for r, x in enumerate(state(p)):
        s = sbox(p, x)
        a.append([p.ror(word, 8 * r) if r else word for word in s])
        for i in range(8):
            p.home(a[r][i], home(r, i))
    p.memory(KEY, "key")
    out = [[None] * 8 for _ in range(4)]

    def finish(word, r, i):
        out[r][i] = add_key(p, word, r, i)
        p.home(out[r][i], home(r, i))

    mix_columns(p, a, finish)
    return p, all_of(out)


def inverse_round():
    """The inverse of ShiftRows and SubBytes, AddRoundKey, and the inverse of MixColumns: a -> a + 4(a + c), then
    MixColumns."""
    p = Program()
    p.memory(KEY, "key")
    a = []
    for r, x in enumerate(state(p)):
        s = sbox(p, [p.ror(word, 32 - 8 * r) if r else word for word in x], INVERSE)
        a.append([add_key(p, s[i], r, i) for i in range(8)])
        for i in range(8):
            p.home(a[r][i], home(r, i))
    for r in range(2):
        u = {}

        def sum_(i):
            if i not in u:
                u[i] = p.xor(a[r][i], a[r + 2][i])
                return u[i]
            return u[i]

        new = [[None] * 8, [None] * 8]
        # Bit i of 4u. In this order bits 7 and 6 of u are computed first.
        six, seven = sum_(6), sum_(7)
        both = p.xor(six, seven)
        terms = {0: [six], 1: [both], 2: [0, seven], 3: [1, six], 4: [2, both], 5: [3, seven], 6: [4], 7: [5]}
        for i in range(6):
            sum_(i)
            for bit in [k for k in (i,) if k < 2] + ([i + 2] if i + 2 < 8 else []):
                value = None
                for term in terms[bit]:
                    term = u[term] if isinstance(term, int) else term
                    value = term if value is None else p.xor(value, term)
                for half in range(2):
                    new[half][bit] = p.xor(a[r + 2 * half][bit], value)
        for half in range(2):
            for i in range(8):
                p.home(new[half][i], home(r + 2 * half, i))
            a[r + 2 * half] = new[half]
    out = [[None] * 8 for _ in range(4)]

    def finish(word, r, i):
        out[r][i] = word
        p.home(word, home(r, i))

    mix_columns(p, a, finish)
    return p, all_of(out)


def transpose_bits(p, words, masks):
    """In each byte, bit i of word b becomes bit b of word i."""
    words = list(words)
    for distance in (1, 2, 4):
        for i in range(8):
            if not i & distance:
                words[i], words[i + distance] = p.swapmove(words[i], words[i + distance], masks[distance], distance)
    return words


def transpose_bytes(p, w, mask):
    """Transposes columns of a block to rows, or back."""
    w = list(w)
    for a in (0, 1):
        t = p.xor(p.srl(w[a], 16), w[a + 2])
        high = p.sll(t, 16)
        w[a], w[a + 2] = p.xor(w[a], high), p.xor(w[a + 2], p.srl(high, 16))
    for a in (0, 2):
        w[a], w[a + 1] = p.swapmove(w[a], w[a + 1], mask, 8)
    return w


def li(p, number, note=""):
    return p.op("li", immediate=f"{number:#010x}", note=note)


def bit_masks(p):
    return {1: li(p, 0x55555555), 2: li(p, 0x33333333), 4: li(p, 0x0F0F0F0F)}


def pack():
    """Turns the eight blocks in the frame into a state, and adds the round key."""
    p = Program()
    mask = li(p, 0x00FF00FF)
    rows = []
    for b in range(8):
        rows.append(transpose_bytes(p, [p.memory(16 * b + 4 * c) for c in range(4)], mask))
        for r in range(4):
            p.home(rows[b][r], 16 * b + 4 * r)
    p.memory(KEY, "key")
    masks = bit_masks(p)
    out = []
    for r in range(4):
        words = transpose_bits(p, [rows[b][r] for b in range(8)], masks)
        out.append([add_key(p, words[i], r, i) for i in range(8)])
        for i in range(8):
            p.home(out[r][i], home(r, i))
    return p, all_of(out)


def last_round(inverse=False):
    """The last round. Then the state is turned into eight blocks in the frame."""
    p = Program()
    p.memory(KEY, "key")
    blocks = []
    for r, x in enumerate(state(p)):
        if inverse:
            s = sbox(p, [p.ror(word, 32 - 8 * r) if r else word for word in x], INVERSE)
        else:
            s = [p.ror(word, 8 * r) if r else word for word in sbox(p, x)]
        s = [add_key(p, s[i], r, i) for i in range(8)]
        for i in range(8):
            p.home(s[i], home(r, i))
        blocks.append(transpose_bits(p, s, bit_masks(p)))  # the circuit leaves no registers for the masks
        for b in range(8):
            p.home(blocks[r][b], 16 * b + 4 * r)
    mask = li(p, 0x00FF00FF)
    out = []
    for b in range(8):
        words = transpose_bytes(p, [blocks[r][b] for r in range(4)], mask)
        for c in range(4):
            p.home(words[c], 16 * b + 4 * c)
        out += words
    return p, out


def sub_word():
    """The S-box on the four bytes of a word, for the key schedule."""
    p = Program()
    mask = li(p, 0x01010101)
    s = sbox(p, [p.and_(p.srl("word", i) if i else "word", mask) for i in range(8)])
    out = li(p, 0x63636363)
    for i in range(8):
        out = p.xor(out, p.sll(s[i], i) if i else s[i])
    return p, out


def double(p, a):
    """Multiplication by x in GF(2^8)."""
    return [a[7], p.xor(a[0], a[7]), a[1], p.xor(a[2], a[7]), p.xor(a[3], a[7]), a[4], a[5], a[6]]


def first_of_counters():
    """Round 1 for eight counters, the first of them a multiple of eight. Only the last byte of a counter is not known in advance.

    That byte is in row 3 of column 3; after ShiftRows it is in column 0. Output: column 0 after the round, the only
    one that depends on it, in eight words: row r in byte -r modulo 4, where round 2 will move it. `prepared` holds the
    contribution of the other bytes and the round key."""
    p = Program()
    x = []
    for i in range(8):
        if i < 3:
            bits = p.op("lui", immediate=f"{[0xAA000, 0xCC000, 0xF0000][i]:#x}")
        else:
            bits = p.op("srai", p.sll("number", 31 - i), immediate=31)
        x.append(p.xor(bits, p.load("key", home(3, i))))
    a = [p.srl(word, 24) for word in sbox(p, x)]
    two = double(p, a)
    out = []
    for i in range(8):
        row1 = p.sll(a[i], 24)
        row2 = p.sll(p.xor(a[i], two[i]), 16)
        row3 = p.sll(two[i], 8)
        word = p.xor(p.xor(a[i], row1), p.xor(row2, row3))
        word = p.xor(word, p.load("prepared", 4 * i))
        p.home(word, home(0, i))
        out.append(word)
    return p, out


def second_of_counters():
    """Round 2: four bytes of a block depend on the counter, one in each column after ShiftRows."""
    p = Program()
    s = sbox(p, [p.memory(home(0, i), f"x0.{i}") for i in range(8)])
    two = double(p, s)
    coefficients = [2, 3, 1, 1]
    masks = []
    for r in range(4):
        ones = twos = 0
        for c in range(4):
            k = coefficients[(-c - r) % 4]
            ones |= (0xFF << 8 * c) * (k & 1)
            twos |= (0xFF << 8 * c) * (k >> 1)
        masks.append((li(p, ones), li(p, twos)))
    out = [[None] * 8 for _ in range(4)]
    for i in range(8):
        for r in range(4):
            word = p.xor(p.and_(s[i], masks[r][0]), p.and_(two[i], masks[r][1]))
            out[r][i] = p.xor(word, p.load("prepared", 32 + home(r, i)))
            p.home(out[r][i], home(r, i))
    return p, all_of(out)
