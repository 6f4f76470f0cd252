#pragma once
// The identity of a kernel, computed from all that its specification says.

#include <concord/kernel.hpp>

namespace concord {

ContentHash content_hash(std::string_view bytes);

/// Everything that a specification makes of a kernel in one dialect, as bytes: two keys have equal bytes only if
/// assemble() gives equal texts, or the host functions are the same. Making one takes no memory but for very long
/// operators.
class KernelKey {
  public:
    KernelKey(const KernelSpec& spec, Dialect dialect);
    KernelKey(const KernelKey&) = delete;
    KernelKey& operator=(const KernelKey&) = delete;

    std::string_view bytes() const { return more_.empty() ? std::string_view(room_, size_) : more_; }
    u64 hash() const { return content_hash(bytes()).low; }

  private:
    template <class T>
    void add(const T& value);
    void add(std::string_view text);
    void add(const Operator& op);
    char* grow(std::size_t bytes);

    char room_[1024];
    std::size_t size_ = 0;
    std::string more_;  // in place of room_, if that is too small
};

}  // namespace concord
