// Expressions on the CPU: blocks of elements, one part after the other.

#include "expression_nodes.hpp"

#include <concord/internal/index_report.hpp>

#include <concord/detail/canonical.hpp>
#include <concord/internal/thread_room.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace concord::detail {
namespace {

// Room for the blocks that an evaluation holds at a time: one for each part, its elements or its indices.
struct BlockRoom {
    alignas(64) std::byte blocks[max_parts][host::block_length * sizeof(u64)];
};

// The indices of a block: consecutive ones from `first` on, or those of a list.
struct Indices {
    u64 first = 0;
    const u64* list = nullptr;
};

// Copies elements of `size` bytes at the indices.
template <class B>
void gather_elements(const void* from, const Indices& at, u64 count, void* to) {
    const B* const x = static_cast<const B*>(from);
    B* const out = static_cast<B*>(to);
    for (u64 i = 0; i < count; ++i)
        out[i] = x[at.list[i]];
}

// Bytes of bool: 1 for any byte but 0.
void normalise(const void* from, u64 count, void* to) {
    const u8* const x = static_cast<const u8*>(from);
    u8* const out = static_cast<u8*>(to);
    for (u64 i = 0; i < count; ++i)
        out[i] = x[i] != 0 ? 1 : 0;
}

// The conversion that convert() documents.
template <class To, class From>
To converted(From x) {
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        using Limits = std::numeric_limits<To>;
        const From above = std::ldexp(From(1), Limits::digits),
                   below = std::is_signed_v<To> ? -above : From(0);
        if (x != x) return 0;
        if (x <= below) return (Limits::min)();
        return x >= above ? (Limits::max)() : static_cast<To>(x);
    } else {
        return canonical(static_cast<To>(x));
    }
}

template <class T>
T value_at(const void* argument) {
    T value;
    std::memcpy(&value, argument, sizeof value);
    return value;
}

class Evaluation {
  public:
    Evaluation(const CompiledExpression& expression, HostIsa isa, const void* const* arguments, u64 count,
               BlockRoom& room)
        : steps_(expression.steps), isa_(isa), arguments_(arguments), count_(count), room_(room) {}

    // The elements of a step at the indices, in a block, in `to` unless that is null, or in a range.
    const void* elements(u32 step, const Indices& at, void* to = nullptr) {
        const BlockStep& s = steps_[step];
        const u32 mark = used_;
        const auto target = [&] { return to != nullptr ? to : room_.blocks[used_++]; };
        switch (s.kind) {
            case ExpressionKind::range: {
                const auto* const range = value_at<const std::byte*>(arguments_[s.argument]);
                const u32 size = size_of(s.type);
                const bool is_bool = is_boolean(s.type);
                if (at.list == nullptr && !is_bool) return range + at.first * size;
                void* const out = target();
                if (at.list == nullptr) {
                    normalise(range + at.first, count_, out);
                    return out;
                }
                visit_size(size, [&](auto bits) { gather_elements<decltype(bits)>(range, at, count_, out); });
                if (is_bool) normalise(out, count_, out);
                return out;
            }
            case ExpressionKind::counting: {
                void* const out = target();
                visit_type(s.type, [&](auto tag) { count_up(tag, s, at, out); });
                return out;
            }
            case ExpressionKind::constant: {
                void* const out = target();
                visit_size(size_of(s.type), [&](auto bits) {
                    using B = decltype(bits);
                    std::fill_n(static_cast<B*>(out), count_, value_at<B>(arguments_[s.argument]));
                });
                return out;
            }
            case ExpressionKind::transform: {
                void* const out = target();
                const void* inputs[max_inputs];
                for (std::size_t i = 0; i < s.inputs.size(); ++i)
                    inputs[i] = elements(s.inputs[i], at);
                transform(s, inputs, out);
                used_ = mark + (to == nullptr ? 1 : 0);
                return out;
            }
            case ExpressionKind::gather: {
                u64* const list = reinterpret_cast<u64*>(room_.blocks[used_++]);
                const u64 size = value_at<u64>(arguments_[s.argument]);
                const void* const index = elements(s.inputs[1], at);
                visit_type(s.input_types[1], [&](auto tag) {
                    using I = typename decltype(tag)::type;
                    if constexpr (std::is_integral_v<I>) {
                        const I* const x = static_cast<const I*>(index);
                        bool in_range = true;
                        for (u64 i = 0; i < count_; ++i) {
                            const u64 n = static_cast<u64>(x[i]);
                            in_range = in_range & (n < size);
                            list[i] = n < size ? n : 0;
                        }
                        if (!in_range && s.reports) report(s, at, x, size);
                    }
                });
                used_ = mark + 1;
                return kept(mark, elements(s.inputs[0], {.list = list}, to), to);
            }
            case ExpressionKind::strided: {
                u64* const list = reinterpret_cast<u64*>(room_.blocks[used_++]);
                const Indices inside = strided(s, at, list);
                return kept(mark, elements(s.inputs[0], inside, to), to);
            }
            case ExpressionKind::convert: {
                void* const out = target();
                const void* const in = elements(s.inputs[0], at);
                convert(s, in, out);
                used_ = mark + (to == nullptr ? 1 : 0);
                return out;
            }
            case ExpressionKind::select:
                return elements(s.inputs[0], at, to);
        }
        return nullptr;
    }

  private:
    template <class F>
    static void visit_size(u32 size, const F& f) {
        switch (size) {
            case 1:
                return f(u8{});
            case 2:
                return f(u16{});
            case 4:
                return f(u32{});
            default:
                return f(u64{});
        }
    }

    // Frees the blocks from `mark` on except the one with the result, which stays where it is.
    const void* kept(u32 mark, const void* result, const void* to) {
        const auto* const begin = room_.blocks[0];
        const auto* const at = static_cast<const std::byte*>(result);
        const bool in_room = result != to && at >= begin && at < begin + sizeof room_.blocks;
        used_ = in_room
                    ? static_cast<u32>((at - begin) / static_cast<std::ptrdiff_t>(sizeof room_.blocks[0])) + 1
                    : mark;
        return result;
    }

    // Reports the indices of a gather that are out of range.
    template <class I>
    void report(const BlockStep& s, const Indices& at, const I* index, u64 size) const {
        u32* const word = value_at<u32*>(arguments_[s.argument + 1]);
        for (u64 i = 0; i < count_; ++i) {
            if (static_cast<u64>(index[i]) >= size)
                report_index(word, at.list != nullptr ? at.list[i] : at.first + i);
        }
    }

    template <class T>
    void count_up(TypeTag<T> /*type*/, const BlockStep& s, const Indices& at, void* to) const {
        using Wide = std::conditional_t<std::is_floating_point_v<T>, T, u64>;  // wraps
        const Wide first = static_cast<Wide>(value_at<T>(arguments_[s.argument])),
                   step = static_cast<Wide>(value_at<T>(arguments_[s.argument + 1]));
        T* const out = static_cast<T*>(to);
        for (u64 i = 0; i < count_; ++i) {
            const u64 index = at.list != nullptr ? at.list[i] : at.first + i;
            out[i] = canonical(static_cast<T>(first + static_cast<Wide>(index) * step));
        }
    }

    void transform(const BlockStep& s, const void* const* inputs, void* out) const {
        const HostKernel::Entry entry = s.kernel.entry(isa_);
        const void* list[max_inputs + 5];
        std::size_t n = 0;
        const Group group{};
        const u64 count = count_;
        const u32 non_temporal = 0;
        if (s.is_flags) {
            const void* const flag_list[] = {&inputs[0], &count, &out, arguments_[s.argument]};
            return entry(group, flag_list);
        }
        for (std::size_t i = 0; i < s.inputs.size(); ++i)
            list[n++] = &inputs[i];
        if (s.is_map && s.inputs.size() == 1) list[n++] = &inputs[0];
        list[n++] = &out;
        list[n++] = &count;
        if (s.is_map) {
            list[n++] = &count;  // the tile
            list[n++] = &non_temporal;
        }
        list[n] = arguments_[s.argument];
        entry(group, list);
    }

    void convert(const BlockStep& s, const void* in, void* out) const {
        const Type from_type = kernel_type(s.input_types[0]);
        if (is_boolean(s.type)) {
            return visit_type(from_type, [&](auto from) {
                using From = typename decltype(from)::type;
                for (u64 i = 0; i < count_; ++i)
                    static_cast<u8*>(out)[i] = static_cast<const From*>(in)[i] != 0 ? 1 : 0;
            });
        }
        visit_type(s.type, [&](auto to) {
            using To = typename decltype(to)::type;
            visit_type(from_type, [&](auto from) {
                using From = typename decltype(from)::type;
                for (u64 i = 0; i < count_; ++i)
                    static_cast<To*>(out)[i] = converted<To>(static_cast<const From*>(in)[i]);
            });
        });
    }

    // The indices of a strided array's elements. Consecutive ones if the block lies in one row of stride 1.
    Indices strided(const BlockStep& s, const Indices& at, u64* list) const {
        struct {
            u64 origin, extent[max_rank], stride[max_rank];
        } layout;
        const std::size_t words = s.rank * sizeof(u64);
        const auto* const bytes = static_cast<const std::byte*>(arguments_[s.argument]);
        std::memcpy(&layout.origin, bytes, sizeof(u64));
        std::memcpy(layout.extent, bytes + sizeof(u64), words);
        std::memcpy(layout.stride, bytes + sizeof(u64) + words, words);
        const u32 last = s.rank - 1;
        const auto index_of = [&](u64 i, u64* digits) {
            u64 sum = layout.origin;
            for (u32 k = last; k > 0; --k) {
                digits[k] = i % layout.extent[k];
                i /= layout.extent[k];
                sum += digits[k] * layout.stride[k];
            }
            digits[0] = i;
            return sum + i * layout.stride[0];
        };
        u64 digits[max_rank];
        if (at.list != nullptr) {
            for (u64 i = 0; i < count_; ++i)
                list[i] = index_of(at.list[i], digits);
            return {.list = list};
        }
        u64 index = index_of(at.first, digits);
        if (layout.stride[last] == 1 && digits[last] + count_ <= layout.extent[last]) return {.first = index};
        for (u64 i = 0;;) {
            const u64 run = std::min(count_ - i, layout.extent[last] - digits[last]);
            for (u64 j = 0; j < run; ++j)
                list[i + j] = index + j * layout.stride[last];
            i += run;
            if (i == count_) return {.list = list};
            digits[last] += run;
            index += run * layout.stride[last];
            for (u32 k = last; k > 0 && digits[k] == layout.extent[k]; --k) {
                index -= digits[k] * layout.stride[k];
                digits[k] = 0;
                ++digits[k - 1];
                index += layout.stride[k - 1];
            }
        }
    }

    const std::vector<BlockStep>& steps_;
    const HostIsa isa_;
    const void* const* const arguments_;
    const u64 count_;
    BlockRoom& room_;
    u32 used_ = 0;
};

BlockRoom& block_room() {
    static ThreadRoom<BlockRoom> rooms;
    return rooms.get();
}

}  // namespace

const void* host::expression_block(const CompiledExpression& expression, HostIsa isa,
                                   const void* const* arguments, u64 first, u64 count, void* to) {
    return Evaluation(expression, isa, arguments, count, block_room()).elements(0, {.first = first}, to);
}

void host::store_expression(const CompiledExpression& expression, HostIsa isa, const void* const* arguments,
                            u64 first, u64 count, u32 size, void* to) {
    for (u64 i = 0; i < count; i += block_length) {
        const u64 length = std::min(block_length, count - i);
        std::byte* const target = static_cast<std::byte*>(to) + i * size;
        const void* const from = expression_block(expression, isa, arguments, first + i, length, target);
        if (from != target) std::memcpy(target, from, length * size);
    }
}

bool host::expression_flags(const CompiledExpression& expression, HostIsa isa, const void* const* arguments,
                            u64 first, u64 count, u8* to) {
    const BlockStep& select = expression.steps[0];
    if (select.kind != ExpressionKind::select) return false;
    Evaluation evaluation(expression, isa, arguments, count, block_room());
    normalise(evaluation.elements(select.inputs[1], {.first = first}, to), count, to);
    return true;
}

}  // namespace concord::detail
