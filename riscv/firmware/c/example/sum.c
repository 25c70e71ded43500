/* Each hart adds up its part of a sum. The harts meet at a barrier, and hart 0 prints the result. */
#include "tress_runtime.h"

#define HARTS 2
#define LAST 1000

TRESS_REGION_NAME(2, sum);

static size_t parts[HARTS];
static size_t totals[HARTS];
static tress_barrier barrier;

static void work(size_t hart) {
    TRESS_MARK(2);
    for (size_t number = hart + 1; number <= LAST; number += HARTS)
        parts[hart] += number;
    tress_barrier_wait(&barrier, HARTS);
    for (size_t other = 0; other < HARTS; other++)
        totals[hart] += parts[other];
    TRESS_MARK(1);
}

int main(void) {
    tress_spawn(1, work, 1);
    work(0);
    tress_join(1);
    tress_print("sum: ");
    tress_print_number(totals[0]);
    tress_print("\n");
    return totals[0] == LAST * (LAST + 1) / 2 && totals[1] == totals[0] ? 0 : 1;
}
