/* Threads of POSIX (IEEE Std 1003.1) on bare RISC-V harts, for programs that are built as tress_runtime.h says, on
   targets with atomics. No two threads share a hart from pthread_create to pthread_join. A thread waits by
   spinning.

   Limits: 63 threads beside main, and no more than the machine has harts beside main's: it is asked through the CLINT
   at 0x2000000, by each hart's software interrupt. Attributes are ignored. No detaching, cancellation, keys or
   condition variables, and no pthread_exit: a thread ends when its function returns. */
#ifndef TRESS_PTHREAD_H
#define TRESS_PTHREAD_H

#include "tress_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Results of functions that fail; 0 is success. */
#ifndef ESRCH
#define ESRCH 3   /* no such thread */
#define EAGAIN 11 /* all harts of the machine have a thread */
#define EBUSY 16  /* another thread has the mutex */
#define EINVAL 22 /* a barrier of 0 threads */
#endif

/* The number of a hart. */
typedef size_t pthread_t;
typedef int pthread_attr_t;

/* Starts function(argument). The attributes are NULL or ignored. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument);

/* Waits until a thread has returned, and writes its result unless `result` is NULL. */
int pthread_join(pthread_t thread, void **result);

typedef uint32_t pthread_mutex_t;
typedef int pthread_mutexattr_t;
#define PTHREAD_MUTEX_INITIALIZER 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
    (void)attributes;
    *mutex = PTHREAD_MUTEX_INITIALIZER;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex) {
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    return __atomic_exchange_n(mutex, 1, __ATOMIC_ACQUIRE) ? EBUSY : 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex) {
    while (pthread_mutex_trylock(mutex))
        while (__atomic_load_n(mutex, __ATOMIC_RELAXED))
            ;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    __atomic_store_n(mutex, 0, __ATOMIC_RELEASE);
    return 0;
}

typedef struct {
    tress_barrier barrier;
    uint32_t count;
} pthread_barrier_t;
typedef int pthread_barrierattr_t;
/* What pthread_barrier_wait returns to one thread of each round. */
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

static inline int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count) {
    size_t word;
    (void)attributes;
    if (count == 0)
        return EINVAL;
    for (word = 0; word < sizeof barrier->barrier.words / sizeof barrier->barrier.words[0]; word++)
        barrier->barrier.words[word] = 0;
    barrier->count = count;
    return 0;
}

static inline int pthread_barrier_wait(pthread_barrier_t *barrier) {
    return tress_barrier_wait(&barrier->barrier, barrier->count) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

static inline int pthread_barrier_destroy(pthread_barrier_t *barrier) {
    (void)barrier;
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif
