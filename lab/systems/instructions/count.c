/* A plugin for QEMU's user mode that counts the guest's instructions. The guest reads the count in the first eight
 * bytes of a file. The interface is that of QEMU 4.2 and later (docs/devel/tcg-plugins.rst). No Debian package has its
 * header, so the declarations that this file needs are below.
 *
 *   qemu-aarch64 -plugin ./count.so,count=COUNT PROGRAM... COUNT
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op, void *at, uint64_t add);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t *count;

/* Called when a block of code is translated: each run of the block adds its number of instructions. */
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, count, qemu_plugin_tb_n_insns(tb));
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "count=", 6) != 0) {
        fprintf(stderr, "count: use count=PATH\n");
        return 1;
    }
    int file = open(argv[0] + 6, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *count) != 0) {
        perror(argv[0] + 6);
        return 1;
    }
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (count == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    *count = 0;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
