#pragma once
// The identity of a kernel, computed from all that its specification says.

#include <concord/kernel.hpp>

namespace concord::detail {

/// In one pass, at several bytes a cycle.
ContentHash content_hash(std::string_view bytes);

/// Bytes of a text up to which it goes into a key as it is.
inline constexpr std::size_t longest_text = 64;

/// Everything that a specification makes of a kernel in one dialect, as bytes: keys are equal only if assemble() gives
/// equal texts, or if the host functions are the same. The source, the operator and long texts are compared by 128-bit
/// hashes. Making a key takes no memory, and far less time than a launch.
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

}  // namespace concord::detail
