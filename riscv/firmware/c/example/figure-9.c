/* RC6 in ECB on P processors with Pthreads, in the frame of Fig. 9 of Chung, Chung and Sohn, "Exploiting Parallelism in
   the Block Encryption Algorithms RC6 and Rijndael" (2000): main as printed, in the C of its time (-std=gnu89), where
   the figure has dots our threads. RC6-32/20 as in "The RC6 Block Cipher" (version 1.1, 1998), sections 2.2 and 2.3. */
#include <pthread.h>
#include <tress_runtime.h>

#define P 4
#define BLOCKS 256
#define ROUNDS 20
#define ROTATE(x, n) ((x) << ((n) & 31) | (x) >> (-(n) & 31))

TRESS_REGION_NAME(2, encrypt);

/* The statements of the figure. */
#define smp_init pthread_barrier_init(&barrier, NULL, P)
#define read_setup expand_key()

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t key[4], S[2 * ROUNDS + 4];
static uint32_t plain[BLOCKS][4], cipher[BLOCKS][4], expected[4];
static unsigned done, serial;

static void expand_key(void) {
    uint32_t a = 0, b = 0, i = 0, j = 0, step;
    S[0] = 0xb7e15163;
    for (i = 1; i < 2 * ROUNDS + 4; i++)
        S[i] = S[i - 1] + 0x9e3779b9;
    for (step = 0, i = 0; step < 3 * (2 * ROUNDS + 4); step++) {
        a = S[i] = ROTATE(S[i] + a + b, 3);
        b = key[j] = ROTATE(key[j] + a + b, a + b);
        i = (i + 1) % (2 * ROUNDS + 4);
        j = (j + 1) % 4;
    }
}

static void encrypt(const uint32_t in[4], uint32_t out[4]) {
    uint32_t a = in[0], b = in[1] + S[0], c = in[2], d = in[3] + S[1], i;
    for (i = 1; i <= ROUNDS; i++) {
        uint32_t t = ROTATE(b * (2 * b + 1), 5), u = ROTATE(d * (2 * d + 1), 5), first;
        first = ROTATE(a ^ t, u) + S[2 * i];
        c = ROTATE(c ^ u, t) + S[2 * i + 1];
        a = b, b = c, c = d, d = first;
    }
    out[0] = a + S[2 * ROUNDS + 2], out[1] = b, out[2] = c + S[2 * ROUNDS + 3], out[3] = d;
}

/* Encrypts every P-th block, and counts it. */
static void *thread(void *number) {
    size_t block;
    pthread_barrier_wait(&barrier);
    TRESS_MARK(2);
    for (block = (size_t)number; block < BLOCKS; block += P) {
        encrypt(plain[block], cipher[block]);
        pthread_mutex_lock(&mutex);
        done++;
        pthread_mutex_unlock(&mutex);
    }
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        serial++;
    TRESS_MARK(1);
    return (void *)tress_hart();
}

static int is_right(void) {
    /* The cipher of zeros under a key of zeros, from the appendix of the submission. */
    static const uint32_t zeros[4] = {0x36a5c38f, 0x78f7b156, 0x4edf29c1, 0x1ea44898};
    size_t block, word;
    for (block = 0; block < BLOCKS; block++) {
        encrypt(plain[block], expected);
        for (word = 0; word < 4; word++)
            if (cipher[block][word] != expected[word] || (block == 0 && expected[word] != zeros[word]))
                return 0;
    }
    return 1;
}

/* executed by P GPUs in parallel */
main() {
    smp_init;
    read_setup;
    {
        pthread_t threads[P];
        void *hart;
        size_t number, harts = 0;
        int error;
        for (number = 1; number < BLOCKS; number++)
            plain[number][number % 4] = number * 0x01010101;
        for (number = 1; number < P; number++)
            if ((error = pthread_create(&threads[number], NULL, thread, (void *)number))) {
                tress_print(error == EAGAIN ? "pthread_create: EAGAIN, no hart for a thread\n" : "pthread_create\n");
                return 1;
            }
        thread(0);
        for (number = 1; number < P; number++) {
            if (pthread_join(threads[number], &hart) || pthread_join(threads[number], NULL) != ESRCH)
                return 2;
            harts |= (size_t)1 << (size_t)hart;
        }
        /* Threads ran on harts 1 to P - 1, one of P left the barrier as the serial one, and no count was lost. */
        if (harts != (1 << P) - 2 || serial != 1 || done != BLOCKS || pthread_mutex_trylock(&mutex) ||
            pthread_mutex_trylock(&mutex) != EBUSY || pthread_barrier_init(&barrier, NULL, 0) != EINVAL)
            return 3;
        if (!is_right())
            return 4;
    }
    tress_print_number(P);
    tress_print(" threads: ");
    tress_print_number(BLOCKS);
    tress_print(" blocks\n");
    return 0;
}
