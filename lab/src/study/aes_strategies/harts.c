/* The AES of aes.h on simulated harts with Pthreads, divided by segments, blocks or rows of one state. riscv/firmware/build makes its image,
 * lab/images/aes-harts.elf. The host writes the way and the number of harts into tress_parameters. At tress_result are the blocks, which
 * begin with their number and are encrypted twice.
 */
#include <pthread.h>
#include <tress_runtime.h>

#include "aes.h"

enum { BLOCKS = 16, MOST_HARTS = 4 };
enum way { SEGMENTS, ONE_BY_ONE, TEAMS, ROWS, BARRIERS };

TRESS_REGION_NAME(2, encrypt);

volatile struct {
    char magic[8];
    uint32_t way, harts;
} tress_parameters = {"aeshart1", ROWS, 2};
byte tress_result[BLOCKS][BLOCK];

/* Each in its own cache line, as the barrier is. */
static _Alignas(64) byte state[4][4];
static pthread_barrier_t barrier;
static _Alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int taken;

/* The paper's construct: a team for each function, with a barrier where it begins and where it ends. AddRoundKey is not divided. */
static void team(enum function function, int round, int hart, int harts) {
    if (function == ADD_ROUND_KEY) {
        if (hart == 0) whole(state, function, round, 0);
        return;
    }
    pthread_barrier_wait(&barrier);
    for (int i = hart; i < (function == SHIFT_ROWS ? 2 : 4); i += harts) {
        if (function == SUB_BYTES) sub_row(state, i, sbox);
        else if (function == SHIFT_ROWS) shift_section(state, i, 0);
        else mix_column(state, i, 0);
    }
    pthread_barrier_wait(&barrier);
}

static void by_teams(byte *block, int hart, int harts) {
    const int decrypt = 0;
    if (hart == 0) load(state, block);
#define DO(function, round) team(function, round, hart, harts);
    EACH(DO)
#undef DO
    if (hart == 0) store(state, block);
}

static void shift_row(byte row[4], int by) {
    byte old[4];
    for (int j = 0; j < 4; j++) old[j] = row[j];
    for (int j = 0; j < 4; j++) row[j] = old[(j + by) % 4];
}

/* The fewest barriers that rows allow: two in a round, between the functions of its rows and those of its columns. */
static void by_rows(byte *block, int hart, int harts) {
    for (int i = hart; i < 4; i += harts)
        for (int j = 0; j < 4; j++) state[i][j] = block[i + 4 * j] ^ round_keys[0][i + 4 * j];
    for (int round = 1;; round++) {
        for (int i = hart; i < 4; i += harts) {
            sub_row(state, i, sbox);
            shift_row(state[i], i);
        }
        if (round == ROUNDS) break;
        pthread_barrier_wait(&barrier);
        for (int j = hart; j < 4; j += harts) {
            mix_column(state, j, 0);
            for (int i = 0; i < 4; i++) state[i][j] ^= round_keys[round][i + 4 * j];
        }
        pthread_barrier_wait(&barrier);
    }
    for (int i = hart; i < 4; i += harts)
        for (int j = 0; j < 4; j++) block[i + 4 * j] = state[i][j] ^ round_keys[ROUNDS][i + 4 * j];
}

/* The next block of the queue. */
static int take(void) {
    pthread_mutex_lock(&mutex);
    int block = taken++;
    pthread_mutex_unlock(&mutex);
    return block;
}

static void work(enum way way, int hart, int harts) {
    int segment = way == SEGMENTS, first = segment ? BLOCKS * hart / harts : 0, end = segment ? BLOCKS * (hart + 1) / harts : BLOCKS;
    if (way == ONE_BY_ONE)
        for (int b; (b = take()) < BLOCKS;) one_block(tress_result[b], 0);
    else
        for (int b = first; b < end; b++) {
            if (segment) one_block(tress_result[b], 0);
            else if (way == TEAMS) by_teams(tress_result[b], hart, harts);
            else if (way == ROWS) by_rows(tress_result[b], hart, harts);
            else pthread_barrier_wait(&barrier);
        }
}

/* The first pass warms caches and predictors. */
static void *thread(void *number) {
    int hart = (int)(size_t)number, harts = (int)tress_parameters.harts;
    for (int pass = 0; pass < 2; pass++) {
        if (hart == 0) taken = 0;
        pthread_barrier_wait(&barrier);
        if (pass) TRESS_MARK(2);
        work((enum way)tress_parameters.way, hart, harts);
        pthread_barrier_wait(&barrier);
        TRESS_MARK(1);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[MOST_HARTS];
    size_t number, harts = tress_parameters.harts;
    if (tress_parameters.way > BARRIERS || harts < 1 || harts > MOST_HARTS) return 1;
    make_tables();
    expand_key((const byte *)"sixteen byte key");
    for (int b = 0; b < BLOCKS; b++) tress_result[b][0] = (byte)b;
    pthread_barrier_init(&barrier, NULL, (unsigned)harts);
    for (number = 1; number < harts; number++)
        if (pthread_create(&threads[number], NULL, thread, (void *)number)) return 2;
    thread(0);
    for (number = 1; number < harts; number++) pthread_join(threads[number], NULL);
    return 0;
}
