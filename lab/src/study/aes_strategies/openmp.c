/* The AES of aes.h with rows, blocks or segments over threads by the paper's construct, OpenMP (Tables 1 to 3, corrected where they are not
 * valid C; openmp.rs says where).
 *
 *   openmp rows|blocks|segments encrypt|decrypt KEY THREADS WATCH INPUT OUTPUT
 *     encrypts or decrypts the file INPUT, whole blocks, into OUTPUT; KEY is 32 hexadecimal digits; with WATCH 1 it reads the clock
 *     around every function. Prints in JSON
 *       seconds   of the encryption, without reading and writing the files
 *       busy      processor seconds of each thread
 *       laps      seconds in SubBytes, ShiftRows, MixColumns, AddRoundKey, and in blocks that are not divided into functions, of all threads,
 *                 without reading the clock
 *       reading   seconds of reading the clock for the laps
 *       together  seconds in which no thread was in a lap, one was, two were at the same time, and so on, of as much of the run as the
 *                 first KEPT laps of each thread cover; without WATCH empty
 *   openmp micro THREADS
 *     prints the seconds of each function on one state, of the key schedule, of a barrier of OpenMP, of an empty parallel region, and, where
 *     the system has one, of a barrier of Pthreads
 *   openmp race STATES
 *     prints how many states the paper's Table 2, exactly as printed, encrypts wrongly
 *
 * Compiled with COUNT, it prints the operations that the functions count on 1, 2 and 4 cores instead.
 */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aes.h"

enum { MOST_THREADS = 256, TOGETHER = 64, CALLS = 20000, MEETINGS = 50, KEPT = 1 << 16 };

/* Laps of each thread, in separate cache lines. */
static struct laps {
    double seconds[FUNCTIONS];
    long counts[FUNCTIONS];
    /* Start and end of the first laps. */
    double (*kept)[2];
    long used;
    char pad[64];
} laps[MOST_THREADS];

static double now_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double now(void) { return now_of(CLOCK_MONOTONIC); }

#define START double start = watch ? now() : 0;
#define LAP(function)                                                                                                  \
    if (watch) {                                                                                                       \
        struct laps *own = &laps[omp_get_thread_num()];                                                                \
        double end = now();                                                                                            \
        own->seconds[function] += end - start;                                                                         \
        own->counts[function]++;                                                                                       \
        if (own->used < KEPT) own->kept[own->used][0] = start, own->kept[own->used++][1] = end;                        \
    }

/* One function of one state, on a team of threads that is created for it: the paper's construct. `nowait` leaves the barrier to the end of the
 * region, so that a lap does not include waiting. */
static void team(byte state[4][4], enum function function, int round, int decrypt, int watch) {
    switch (function) {
    case SUB_BYTES:
#pragma omp parallel
    {
        START
#pragma omp for nowait
        for (int i = 0; i < 4; i++) sub_row(state, i, decrypt ? inverse_sbox : sbox);
        LAP(SUB_BYTES)
    } break;
    case SHIFT_ROWS:
#pragma omp parallel
    {
        START
#pragma omp sections nowait
        {
#pragma omp section
            shift_section(state, 0, decrypt);
#pragma omp section
            shift_section(state, 1, decrypt);
        }
        LAP(SHIFT_ROWS)
    } break;
    case MIX_COLUMNS:
#pragma omp parallel
    {
        START
#pragma omp for nowait
        for (int i = 0; i < 4; i++) mix_column(state, i, decrypt);
        LAP(MIX_COLUMNS)
    } break;
    default: {
        START
        whole(state, function, round, decrypt);
        LAP(ADD_ROUND_KEY)
    }
    }
}

static void by_team(byte *block, int decrypt, int watch) {
    byte state[4][4];
    load(state, block);
#define DO(function, round) { team(state, function, round, decrypt, watch); }
    EACH(DO)
#undef DO
    store(state, block);
}

/* Processes several blocks with each function in one step, so that the clock is read once for all of them. */
static void group(byte *data, int used, int decrypt) {
    static _Thread_local byte states[TOGETHER][4][4];
    int watch = 1;
    for (int i = 0; i < used; i++) load(states[i], data + BLOCK * i);
#define DO(function, round)                                                                                            \
    {                                                                                                                  \
        START                                                                                                          \
        for (int b = 0; b < used; b++) whole(states[b], function, round, decrypt);                                     \
        LAP(function)                                                                                                  \
    }
    EACH(DO)
#undef DO
    for (int i = 0; i < used; i++) store(states[i], data + BLOCK * i);
}

static void encrypt(char way, byte *data, long blocks, int decrypt, int watch) {
    if (way == 'r') {
        for (long b = 0; b < blocks; b++) by_team(data + BLOCK * b, decrypt, watch);
    } else if (way == 'b') {
#pragma omp parallel for schedule(dynamic, 1)
        for (long b = 0; b < blocks; b++) {
            START
            one_block(data + BLOCK * b, decrypt);
            LAP(WHOLE_BLOCK)
        }
    } else if (watch) {
#pragma omp parallel for schedule(static)
        for (long b = 0; b < blocks; b += TOGETHER)
            group(data + BLOCK * b, (int)(blocks - b < TOGETHER ? blocks - b : TOGETHER), decrypt);
    } else {
#pragma omp parallel for schedule(static)
        for (long b = 0; b < blocks; b++) one_block(data + BLOCK * b, decrypt);
    }
}

/* Adds up the time from `from` to `to` by the number of threads that were in a lap. A lap's two readings of the clock include one. */
static void print_together(int threads, double from, double to, double reading) {
    double together[MOST_THREADS + 1] = {0};
    long next[MOST_THREADS] = {0};
    int inside = 0;
    for (int i = 0; i < threads; i++)
        if (laps[i].used == KEPT && laps[i].kept[KEPT - 1][1] < to) to = laps[i].kept[KEPT - 1][1];
    for (;;) {
        int first = -1;
        double at = to;
        for (int i = 0; i < threads; i++) {
            if (next[i] >= 2 * laps[i].used) continue;
            double *lap = laps[i].kept[next[i] / 2], time = next[i] % 2 ? lap[1] - reading : lap[0];
            if (time < lap[0]) time = lap[0];
            if (time < at) at = time, first = i;
        }
        if (at > from) together[inside] += at - from, from = at;
        if (first < 0) break;
        inside += next[first]++ % 2 ? -1 : 1;
    }
    for (int i = 0; i <= threads; i++) printf("%s%.9f", i ? ", " : "", together[i]);
}

static void micro(int threads) {
    byte state[4][4] = {{0x5a}}, key[BLOCK] = {1};
    double start;
    printf("{\"functions\": [");
/* The next call depends on this one, as in a cipher. */
#define TIME(code, before)                                                                                             \
    start = now();                                                                                                     \
    for (int i = 0; i < CALLS; i++) {                                                                                  \
        __asm__ volatile("" : : "r"(state), "r"(key) : "memory");                                                      \
        code;                                                                                                          \
    }                                                                                                                  \
    printf(before "%.12f", (now() - start) / CALLS);
    TIME(whole(state, SUB_BYTES, 1, 0), "")
    TIME(whole(state, SHIFT_ROWS, 1, 0), ", ")
    TIME(whole(state, MIX_COLUMNS, 1, 0), ", ")
    TIME(whole(state, ADD_ROUND_KEY, 1, 0), ", ")
    TIME(expand_key(key), "], \"schedule\": ")
    /* The first barrier waits for threads that are still starting. */
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp master
        start = now();
        for (int i = 0; i < MEETINGS; i++) {
#pragma omp barrier
        }
#pragma omp master
        printf(", \"barrier\": %.12f", (now() - start) / MEETINGS);
    }
    start = now();
    for (int i = 0; i < MEETINGS; i++) {
#pragma omp parallel
        __asm__ volatile("");
    }
    printf(", \"region\": %.12f", (now() - start) / MEETINGS);
#if defined _POSIX_BARRIERS && _POSIX_BARRIERS > 0
    pthread_barrier_t barrier;
    if (pthread_barrier_init(&barrier, NULL, (unsigned)threads)) exit(1);
#pragma omp parallel
    {
        pthread_barrier_wait(&barrier);
#pragma omp master
        start = now();
        for (int i = 0; i < MEETINGS; i++) pthread_barrier_wait(&barrier);
#pragma omp master
        printf(", \"pthread\": %.12f", (now() - start) / MEETINGS);
    }
    pthread_barrier_destroy(&barrier);
#endif
    puts("}");
}

/* `volatile` only keeps the compiler from making `temp` private to each thread. */
static long race(long states) {
    long wrong = 0;
    for (long i = 0; i < states; i++) {
        byte state[4][4], expected[4][4];
        volatile byte temp;
        for (int j = 0; j < BLOCK; j++) state[j % 4][j / 4] = expected[j % 4][j / 4] = (byte)(j + i);
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

#ifdef COUNT
/* Operations of SubBytes, ShiftRows and MixColumns on the first of 1, 2 and 4 cores. There are two sections for any number of cores. */
static int count(void) {
    byte state[4][4] = {{1}};
    for (int cores = 1; cores <= 4; cores *= 2) {
        int counts[4] = {0};
        operations = 0, sub_rows(state, 4 / cores, sbox), counts[0] = operations;
        operations = 0;
        for (int i = 0; i < (cores == 1 ? 2 : 1); i++) shift_section(state, i, 0);
        counts[1] = operations;
        operations = 0, mix_columns(state, 4 / cores, 0), counts[2] = operations;
        printf("%s[%d, %d, %d]", cores == 1 ? "[" : ", ", counts[0], counts[1], counts[2]);
    }
    puts("]");
    return 0;
}
#endif

static int fail(const char *what) {
    fprintf(stderr, "openmp: %s\n", what);
    return 1;
}

int main(int count_of, char **arguments) {
    make_tables();
#ifdef COUNT
    return count();
#endif
    omp_set_dynamic(0);
    if (count_of == 3) {
        int is_race = !strcmp(arguments[1], "race"), number = atoi(arguments[2]);
        omp_set_num_threads(is_race ? 2 : number);
        if (is_race) printf("%ld\n", race(number));
        else micro(number);
        return 0;
    }
    if (count_of != 8 || strlen(arguments[3]) != 2 * BLOCK) return fail("wrong use");
    int decrypt = !strcmp(arguments[2], "decrypt"), threads = atoi(arguments[4]), watch = atoi(arguments[5]) != 0;
    if (threads < 1 || threads > MOST_THREADS) return fail("too many threads");
    omp_set_num_threads(threads);
    byte key[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        unsigned value;
        if (sscanf(arguments[3] + 2 * i, "%2x", &value) != 1) return fail("no key");
        key[i] = (byte)value;
    }
    expand_key(key);

    FILE *file = fopen(arguments[6], "rb");
    if (!file || fseek(file, 0, SEEK_END)) return fail("no input");
    long bytes = ftell(file);
    if (bytes < 0 || bytes % BLOCK) return fail("a part of a block");
    rewind(file);
    byte *data = malloc((size_t)bytes + 1);
    if (!data || fread(data, 1, (size_t)bytes, file) != (size_t)bytes) return fail("cannot read");
    fclose(file);

    double reading = 1;
    for (int i = 0; i < 10; i++) {
        double start = now(), last = start;
        for (int j = 0; j < 1000; j++) last = now();
        if ((last - start) / 1000 < reading) reading = (last - start) / 1000;
    }

    for (int i = 0; watch && i < threads; i++)
        if (!(laps[i].kept = malloc(KEPT * sizeof *laps[i].kept))) return fail("no memory");
    double busy[MOST_THREADS] = {0}, busy_before = now_of(CLOCK_THREAD_CPUTIME_ID), start = now();
    encrypt(arguments[1][0], data, bytes / BLOCK, decrypt, watch);
    double seconds = now() - start;
    /* The team's other threads started within the measured time. */
#pragma omp parallel
    busy[omp_get_thread_num()] = now_of(CLOCK_THREAD_CPUTIME_ID);
    busy[0] -= busy_before;

    file = fopen(arguments[7], "wb");
    if (!file || fwrite(data, 1, (size_t)bytes, file) != (size_t)bytes || fclose(file)) return fail("cannot write");
    free(data);

    printf("{\"seconds\": %.9f, \"busy\": [", seconds);
    for (int i = 0; i < threads; i++) printf("%s%.9f", i ? ", " : "", busy[i]);
    printf("], \"laps\": [");
    long all = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        double total = 0;
        /* Of the two readings around a lap, the time of about one is included. */
        for (int thread = 0; thread < MOST_THREADS; thread++) {
            total += laps[thread].seconds[i] - reading * (double)laps[thread].counts[i];
            all += 2 * laps[thread].counts[i];
        }
        printf("%s%.9f", i ? ", " : "", total > 0 ? total : 0.0);
    }
    printf("], \"reading\": %.9f, \"together\": [", reading * (double)all);
    if (watch) print_together(threads, start, start + seconds, reading);
    puts("]}");
    return 0;
}
