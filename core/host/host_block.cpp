#include <concord/internal/host_block.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>

namespace concord::detail {
namespace {

constexpr u64 smallest_mapping = u64{1} << 20;
constexpr u64 alignment = 128;

// Avoids 4K aliasing: if two addresses agree in their low 12 to 20 bits, a CPU's loads wait for unrelated stores. Large
// mappings all begin on a page, so that each block begins at another offset. The 32 offsets differ modulo a page.
constexpr u64 stagger_step = 11 * alignment;
constexpr u64 stagger_steps = 32;

u64 stagger() {
    static std::atomic<u64> next = 0;
    return next++ % stagger_steps * stagger_step;
}

}  // namespace

HostBlock::HostBlock(u64 bytes) {
    if (bytes < smallest_mapping) {
        base_ = static_cast<std::byte*>(
            std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
    } else if (bytes < u64{1} << 62) {
        const u64 size = bytes + stagger_steps * stagger_step;
        void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapping == MAP_FAILED) return;
        madvise(mapping, size, MADV_HUGEPAGE);
        mapping_ = mapping;
        mapped_ = size;
        base_ = static_cast<std::byte*>(mapping) + stagger();
    }
}

HostBlock::~HostBlock() {
    if (mapping_ != nullptr) {
        munmap(mapping_, mapped_);
    } else {
        std::free(base_);
    }
}

}  // namespace concord::detail
