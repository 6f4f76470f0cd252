#pragma once
// The identity of a kernel, computed from its whole specification.

#include <concord/kernel.hpp>

namespace concord::detail {

// Hashes in one pass, at several bytes per cycle.
ContentHash content_hash(std::string_view bytes);

// The length up to which a key stores a text itself instead of its hash.
inline constexpr std::size_t longest_text = 64;

// The limit of kernels in a device's cache. A program that uses more in turn loads them from the disk cache again.
inline constexpr u64 most_kernels = 1024;

// A specification in one language as bytes. Keys are equal only if assemble() gives equal sources, or if the host
// functions are the same. The source, the operator and long texts enter as 128-bit hashes. Construction allocates
// nothing and takes far less time than a launch.
class KernelKey {
  public:
    KernelKey(const KernelSpec& spec, Dialect dialect);
    KernelKey(const KernelKey&) = delete;
    KernelKey& operator=(const KernelKey&) = delete;

    std::string_view bytes() const { return {room_, size_}; }
    // A hash of the parts that differ most often.
    u64 hash() const { return hash_; }

  private:
    static constexpr std::size_t words = 16 + 2 * Constants::max_count, texts = 1 + 2 * Constants::max_count;

    char room_[words * sizeof(u64) + texts * longest_text];
    std::size_t size_ = 0;
    u64 hash_ = 0;
};

}  // namespace concord::detail
