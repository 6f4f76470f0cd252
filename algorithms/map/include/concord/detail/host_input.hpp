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

// Stores elements [first, first + count) of `size` bytes, any number of them, at `to`.
void store_expression(const CompiledExpression& expression, HostIsa isa, const void* const* arguments,
                      u64 first, u64 count, u32 size, void* to);

// Stores the flags of elements [first, first + count) of a select node, 0 or 1. Returns false for another expression.
bool expression_flags(const CompiledExpression& expression, HostIsa isa, const void* const* arguments,
                      u64 first, u64 count, u8* to);

// The last parameter of a kernel that reads an input, made of its HostArguments: the expression, null for a range, and
// its arguments. T: element type.
template <class T>
class HostInput {
  public:
    [[gnu::always_inline]] explicit HostInput(HostArguments rest) : arguments_(rest.list + 1) {
        std::memcpy(&expression_, rest.list[0], sizeof expression_);
        if (expression_ == nullptr) std::memcpy(&range_, rest.list[1], sizeof range_);
    }
    // The elements of a range.
    [[gnu::always_inline]] explicit HostInput(const T* range) : range_(range), arguments_(nullptr) {}
    // Whether the elements are in memory, at range().
    [[gnu::always_inline]] bool is_range() const { return expression_ == nullptr; }
    [[gnu::always_inline]] const T* range() const { return range_; }
    // Elements [first, first + count) of the expression, see expression_block().
    [[gnu::always_inline]] const T* block(HostIsa isa, u64 first, u64 count, void* to = nullptr) const {
        return static_cast<const T*>(expression_block(*expression_, isa, arguments_, first, count, to));
    }
    // Stores elements of the expression, see store_expression().
    void store(HostIsa isa, u64 first, u64 count, u32 size, void* to) const {
        store_expression(*expression_, isa, arguments_, first, count, size, to);
    }
    // Flags of these elements, see expression_flags(). block() keeps them.
    [[gnu::always_inline]] bool flags(HostIsa isa, u64 first, u64 count, u8* to) const {
        return expression_flags(*expression_, isa, arguments_, first, count, to);
    }

  private:
    const CompiledExpression* expression_ = nullptr;
    const T* range_ = nullptr;
    const void* const* arguments_;
};

}  // namespace host
}  // namespace concord::detail
