/* Compares AES in CCM, CBC, CTR and ECB with OpenSSL's libcrypto, on random keys, lengths and data, in both directions. dlopen loads
 * libcrypto, so that the test needs none of its headers. */
#include <dlfcn.h>

#include "check.h"

typedef struct evp_ctx evp_ctx;
typedef struct evp_cipher evp_cipher;

static evp_ctx *(*ctx_new)(void);
static void (*ctx_free)(evp_ctx *);
static int (*ctx_ctrl)(evp_ctx *, int, int, void *);
static int (*init)(evp_ctx *, const evp_cipher *, void *, const uint8_t *, const uint8_t *, int);
static int (*update)(evp_ctx *, uint8_t *, int *, const uint8_t *, int);
static int (*no_padding)(evp_ctx *, int);

/* EVP_CTRL_AEAD_SET_IVLEN, _GET_TAG, _SET_TAG of openssl/evp.h. */
enum { SET_IV = 9, GET_TAG = 16, SET_TAG = 17 };

static void *library;

static void find(void *function, const char *name) {
  void *found = dlsym(library, name);
  CHECK(found != NULL);
  memcpy(function, &found, sizeof found);
}

static const evp_cipher *cipher_of(const char *format, size_t key_length) {
  char name[32];
  const evp_cipher *(*get)(void);
  snprintf(name, sizeof name, format, (int)(8 * key_length));
  find(&get, name);
  return get();
}

struct message {
  uint8_t key[32], nonce[16], *aad, *plain, *sealed, tag[16];
  size_t key_length, nonce_length, aad_length, length, tag_length;
};

/* OpenSSL's CCM. */
static int ccm(const struct message *m, int encrypt, const uint8_t *in, uint8_t *out, uint8_t *tag) {
  evp_ctx *ctx = ctx_new();
  int n;
  CHECK(init(ctx, cipher_of("EVP_aes_%d_ccm", m->key_length), NULL, NULL, NULL, encrypt) == 1);
  CHECK(ctx_ctrl(ctx, SET_IV, (int)m->nonce_length, NULL) == 1);
  CHECK(ctx_ctrl(ctx, SET_TAG, (int)m->tag_length, encrypt ? NULL : tag) == 1);
  CHECK(init(ctx, NULL, NULL, m->key, m->nonce, encrypt) == 1);
  CHECK(update(ctx, NULL, &n, NULL, (int)m->length) == 1);
  if (m->aad_length) CHECK(update(ctx, NULL, &n, m->aad, (int)m->aad_length) == 1);
  int good = update(ctx, out, &n, in, (int)m->length);
  if (encrypt) CHECK(good == 1 && ctx_ctrl(ctx, GET_TAG, (int)m->tag_length, tag) == 1);
  ctx_free(ctx);
  return good == 1;
}

/* OpenSSL's CBC without padding, or CTR. */
static void unauthenticated(const char *mode, const struct message *m, int encrypt, const uint8_t *in, uint8_t *out, size_t length) {
  evp_ctx *ctx = ctx_new();
  int n;
  CHECK(init(ctx, cipher_of(mode, m->key_length), NULL, m->key, m->nonce, encrypt) == 1);
  CHECK(no_padding(ctx, 0) == 1 && update(ctx, out, &n, in, (int)length) == 1 && (size_t)n == length);
  ctx_free(ctx);
}

enum { MESSAGES = 600, MOST = 3000 };

int main(void) {
  library = dlopen("libcrypto.so.3", RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "peer: libcrypto.so.3 not found\n");
    return 1;
  }
  find(&ctx_new, "EVP_CIPHER_CTX_new"), find(&ctx_free, "EVP_CIPHER_CTX_free"), find(&ctx_ctrl, "EVP_CIPHER_CTX_ctrl");
  find(&init, "EVP_CipherInit_ex"), find(&update, "EVP_CipherUpdate"), find(&no_padding, "EVP_CIPHER_CTX_set_padding");

  uint64_t state = 4;
  struct message *messages = calloc(MESSAGES, sizeof *messages);
  tress_ccm_job *jobs = calloc(MESSAGES, sizeof *jobs);
  CHECK(messages != NULL && jobs != NULL);
  for (int i = 0; i < MESSAGES; i++) {
    struct message *m = &messages[i];
    char name[16];
    tress_cipher *c;
    m->key_length = 16 + 8 * (next_number(&state) % 3);
    m->nonce_length = 7 + next_number(&state) % 7;
    m->tag_length = 4 + 2 * (next_number(&state) % 7);
    m->aad_length = next_number(&state) % 60;
    m->length = 1 + next_number(&state) % (i % 3 ? 200 : MOST);
    m->aad = allocate(m->aad_length), m->plain = allocate(m->length), m->sealed = allocate(m->length);
    fill(&state, m->key, sizeof m->key), fill(&state, m->nonce, sizeof m->nonce);
    fill(&state, m->aad, m->aad_length), fill(&state, m->plain, m->length);
    snprintf(name, sizeof name, "aes-%d", (int)(8 * m->key_length));
    OK(tress_cipher_new(name, m->key, m->key_length, &c));
    tress_ccm_job job = {c,        m->nonce,  m->nonce_length, m->aad, m->aad_length, m->plain,
                         m->sealed, m->length, m->tag,          m->tag, m->tag_length, 0, TRESS_FAULT};
    jobs[i] = job;
  }
  OK(tress_ccm_encrypt_jobs(jobs, MESSAGES, NULL));
  for (int i = 0; i < MESSAGES; i++) {
    struct message *m = &messages[i];
    const tress_cipher *c = jobs[i].cipher;
    uint8_t *theirs = allocate(m->length), tag[16];
    /* OpenSSL decrypts the output of the lanes. */
    CHECK(ccm(m, 0, m->sealed, theirs, m->tag) && same(theirs, m->plain, m->length));
    /* Tress decrypts the output of OpenSSL. */
    CHECK(ccm(m, 1, m->plain, theirs, tag));
    CHECK(same(theirs, m->sealed, m->length) && same(tag, m->tag, m->tag_length));
    OK(tress_ccm_decrypt(c, m->nonce, m->nonce_length, m->aad, m->aad_length, theirs, theirs, m->length, tag, m->tag_length));
    CHECK(same(theirs, m->plain, m->length));

    size_t whole = m->length / 16 * 16;
    uint8_t *ours = allocate(m->length);
    unauthenticated("EVP_aes_%d_ctr", m, 1, m->plain, theirs, m->length);
    OK(tress_ctr(c, m->nonce, 16, m->plain, ours, m->length));
    CHECK(same(ours, theirs, m->length));
    unauthenticated("EVP_aes_%d_cbc", m, 1, m->plain, theirs, whole);
    OK(tress_cbc_encrypt(c, m->nonce, 16, m->plain, ours, whole));
    CHECK(same(ours, theirs, whole));
    OK(tress_cbc_decrypt(c, m->nonce, 16, theirs, ours, whole));
    CHECK(same(ours, m->plain, whole));
    unauthenticated("EVP_aes_%d_ecb", m, 0, m->plain, theirs, whole);
    OK(tress_ecb_decrypt(c, m->plain, ours, whole));
    CHECK(same(ours, theirs, whole));
    free(theirs), free(ours);
  }
  /* One bit of each tag changed: every job is refused. */
  size_t failed;
  for (int i = 0; i < MESSAGES; i++) {
    messages[i].tag[i % (int)messages[i].tag_length] ^= (uint8_t)(1 << i % 8);
    jobs[i].input = jobs[i].output;
  }
  EXPECT(TRESS_JOBS, tress_ccm_decrypt_jobs(jobs, MESSAGES, &failed));
  CHECK(failed == MESSAGES);
  for (int i = 0; i < MESSAGES; i++) {
    tress_cipher_free((tress_cipher *)jobs[i].cipher);
    free(messages[i].aad), free(messages[i].plain), free(messages[i].sealed);
  }
  free(messages), free(jobs);
  dlclose(library);
  printf("%d messages of random lengths, keys and nonces, both ways\n", MESSAGES);
  return 0;
}
