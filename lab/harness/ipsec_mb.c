/* Measures CCM by libipsec-mb 1.3 independently of lab/peers, for bench/independent. It prints a line for each direction
 * of the shape that its argument names, or of all shapes: shape, direction, GB/s. Shapes and layout are
 * those of ../examples/lanes_ccm.rs.
 *
 * Keys are expanded before the clock starts, into one array. Jobs are submitted in bursts without checks, the fastest way of this
 * release for CCM; decryption compares the tags. A run ends with flush_job, because flush_burst 1.3 miscounts a ring that has wrapped. */
#define _POSIX_C_SOURCE 200809L
#include <intel-ipsec-mb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NONCE = 12, TAG = 16, SCHEDULE = 11 * 16, SAMPLES = 31 };
static const double SAMPLE_S = 2e-3;

struct message { uint8_t *data; size_t bytes; const uint8_t *key; uint8_t nonce[16], computed[TAG]; };
struct shape { const char *name; unsigned messages; size_t bytes; int key_each; };

/* Where bytes is 0: 64, 576 and 1500 in a fixed order. */
static const struct shape SHAPES[] = {
    {"32x16384,one-key", 32, 16384, 0}, {"256x1024,key-each", 256, 1024, 1}, {"256x1024,one-key", 256, 1024, 0},
    {"540-mixed,one-key", 540, 0, 0},   {"540-mixed,key-each", 540, 0, 1},   {"64x256,one-key", 64, 256, 0},
    {"256x64,key-each", 256, 64, 1},
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *room(size_t bytes) {
    void *room = NULL;
    if (posix_memalign(&room, 64, bytes)) exit(1);
    return memset(room, 0x33, bytes);
}

/* Processes all messages once. */
static void run(IMB_MGR *manager, int encrypts, struct message *messages, unsigned count) {
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    unsigned submitted = 0, completed = 0;
    while (submitted < count) {
        unsigned left = count - submitted;
        unsigned burst = IMB_GET_NEXT_BURST(manager, left < IMB_MAX_BURST_SIZE ? left : IMB_MAX_BURST_SIZE, jobs);
        for (unsigned i = 0; i < burst; i++) {
            struct message *message = &messages[submitted + i];
            IMB_JOB *job = jobs[i];
            job->cipher_mode = IMB_CIPHER_CCM;
            job->hash_alg = IMB_AUTH_AES_CCM;
            job->cipher_direction = encrypts ? IMB_DIR_ENCRYPT : IMB_DIR_DECRYPT;
            job->chain_order = encrypts ? IMB_ORDER_HASH_CIPHER : IMB_ORDER_CIPHER_HASH;
            job->enc_keys = job->dec_keys = message->key;
            job->key_len_in_bytes = IMB_KEY_128_BYTES;
            job->src = job->dst = message->data;
            job->cipher_start_src_offset_in_bytes = job->hash_start_src_offset_in_bytes = 0;
            job->msg_len_to_cipher_in_bytes = job->msg_len_to_hash_in_bytes = message->bytes;
            job->iv = message->nonce;
            job->iv_len_in_bytes = NONCE;
            job->auth_tag_output = encrypts ? message->data + message->bytes : message->computed;
            job->auth_tag_output_len_in_bytes = TAG;
            job->u.CCM.aad = message->nonce;
            job->u.CCM.aad_len_in_bytes = 0;
        }
        completed += IMB_SUBMIT_BURST_NOCHECK(manager, burst, jobs);
        submitted += burst;
    }
    while (IMB_FLUSH_JOB(manager)) completed++;
    unsigned wrong = completed != count;
    for (unsigned i = 0; !encrypts && i < count; i++)
        wrong |= memcmp(messages[i].computed, messages[i].data + messages[i].bytes, TAG) != 0;
    if (wrong) {
        fprintf(stderr, "libipsec-mb: jobs or tags are wrong\n");
        exit(1);
    }
}

/* Seconds of `runs` runs. Before each decryption, correct tags are made outside the timed part. */
static double timed(IMB_MGR *manager, int encrypts, struct message *messages, unsigned count, unsigned runs) {
    double total = 0, start, reading = 1;
    if (encrypts) {
        start = now();
        for (unsigned i = 0; i < runs; i++) run(manager, 1, messages, count);
        return now() - start;
    }
    for (unsigned i = 0; i < 8; i++) {
        start = now();
        double one = now() - start;
        if (one < reading) reading = one;
    }
    for (unsigned i = 0; i < runs; i++) {
        run(manager, 1, messages, count);
        start = now();
        run(manager, 0, messages, count);
        total += now() - start - reading;
    }
    return total;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(IMB_MGR *manager, const struct shape *shape) {
    unsigned count = shape->messages, keys = shape->key_each ? count : 1;
    struct message *messages = room(count * sizeof *messages);
    uint8_t *schedules = room((size_t)keys * SCHEDULE), unused[SCHEDULE] __attribute__((aligned(16)));
    for (unsigned key = 0; key < keys; key++) {
        uint8_t bytes[16];
        for (unsigned i = 0; i < 16; i++) bytes[i] = (uint8_t)(key * 37 + i * 11 + 1);
        IMB_AES_KEYEXP_128(manager, bytes, schedules + (size_t)key * SCHEDULE, unused);
    }
    size_t total = 0, end = 0;
    for (unsigned i = 0; i < count; i++) messages[i].bytes = shape->bytes ? shape->bytes : (size_t[]){64, 576, 1500}[i % 3];
    uint64_t state = 1;
    for (unsigned last = count - 1; last > 0 && !shape->bytes; last--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        unsigned other = (unsigned)(state >> 33) % (last + 1);
        size_t bytes = messages[last].bytes;
        messages[last].bytes = messages[other].bytes;
        messages[other].bytes = bytes;
    }
    for (unsigned i = 0; i < count; i++) total += messages[i].bytes;
    uint8_t *buffer = room(total + (size_t)count * TAG);
    for (unsigned i = 0; i < count; i++) {
        struct message *message = &messages[i];
        message->data = buffer + end;
        end += message->bytes + TAG;
        message->key = schedules + (size_t)(i % keys) * SCHEDULE;
        memset(message->nonce, 0x5a, NONCE);
        for (unsigned byte = 4; byte < NONCE; byte++) message->nonce[byte] = (uint8_t)((uint64_t)i >> 8 * (11 - byte));
    }
    for (int encrypts = 1; encrypts >= 0; encrypts--) {
        double best = 1, rates[SAMPLES];
        for (unsigned i = 0; i < 20; i++) {
            double one = timed(manager, encrypts, messages, count, 1);
            if (one > 0 && one < best) best = one;
        }
        unsigned runs = (unsigned)(SAMPLE_S / best) + 1;
        for (unsigned i = 0; i < SAMPLES; i++)
            rates[i] = 1e-9 * (double)total * runs / timed(manager, encrypts, messages, count, runs);
        qsort(rates, SAMPLES, sizeof *rates, by_value);
        printf("%s %s %.4f\n", shape->name, encrypts ? "encrypt" : "decrypt", rates[SAMPLES / 2]);
    }
    free(buffer);
    free(schedules);
    free(messages);
}

int main(int count, char **arguments) {
    IMB_MGR *manager = alloc_mb_mgr(0);
    if (!manager) return 1;
    init_mb_mgr_auto(manager, NULL);
    for (unsigned i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
        if (count < 2 || !strcmp(arguments[1], SHAPES[i].name)) measure(manager, &SHAPES[i]);
    free_mb_mgr(manager);
    return 0;
}
