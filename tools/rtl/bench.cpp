// Runs an ELF program on the core as RTL. This file has the memory outside the core, which answers one cycle after a request.
//
//   bench PROGRAM.elf [MOST_CYCLES]
//
// A store to 0x10013000 writes a byte to the console. A word stored to REPORT is printed as a number, and 0xffffffff there ends the
// run. The parameters of a program with kernels are set so that it reports there and prints nothing else. The core begins at
// RESET, where a jump to the program is placed. The start code of a HiFive1 Rev B finds its crystal ready.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <vector>

#include "VTop.h"
#include "verilated.h"

namespace {
constexpr uint32_t REPORT = 0x30000000, UART = 0x10013000, CRYSTAL = 0x10008004, RESET = 0x20400000, BASE = 0x10000000, END = 0x80000000;
constexpr uint32_t PAGE = 4096;

[[noreturn]] void die(const char* what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

struct Memory {
    std::unordered_map<uint32_t, std::vector<uint8_t>> pages;
    uint8_t& at(uint32_t address) {
        auto& page = pages[address / PAGE];
        if (page.empty()) page.resize(PAGE);
        return page[address % PAGE];
    }
    uint32_t word(uint32_t address) {
        uint32_t value = 0;
        for (int i = 3; i >= 0; i--) value = value << 8 | at(address + i);
        return value;
    }
};

template <typename T>
T get(const std::vector<uint8_t>& file, size_t offset) {
    if (offset > file.size() || file.size() - offset < sizeof(T)) die("the program ends early");
    T value;
    memcpy(&value, &file[offset], sizeof value);
    return value;
}

std::vector<uint8_t> read_file(const char* path) {
    FILE* in = fopen(path, "rb");
    if (!in) die("cannot open the program");
    std::vector<uint8_t> bytes;
    uint8_t buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;) bytes.insert(bytes.end(), buffer, buffer + n);
    fclose(in);
    return bytes;
}

// See `Parameters` in riscv/firmware/programs/src/bin/kernels.rs.
void ask_for_report(std::vector<uint8_t>& elf) {
    static const char MAGIC[] = "kernels1";
    auto found = std::search(elf.begin(), elf.end(), MAGIC, MAGIC + 8);
    if (elf.end() - found < 24) return;
    const uint32_t report = REPORT, quiet = 1;
    memcpy(&found[16], &report, 4);
    memcpy(&found[20], &quiet, 4);
}

// Loads segments at their load addresses, from which the start code copies data.
void load(const std::vector<uint8_t>& elf, Memory& memory) {
    if (elf.size() < 52 || memcmp(elf.data(), "\177ELF\1\1", 6) != 0 || get<uint16_t>(elf, 18) != 243)
        die("not an ELF program for 32-bit RISC-V");
    auto offset = get<uint32_t>(elf, 28);
    for (int i = 0; i < get<uint16_t>(elf, 44); i++, offset += get<uint16_t>(elf, 42)) {
        if (get<uint32_t>(elf, offset) != 1) continue;
        auto from = get<uint32_t>(elf, offset + 4), to = get<uint32_t>(elf, offset + 12), bytes = get<uint32_t>(elf, offset + 16);
        if (from > elf.size() || bytes > elf.size() - from) die("a segment is not in the file");
        if (bytes && (to < BASE || to >= END || bytes > END - to)) die("a segment is not in memory outside the core");
        for (uint32_t k = 0; k < bytes; k++) memory.at(to + k) = elf[from + k];
    }
    // lui t0, entry; jr t0.
    const uint32_t entry = get<uint32_t>(elf, 24), jump[] = {(entry & 0xfffff000) | 0x2b7, 0x28067};
    if (entry % PAGE) die("the program does not begin with a page");
    if (entry != RESET)
        for (uint32_t k = 0; k < sizeof jump; k++) memory.at(RESET + k) = jump[k / 4] >> 8 * (k % 4);
}

struct Burst {
    uint32_t id, address, beats, bytes;
};
}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) die("usage: bench PROGRAM.elf [MOST_CYCLES]");
    const uint64_t most = argc > 2 ? strtoull(argv[2], nullptr, 10) : 100'000'000;
    Memory memory;
    std::vector<uint8_t> elf = read_file(argv[1]);
    ask_for_report(elf);
    load(elf, memory);

    Verilated::commandArgs(argc, argv);
    VTop top;
    std::deque<Burst> reads, writes;
    std::deque<uint32_t> answers;
    bool ended = false;
    top.reset = 1;
    for (uint64_t cycle = 0; cycle < most + 20 && !ended; cycle++) {
        top.reset = cycle < 20;
        top.clock = 0;
        top.io_ar_ready = 1;
        top.io_aw_ready = 1;
        top.io_w_ready = !writes.empty();
        top.io_r_valid = !reads.empty();
        if (!reads.empty()) {
            const Burst& burst = reads.front();
            top.io_r_bits_id = burst.id;
            // The console always has room.
            const uint32_t word = burst.address & ~3U;
            top.io_r_bits_data = word == UART ? 0 : word == CRYSTAL ? 1U << 31 : memory.word(word);
            top.io_r_bits_resp = 0;
            top.io_r_bits_last = burst.beats == 1;
        }
        top.io_b_valid = !answers.empty();
        top.io_b_bits_id = answers.empty() ? 0 : answers.front();
        top.io_b_bits_resp = 0;
        top.eval();
        // Transfers that happen at the rising edge.
        const bool read = top.io_r_valid && top.io_r_ready, wrote = top.io_w_valid && top.io_w_ready;
        const bool answered = top.io_b_valid && top.io_b_ready;
        if (!top.reset) {
            if (read) {
                Burst& burst = reads.front();
                burst.address += burst.bytes;
                if (--burst.beats == 0) reads.pop_front();
            }
            if (answered) answers.pop_front();
            if (wrote) {
                Burst& burst = writes.front();
                const uint32_t address = burst.address & ~3U;
                for (int i = 0; i < 4; i++)
                    if (top.io_w_bits_strb >> i & 1) memory.at(address + i) = top.io_w_bits_data >> (8 * i);
                if (address == UART) putchar(top.io_w_bits_data & 0xff);
                if (address == REPORT) {
                    if (top.io_w_bits_data == 0xffffffff) ended = true;
                    else printf("%u\n", top.io_w_bits_data);
                }
                burst.address += burst.bytes;
                if (top.io_w_bits_last) {
                    answers.push_back(burst.id);
                    writes.pop_front();
                }
            }
            if (top.io_ar_valid)
                reads.push_back({top.io_ar_bits_id, top.io_ar_bits_addr, top.io_ar_bits_len + 1U, 1U << top.io_ar_bits_size});
            if (top.io_aw_valid)
                writes.push_back({top.io_aw_bits_id, top.io_aw_bits_addr, top.io_aw_bits_len + 1U, 1U << top.io_aw_bits_size});
        }
        top.clock = 1;
        top.eval();
    }
    if (!ended) die("the program did not end");
}
