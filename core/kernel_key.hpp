#pragma once
// The identity of a kernel, computed from all that its specification says.

#include <concord/kernel.hpp>

namespace concord {

ContentHash content_hash(std::string_view bytes);

/// That goes into a key as it is, in bytes.
inline constexpr std::size_t longest_text = 64;

/// Everything that a specification makes of a kernel in one dialect, as bytes: keys are equal only if assemble() gives equal
/// texts, or the host functions are the same. (Of long texts, such as the source, it is their 128-bit hashes that are
/// compared.) Making one takes no memory, and less time than a launch by far.
class KernelKey {
  public:
    KernelKey(const KernelSpec& spec, Dialect dialect);
    KernelKey(const KernelKey&) = delete;
    KernelKey& operator=(const KernelKey&) = delete;

    std::string_view bytes() const { return {room_, size_}; }
    /// Of what tells keys apart most often.
    u64 hash() const { return hash_; }

  private:
    static constexpr std::size_t words = 16 + 2 * Constants::most, texts = 1 + 2 * Constants::most;

    char room_[words * sizeof(u64) + texts * longest_text];
    std::size_t size_ = 0;
    u64 hash_ = 0;
};

}  // namespace concord
