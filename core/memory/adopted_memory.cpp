#include "memory/adopted_memory.hpp"

#include "memory/buffer_pool.hpp"
#include "stream/stream_progress.hpp"
#include "system/forked.hpp"

namespace concord::detail {

void release(std::unique_ptr<AdoptedMemory> memory) {
    const bool tells_owner = memory->release && !in_forked_child;
    if (tells_owner) {
        while (const auto use = unwaitable_use(*memory->buffer)) {
            if (use->progress->keep(memory, use->until)) return;
        }
        drain(*memory->buffer);
    }
    // The owner frees the memory, so that nothing of a driver may refer to it.
    memory->buffer.reset();
    if (tells_owner) memory->release();
}

void release_all(std::unique_ptr<AdoptedMemory> list) {
    while (list != nullptr) {
        std::unique_ptr<AdoptedMemory> rest = std::move(list->next);
        release(std::move(list));
        list = std::move(rest);
    }
}

}  // namespace concord::detail
