/* AES-128 over the rows of one state, by the paper's own construct: OpenMP. Written anew; the algorithm is that of the
 * paper's Tables 1 to 3, corrected where they are no C (openmp.rs says where).
 *
 *   openmp plain|rows|blocks encrypt|decrypt KEY THREADS WATCH INPUT OUTPUT
 *   openmp race ROUNDS
 *
 * encrypts or decrypts the file INPUT, whole blocks, into OUTPUT; KEY is 32 hexadecimal digits; with WATCH 1 it reads the
 * clock around everything. It prints one line of JSON:
 *   seconds   that this took, reading and writing not among them
 *   busy      processor seconds of each thread
 *   laps      seconds in SubBytes, ShiftRows, MixColumns, AddRoundKey, of all threads together, the clock's reading taken off
 *   readings  of the clock; reading: the seconds of one
 */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 10, BLOCK = 16, MOST_THREADS = 256, TOGETHER = 64 };
enum function { SUB_BYTES, SHIFT_ROWS, MIX_COLUMNS, ADD_ROUND_KEY, FUNCTIONS };

static unsigned char sbox[256], inverse_sbox[256];
static unsigned char round_keys[ROUNDS + 1][BLOCK];

/* Of each thread, a cache line apart. */
static struct laps {
    double seconds[FUNCTIONS];
    long counts[FUNCTIONS];
    char pad[64];
} laps[MOST_THREADS];

static double now_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double now(void) { return now_of(CLOCK_MONOTONIC); }

static unsigned char xtime(unsigned char a) { return (unsigned char)(a << 1 ^ (a >> 7) * 0x1b); }

static void make_tables(void) {
    unsigned char power[255], logarithm[256] = {0}, a = 1;
    for (int i = 0; i < 255; i++) {
        power[i] = a;
        logarithm[a] = (unsigned char)i;
        a ^= xtime(a);
    }
    for (int i = 0; i < 256; i++) {
        unsigned b = i ? power[(255 - logarithm[i]) % 255] : 0;
        b |= b << 8;
        sbox[i] = (unsigned char)(b ^ b >> 7 ^ b >> 6 ^ b >> 5 ^ b >> 4 ^ 0x63);
        inverse_sbox[sbox[i]] = (unsigned char)i;
    }
}

static void expand_key(const unsigned char *key) {
    unsigned char constant = 1;
    memcpy(round_keys[0], key, BLOCK);
    for (int round = 1; round <= ROUNDS; round++) {
        const unsigned char *before = round_keys[round - 1];
        unsigned char word[4] = {sbox[before[13]], sbox[before[14]], sbox[before[15]], sbox[before[12]]};
        word[0] ^= constant;
        constant = xtime(constant);
        for (int i = 0; i < BLOCK; i++) round_keys[round][i] = word[i % 4] ^= before[i];
    }
}

/* The bodies: what one thread does for row or column i. */
static void sub_row(unsigned char state[4][4], int i, const unsigned char *table) {
    for (int j = 0; j < 4; j++) state[i][j] = table[state[i][j]];
}

static void rotate_left(unsigned char row[4]) {
    unsigned char temp = row[0];
    row[0] = row[1];
    row[1] = row[2];
    row[2] = row[3];
    row[3] = temp;
}

static void rotate_right(unsigned char row[4]) {
    unsigned char temp = row[0];
    row[0] = row[3];
    row[3] = row[2];
    row[2] = row[1];
    row[1] = temp;
}

static void swap(unsigned char *one, unsigned char *other) {
    unsigned char temp = *one;
    *one = *other;
    *other = temp;
}

/* The paper's two sections of ShiftRows. */
static void shift_section(unsigned char state[4][4], int section, int decrypt) {
    if (section == decrypt) rotate_left(state[1 + 2 * section]);
    else rotate_right(state[1 + 2 * section]);
    swap(&state[2][section], &state[2][section + 2]);
}

static void mix_column(unsigned char state[4][4], int i, int decrypt) {
    if (decrypt)
        for (int row = 0; row < 2; row++) {
            unsigned char four = xtime(xtime(state[row][i] ^ state[row + 2][i]));
            state[row][i] ^= four;
            state[row + 2][i] ^= four;
        }
    unsigned char t = state[0][i];
    unsigned char Tmp = state[0][i] ^ state[1][i] ^ state[2][i] ^ state[3][i];
    state[0][i] ^= xtime(state[0][i] ^ state[1][i]) ^ Tmp;
    state[1][i] ^= xtime(state[1][i] ^ state[2][i]) ^ Tmp;
    state[2][i] ^= xtime(state[2][i] ^ state[3][i]) ^ Tmp;
    state[3][i] ^= xtime(state[3][i] ^ t) ^ Tmp;
}

static void load(unsigned char state[4][4], const unsigned char *block) {
    for (int i = 0; i < BLOCK; i++) state[i % 4][i / 4] = block[i];
}

static void store(unsigned char state[4][4], unsigned char *block) {
    for (int i = 0; i < BLOCK; i++) block[i] = state[i % 4][i / 4];
}

/* One function of one state by this thread. */
static void whole(unsigned char state[4][4], enum function function, int round, int decrypt) {
    switch (function) {
    case SUB_BYTES:
        for (int i = 0; i < 4; i++) sub_row(state, i, decrypt ? inverse_sbox : sbox);
        break;
    case SHIFT_ROWS:
        for (int i = 0; i < 2; i++) shift_section(state, i, decrypt);
        break;
    case MIX_COLUMNS:
        for (int i = 0; i < 4; i++) mix_column(state, i, decrypt);
        break;
    default:
        for (int i = 0; i < BLOCK; i++) state[i % 4][i / 4] ^= round_keys[round][i];
    }
}

/* The same by a team of threads, which it gathers and lets go: the paper's construct. `nowait` leaves the barrier to the end of
 * the parallel region, which has one, so that a thread's own time ends before it. */
#define LAP(function) if (watch) { struct laps *own = &laps[omp_get_thread_num()]; \
    own->seconds[function] += now() - start; own->counts[function]++; }

static void team(unsigned char state[4][4], enum function function, int round, int decrypt, int watch) {
    switch (function) {
    case SUB_BYTES:
#pragma omp parallel
    {
        double start = watch ? now() : 0;
#pragma omp for nowait
        for (int i = 0; i < 4; i++) sub_row(state, i, decrypt ? inverse_sbox : sbox);
        LAP(SUB_BYTES)
    }
        break;
    case SHIFT_ROWS:
#pragma omp parallel
    {
        double start = watch ? now() : 0;
#pragma omp sections nowait
        {
#pragma omp section
            shift_section(state, 0, decrypt);
#pragma omp section
            shift_section(state, 1, decrypt);
        }
        LAP(SHIFT_ROWS)
    }
        break;
    case MIX_COLUMNS:
#pragma omp parallel
    {
        double start = watch ? now() : 0;
#pragma omp for nowait
        for (int i = 0; i < 4; i++) mix_column(state, i, decrypt);
        LAP(MIX_COLUMNS)
    }
        break;
    default: {
        double start = watch ? now() : 0;
        whole(state, function, round, decrypt);
        LAP(ADD_ROUND_KEY)
    }
    }
}

/* The steps of a block, in either direction. */
static struct step {
    enum function function;
    int round;
} steps[4 * ROUNDS];

static void make_steps(int decrypt) {
    static const enum function orders[2][4] = {{SUB_BYTES, SHIFT_ROWS, MIX_COLUMNS, ADD_ROUND_KEY},
                                               {SHIFT_ROWS, SUB_BYTES, ADD_ROUND_KEY, MIX_COLUMNS}};
    int count = 0;
    steps[count++] = (struct step){ADD_ROUND_KEY, decrypt ? ROUNDS : 0};
    for (int i = 1; i <= ROUNDS; i++)
        for (int j = 0; j < 4; j++)
            if (i < ROUNDS || orders[decrypt][j] != MIX_COLUMNS)
                steps[count++] = (struct step){orders[decrypt][j], decrypt ? ROUNDS - i : i};
}

static inline void one_block(unsigned char *block, int decrypt) {
    unsigned char state[4][4];
    load(state, block);
    whole(state, ADD_ROUND_KEY, decrypt ? ROUNDS : 0, decrypt);
    for (int i = 1; i <= ROUNDS; i++) {
        if (decrypt) {
            whole(state, SHIFT_ROWS, 0, 1);
            whole(state, SUB_BYTES, 0, 1);
            whole(state, ADD_ROUND_KEY, ROUNDS - i, 1);
            if (i < ROUNDS) whole(state, MIX_COLUMNS, 0, 1);
        } else {
            whole(state, SUB_BYTES, 0, 0);
            whole(state, SHIFT_ROWS, 0, 0);
            if (i < ROUNDS) whole(state, MIX_COLUMNS, 0, 0);
            whole(state, ADD_ROUND_KEY, i, 0);
        }
    }
    store(state, block);
}

/* Blocks that go through each function together, so that the clock is read once for all of them. */
static void group(unsigned char *data, int used, int decrypt) {
    static _Thread_local unsigned char states[TOGETHER][4][4];
    for (int i = 0; i < used; i++) load(states[i], data + BLOCK * i);
    for (int place = 0; place < 4 * ROUNDS; place++) {
        int watch = 1;
        double start = now();
        for (int i = 0; i < used; i++) whole(states[i], steps[place].function, steps[place].round, decrypt);
        LAP(steps[place].function)
    }
    for (int i = 0; i < used; i++) store(states[i], data + BLOCK * i);
}

static void encrypt(const char *way, unsigned char *data, long blocks, int decrypt, int watch) {
    if (!strcmp(way, "rows")) {
        for (long b = 0; b < blocks; b++) {
            unsigned char state[4][4];
            load(state, data + BLOCK * b);
            for (int place = 0; place < 4 * ROUNDS; place++)
                team(state, steps[place].function, steps[place].round, decrypt, watch);
            store(state, data + BLOCK * b);
        }
    } else if (watch) {
        long groups = (blocks + TOGETHER - 1) / TOGETHER;
#pragma omp parallel for schedule(static) if (!strcmp(way, "blocks"))
        for (long g = 0; g < groups; g++) {
            long left = blocks - TOGETHER * g;
            group(data + BLOCK * TOGETHER * g, (int)(left < TOGETHER ? left : TOGETHER), decrypt);
        }
    } else if (!strcmp(way, "blocks")) {
#pragma omp parallel for schedule(static)
        for (long b = 0; b < blocks; b++) one_block(data + BLOCK * b, decrypt);
    } else {
        for (long b = 0; b < blocks; b++) one_block(data + BLOCK * b, decrypt);
    }
}

/* The paper's Table 2 as it stands: `temp` is shared by the two sections. How many of so many states come out wrong; `volatile`
 * only keeps the compiler from taking `temp` for a thread's own. */
static long race(long rounds) {
    long wrong = 0;
    for (long i = 0; i < rounds; i++) {
        unsigned char state[4][4], expected[4][4];
        volatile unsigned char temp;
        for (int j = 0; j < BLOCK; j++) state[j % 4][j / 4] = expected[j % 4][j / 4] = (unsigned char)(j + i);
        whole(expected, SHIFT_ROWS, 0, 0);
#pragma omp parallel shared(temp)
#pragma omp sections
        {
#pragma omp section
            {
                temp = state[1][0];
                state[1][0] = state[1][1];
                state[1][1] = state[1][2];
                state[1][2] = state[1][3];
                state[1][3] = temp;
                temp = state[2][0];
                state[2][0] = state[2][2];
                state[2][2] = temp;
            }
#pragma omp section
            {
                temp = state[2][1];
                state[2][1] = state[2][3];
                state[2][3] = temp;
                temp = state[3][0];
                state[3][0] = state[3][3];
                state[3][3] = state[3][2];
                state[3][2] = state[3][1];
                state[3][1] = temp;
            }
        }
        wrong += memcmp(state, expected, sizeof state) != 0;
    }
    return wrong;
}

static int fail(const char *what) {
    fprintf(stderr, "openmp: %s\n", what);
    return 1;
}

int main(int count, char **arguments) {
    make_tables();
    if (count == 3 && !strcmp(arguments[1], "race")) {
        omp_set_dynamic(0);
        omp_set_num_threads(2);
        printf("{\"wrong\": %ld}\n", race(atol(arguments[2])));
        return 0;
    }
    if (count != 8 || strlen(arguments[3]) != 2 * BLOCK) return fail("wrong use");
    const char *way = arguments[1];
    int decrypt = !strcmp(arguments[2], "decrypt"), threads = atoi(arguments[4]), watch = atoi(arguments[5]) != 0;
    if (threads < 1 || threads > MOST_THREADS) return fail("too many threads");
    unsigned char key[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        unsigned byte;
        if (sscanf(arguments[3] + 2 * i, "%2x", &byte) != 1) return fail("no key");
        key[i] = (unsigned char)byte;
    }
    expand_key(key);
    make_steps(decrypt);

    FILE *file = fopen(arguments[6], "rb");
    if (!file || fseek(file, 0, SEEK_END)) return fail("no input");
    long bytes = ftell(file);
    if (bytes < 0 || bytes % BLOCK) return fail("a part of a block");
    rewind(file);
    unsigned char *data = malloc((size_t)bytes + 1);
    if (!data || fread(data, 1, (size_t)bytes, file) != (size_t)bytes) return fail("cannot read");
    fclose(file);

    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    double reading = 1;
    for (int i = 0; i < 10; i++) {
        double start = now(), last = start;
        for (int j = 0; j < 1000; j++) last = now();
        if ((last - start) / 1000 < reading) reading = (last - start) / 1000;
    }

    double busy[MOST_THREADS] = {0}, busy_before = now_of(CLOCK_THREAD_CPUTIME_ID), start = now();
    encrypt(way, data, bytes / BLOCK, decrypt, watch);
    double seconds = now() - start;
    /* The team's other threads began in the time that was measured. */
    if (!strcmp(way, "plain")) threads = 1, busy[0] = now_of(CLOCK_THREAD_CPUTIME_ID);
    else {
#pragma omp parallel
        busy[omp_get_thread_num()] = now_of(CLOCK_THREAD_CPUTIME_ID);
    }
    busy[0] -= busy_before;

    file = fopen(arguments[7], "wb");
    if (!file || fwrite(data, 1, (size_t)bytes, file) != (size_t)bytes || fclose(file)) return fail("cannot write");
    free(data);

    double totals[FUNCTIONS] = {0};
    long readings = 0;
    for (int thread = 0; thread < MOST_THREADS; thread++)
        for (int i = 0; i < FUNCTIONS; i++) {
            /* Of the two readings of a lap about one is between them. */
            totals[i] += laps[thread].seconds[i] - reading * (double)laps[thread].counts[i];
            readings += 2 * laps[thread].counts[i];
        }
    printf("{\"seconds\": %.9f, \"busy\": [", seconds);
    for (int i = 0; i < threads; i++) printf("%s%.9f", i ? ", " : "", busy[i]);
    printf("], \"laps\": [");
    for (int i = 0; i < FUNCTIONS; i++) printf("%s%.9f", i ? ", " : "", totals[i] > 0 ? totals[i] : 0.0);
    printf("], \"readings\": %ld, \"reading\": %.3e}\n", readings, reading);
    return 0;
}
