#pragma once
// The words in device memory in which kernels report indices; see internal/index_report.hpp.

#include <concord/internal/index_report.hpp>

#include <atomic>
#include <memory>
#include <vector>

namespace concord::detail {

// The words of a stream or of a recording. Its user's lock guards them.
class IndexReports {
  public:
    static constexpr u64 max_words = 256, word_bytes = sizeof(u32);

    explicit IndexReports(std::shared_ptr<Buffer> memory) : memory(std::move(memory)) {}

    // The argument for the next word. Launches beyond the last word share it.
    KernelArgument next(const IndexCheck& check);
    // The argument for a word that is never read.
    KernelArgument unread() const { return word(0); }

    const std::shared_ptr<Buffer> memory;
    std::vector<IndexCheck> checks;  // of the words that are in use, from word 1 on
    // Whether the words hold no_position once the stream has executed what is in its queue.
    std::atomic<bool> is_clear = false;

  private:
    KernelArgument word(u64 i) const {
        return {.buffer = memory.get(),
                .offset = i * word_bytes,
                .count = 1,
                .element_size = word_bytes,
                .type = ElementType(Type::u32)};
    }
};

// A copy of words to the host that is in the queue.
struct IndexReading {
    u64 number;
    std::shared_ptr<IndexReports> from;
    std::vector<IndexCheck> checks;
    std::vector<u32> positions;

    // Throws invalid_argument if a kernel reported a position.
    void check() const;
};

}  // namespace concord::detail
