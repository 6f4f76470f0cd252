#pragma once
// The input of a host kernel: a range, or an expression that is computed block by block. Parallel source: input.kernel.

#include <concord/host_kernel.hpp>

#include <cstddef>
#include <cstring>

namespace concord::detail {

struct CompiledExpression;

namespace host {

// Elements of a block.
inline constexpr u64 block_length = 512;

// Returns elements [first, first + count) of the expression, at most a block. They are in a range, in `to` if that is
// not null, or in memory of the thread, which the next call uses again.
const void* expression_block(const CompiledExpression& expression, HostIsa isa, const void* const* arguments,
                             u64 first, u64 count, void* to = nullptr);

// The last parameter of a kernel that reads an input, made of its HostArguments: the expression, null for a range, and
// its arguments. T: element type.
template <class T>
class HostInput {
  public:
    [[gnu::always_inline]] explicit HostInput(HostArguments rest) : arguments_(rest.list + 1) {
        std::memcpy(&expression_, rest.list[0], sizeof expression_);
        if (expression_ == nullptr) std::memcpy(&range_, rest.list[1], sizeof range_);
    }
    // Whether the elements are in memory, at range().
    [[gnu::always_inline]] bool is_range() const { return expression_ == nullptr; }
    [[gnu::always_inline]] const T* range() const { return range_; }
    // Elements [first, first + count) of the expression, see expression_block().
    [[gnu::always_inline]] const T* block(HostIsa isa, u64 first, u64 count, void* to = nullptr) const {
        return static_cast<const T*>(expression_block(*expression_, isa, arguments_, first, count, to));
    }

  private:
    const CompiledExpression* expression_ = nullptr;
    const T* range_ = nullptr;
    const void* const* arguments_;
};

}  // namespace host
}  // namespace concord::detail
