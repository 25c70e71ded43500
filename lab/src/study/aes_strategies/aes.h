/* AES-128 as in the paper (FIPS 197 on a state of four rows of four bytes). The code is new. Its table lookups depend on secrets, so it is
 * for measurements only. Threads are in openmp.c, and for simulated harts in harts.c. */
enum { ROUNDS = 10, BLOCK = 16 };
enum function { SUB_BYTES, SHIFT_ROWS, MIX_COLUMNS, ADD_ROUND_KEY, WHOLE_BLOCK, FUNCTIONS };
typedef unsigned char byte;

/* The rule behind the paper's serial formulas: a test of a loop and an assignment count 1, an assignment of a function's result 3. */
#ifdef COUNT
static int operations;
#define COUNTED(number, expression) (operations += (number), (expression))
#else
#define COUNTED(number, expression) (expression)
#endif
#define TEST(condition) COUNTED(1, condition)
#define SET(variable, value) COUNTED(1, (variable) = (value))
#define CALL(variable, value) COUNTED(3, (variable) = (value))

static byte sbox[256], inverse_sbox[256], round_keys[ROUNDS + 1][BLOCK];

static byte xtime(byte a) { return (byte)(a << 1 ^ (a >> 7) * 0x1b); }

/* Computes the S-boxes from powers of the generator x + 1. */
static void make_tables(void) {
    byte power[255], logarithm[256] = {0}, a = 1;
    for (int i = 0; i < 255; i++) {
        power[i] = a;
        logarithm[a] = (byte)i;
        a ^= xtime(a);
    }
    for (int i = 0; i < 256; i++) {
        unsigned b = i ? power[(255 - logarithm[i]) % 255] : 0;
        b |= b << 8;
        sbox[i] = (byte)(b ^ b >> 7 ^ b >> 6 ^ b >> 5 ^ b >> 4 ^ 0x63);
        inverse_sbox[sbox[i]] = (byte)i;
    }
}

static void expand_key(const byte *key) {
    byte constant = 1;
    for (int i = 0; i < BLOCK; i++) round_keys[0][i] = key[i];
    for (int round = 1; round <= ROUNDS; round++) {
        const byte *before = round_keys[round - 1];
        byte word[4] = {sbox[before[13]], sbox[before[14]], sbox[before[15]], sbox[before[12]]};
        word[0] ^= constant;
        constant = xtime(constant);
        for (int i = 0; i < BLOCK; i++) round_keys[round][i] = word[i % 4] ^= before[i];
    }
}

/* The work of one thread for row i. */
static void sub_row(byte state[4][4], int i, const byte *table) {
    for (int j = 0; TEST(j < 4); j++) CALL(state[i][j], table[state[i][j]]);
}

static void rotate(byte row[4], int first, int third) {
    byte temp;
    SET(temp, row[0]);
    SET(row[0], row[first]);
    SET(row[first], row[2]);
    SET(row[2], row[third]);
    SET(row[third], temp);
}

/* The paper's two sections of ShiftRows: row 1 or 3, and half of row 2. A rotation by three to the left is one by one to the right. */
static void shift_section(byte state[4][4], int section, int decrypt) {
    byte temp;
    if (section == decrypt) rotate(state[1 + 2 * section], 1, 3);
    else rotate(state[1 + 2 * section], 3, 1);
    SET(temp, state[2][section]);
    SET(state[2][section], state[2][section + 2]);
    SET(state[2][section + 2], temp);
}

static void mix_column(byte state[4][4], int i, int decrypt) {
    byte t, Tmp, Tm;
    if (decrypt)
        for (int row = 0; row < 2; row++) {
            byte four = xtime(xtime(state[row][i] ^ state[row + 2][i]));
            state[row][i] ^= four;
            state[row + 2][i] ^= four;
        }
    SET(t, state[0][i]);
    SET(Tmp, state[0][i] ^ state[1][i] ^ state[2][i] ^ state[3][i]);
    for (int row = 0; row < 4; row++) {
        SET(Tm, state[row][i] ^ (row < 3 ? state[row + 1][i] : t));
        CALL(Tm, xtime(Tm));
        SET(state[row][i], state[row][i] ^ Tm ^ Tmp);
    }
}

static void sub_rows(byte state[4][4], int rows, const byte *table) {
    for (int i = 0; TEST(i < rows); i++) sub_row(state, i, table);
}

static void mix_columns(byte state[4][4], int columns, int decrypt) {
    for (int i = 0; TEST(i < columns); i++) mix_column(state, i, decrypt);
}

/* One function of one state, on this thread. */
static inline void whole(byte state[4][4], enum function function, int round, int decrypt) {
    switch (function) {
    case SUB_BYTES: sub_rows(state, 4, decrypt ? inverse_sbox : sbox); break;
    case SHIFT_ROWS:
        for (int i = 0; i < 2; i++) shift_section(state, i, decrypt);
        break;
    case MIX_COLUMNS: mix_columns(state, 4, decrypt); break;
    default:
        for (int i = 0; i < BLOCK; i++) state[i % 4][i / 4] ^= round_keys[round][i];
    }
}

/* The functions of a block in order. SubBytes and ShiftRows commute. */
#define EACH(DO)                                                                                                       \
    DO(ADD_ROUND_KEY, decrypt ? ROUNDS : 0)                                                                            \
    for (int i = 1; i <= ROUNDS; i++) {                                                                                \
        DO(SUB_BYTES, i)                                                                                               \
        DO(SHIFT_ROWS, i)                                                                                              \
        if (i < ROUNDS && !decrypt) DO(MIX_COLUMNS, i)                                                                 \
        DO(ADD_ROUND_KEY, decrypt ? ROUNDS - i : i)                                                                    \
        if (i < ROUNDS && decrypt) DO(MIX_COLUMNS, i)                                                                  \
    }

static void load(byte state[4][4], const byte *block) {
    for (int i = 0; i < BLOCK; i++) state[i % 4][i / 4] = block[i];
}

static void store(byte state[4][4], byte *block) {
    for (int i = 0; i < BLOCK; i++) block[i] = state[i % 4][i / 4];
}

static inline void one_block(byte *block, int decrypt) {
    byte state[4][4];
    load(state, block);
#define DO(function, round) { whole(state, function, round, decrypt); }
    EACH(DO)
#undef DO
    store(state, block);
}
