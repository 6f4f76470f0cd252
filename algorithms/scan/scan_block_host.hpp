#pragma once
// Blocks of 16 elements in vector registers, for the scans by built-in operators on CPUs. The order is that of
// scan_host.hpp. Compilers vectorize the loops there poorly: this takes a third to a half of their time.
//
// E: element of the vectors; Lanes: the operator.

#include <concord/detail/scan_host.hpp>
#include <concord/internal/builtin_operator.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace concord::detail::host {

// Operators on vectors: `right` becomes the result of left op right. By reference: vectors of some instruction sets
// cannot be returned from functions compiled without them. Scalar: the same on single elements.
struct AddLanes {
    using Scalar = ops::Sum;
    template <class E>
    static constexpr E identity = 0;
    template <class Left, class V>
    [[gnu::always_inline]] static void join(const Left& left, V& right) {
        right = left + right;
    }
};
struct MultiplyLanes {
    using Scalar = ops::Product;
    template <class E>
    static constexpr E identity = 1;
    template <class Left, class V>
    [[gnu::always_inline]] static void join(const Left& left, V& right) {
        right = left * right;
    }
};
// Of signed integers.
struct LeastLanes {
    using Scalar = ops::Min;
    template <class E>
    static constexpr E identity = std::numeric_limits<E>::max();
    template <class Left, class V>
    [[gnu::always_inline]] static void join(const Left& left, V& right) {
        const V all = left - V{};
        right = all < right ? all : right;
    }
};

// Conversions of elements to those of the vectors, and back, for vectors and single elements. Sums and products work on
// the elements.
struct SameKey {
    template <class V>
    [[gnu::always_inline]] void encode(V& /*v*/) const {}
    template <class V>
    [[gnu::always_inline]] void decode(V& /*v*/) const {}
};
// Minima and maxima of integers are minima of signed integers with other bits flipped: the sign bit for unsigned
// elements, all bits for the maximum.
template <class E>
struct IntegerKey {
    E flipped;
    template <class V>
    [[gnu::always_inline]] void encode(V& v) const {
        v ^= flipped;
    }
    template <class V>
    [[gnu::always_inline]] void decode(V& v) const {
        v ^= flipped;
    }
};
// Those of floats, whose bits have the order of signed integers once those of negative values are flipped. NaNs come
// first, so that the result is the canonical NaN if there is one.
template <class E>
struct FloatKey {
    static constexpr E infinity = sizeof(E) == 4 ? E{0x7f800000} : static_cast<E>(0x7ff0000000000000),
                       nan = sizeof(E) == 4 ? E{0x7fc00000} : static_cast<E>(0x7ff8000000000000),
                       first = std::numeric_limits<E>::min(), magnitude = std::numeric_limits<E>::max();
    E flipped;

    template <class V>
    [[gnu::always_inline]] void encode(V& v) const {
        const V bits = v;
        flip_negative(v);
        v ^= flipped;
        v = (bits & magnitude) > infinity ? first - V{} : v;
    }
    template <class V>
    [[gnu::always_inline]] void decode(V& v) const {
        const V key = v;
        v ^= flipped;
        flip_negative(v);
        v = key == first ? nan - V{} : v;
    }

  private:
    template <class V>
    [[gnu::always_inline]] static void flip_negative(V& v) {
        if constexpr (std::is_same_v<V, E>) {
            v ^= (v >> (8 * sizeof(E) - 1)) & magnitude;
        } else {
            v ^= (v < 0) & magnitude;
        }
    }
};

// A block in vectors of at most `bytes` bytes.
template <class E, int bytes, class Lanes>
class ScanBlock {
  public:
    static constexpr int lanes = std::min(16, bytes / static_cast<int>(sizeof(E)));
    static constexpr int rows = 16 / lanes;
    typedef E Row __attribute__((vector_size(lanes * sizeof(E))));

    template <class Key>
    [[gnu::always_inline]] void load(const void* in, const Key& key) {
        for (int r = 0; r < rows; ++r) {
            Row row = static_cast<const Unaligned*>(in)[r];
            key.encode(row);
            row_[r] = row;
        }
    }
    template <class Key>
    [[gnu::always_inline]] void store(void* out, const Key& key) {
        for (int r = 0; r < rows; ++r) {
            Row row = row_[r];
            key.decode(row);
            static_cast<Unaligned*>(out)[r] = row;
        }
    }

    // Sklansky's network: combines the last element of each left half with all elements of the right half.
    [[gnu::always_inline]] void scan() {
        for (Row& row : row_)
            scan_row<1>(row);
        for (int half = 1; half < rows; half *= 2) {
            for (int r = 0; r < rows; ++r) {
                if ((r & half) != 0) Lanes::join(row_[(r & -2 * half) + half - 1][lanes - 1], row_[r]);
            }
        }
    }
    [[gnu::always_inline]] E last() const { return row_[rows - 1][lanes - 1]; }

    // Combines the carry of the block with all elements.
    [[gnu::always_inline]] void add(E before) {
        for (Row& row : row_)
            Lanes::join(before, row);
    }
    // The same for an exclusive scan: every result moves by one element.
    [[gnu::always_inline]] void add_exclusive(E before) {
        for (int r = rows - 1; r >= 0; --r) {
            shift(row_[r > 0 ? r - 1 : 0], row_[r], Indices{});
            Lanes::join(before, row_[r]);
        }
        put_first(before - Row{}, row_[0], Indices{});
    }

  private:
    // In memory. g++ would copy a row by memcpy() in halves, through the stack.
    typedef E Unaligned __attribute__((vector_size(lanes * sizeof(E)), aligned(1), may_alias));
    using Indices = std::make_integer_sequence<int, lanes>;

    template <int half, int... lane>
    [[gnu::always_inline]] static void join(Row& row, std::integer_sequence<int, lane...> /*lanes*/) {
        const Row left =
            __builtin_shufflevector(row, row, ((lane & half) != 0 ? (lane & -2 * half) + half - 1 : lane)...);
        Row joined = row;
        Lanes::join(left, joined);
        row = __builtin_shufflevector(row, joined, ((lane & half) != 0 ? lanes + lane : lane)...);
    }
    template <int half>
    [[gnu::always_inline]] static void scan_row(Row& row) {
        if constexpr (half < lanes) {
            join<half>(row, Indices{});
            scan_row<2 * half>(row);
        }
    }
    template <int... lane>
    [[gnu::always_inline]] static void shift(const Row& left, Row& row,
                                             std::integer_sequence<int, lane...> /*lanes*/) {
        row = __builtin_shufflevector(left, row, (lanes - 1 + lane)...);
    }
    // Not by an index, for which g++ takes three instructions.
    template <int... lane>
    [[gnu::always_inline]] static void put_first(const Row& first, Row& row,
                                                 std::integer_sequence<int, lane...> /*lanes*/) {
        row = __builtin_shufflevector(first, row, (lane == 0 ? 0 : lanes + lane)...);
    }

    Row row_[rows];
};

// Scans blocks of `count` elements from their carries. out may be in.
template <class E, int bytes, class Lanes>
[[gnu::always_inline]] inline void scan_blocks_by(const E* in, E* out, const E* before, u64 count,
                                                  bool exclusive) {
    for (u64 b = 0; 16 * b < count; ++b) {
        ScanBlock<E, bytes, Lanes> block;
        block.load(in + 16 * b, SameKey{});
        block.scan();
        if (exclusive) {
            block.add_exclusive(before[b]);
        } else {
            block.add(before[b]);
        }
        block.store(out + 16 * b, SameKey{});
    }
}

// --- Any order ------------------------------------------------------------------------------------------------------
// Integers, and minima and maxima of floats, have the same result in any order: a carry passes from block to block.

// Combines `count` elements.
template <class E, int bytes, class Lanes, class T, class Key>
[[gnu::always_inline]] inline T total_in_any_order(const T* in, u64 count, const Key& key) {
    constexpr u64 lanes = bytes / sizeof(E);
    typedef E Row __attribute__((vector_size(bytes)));
    Row all = Lanes::template identity<E> - Row{}, row;
    u64 i = 0;
    for (; i + lanes <= count; i += lanes) {
        std::memcpy(&row, in + i, sizeof row);
        key.encode(row);
        Lanes::join(row, all);
    }
    E total = Lanes::template identity<E>;
    for (u64 lane = 0; lane < lanes; ++lane)
        total = typename Lanes::Scalar{}(total, all[lane]);
    for (; i < count; ++i) {
        E next = std::bit_cast<E>(in[i]);
        key.encode(next);
        total = typename Lanes::Scalar{}(total, next);
    }
    key.decode(total);
    return std::bit_cast<T>(total);
}

// Whether a loop over single elements is faster than the steps of a block: without shuffles, and with few lanes.
template <class E, int bytes>
inline constexpr bool by_element = bytes <= 16 || sizeof(E) == 8;

// Scans `length` elements. Results past the cache are stored piece by piece.
template <class E, int bytes, class Lanes, class T, class Key>
[[gnu::always_inline]] inline void scan_in_any_order(const T* in, T* out, u64 length, bool exclusive,
                                                     bool non_temporal, T* piece, T before, const Key& key) {
    using Block = ScanBlock<E, bytes, Lanes>;
    E carry = std::bit_cast<E>(before);
    key.encode(carry);
    for (u64 first = 0; first < length; first += scan_piece) {
        const u64 count = std::min(scan_piece, length - first);
        const T* from = in + first;
        T* const target = out + first;
        if (count % 16 != 0) {
            std::copy(from, from + count, piece);
            std::fill(piece + count, piece + (count + 15) / 16 * 16, T{});  // read but not used
            from = piece;
        }
        T* const to = non_temporal || from == piece ? piece : target;
        if constexpr (by_element<E, bytes>) {
            for (u64 i = 0; i < count; ++i) {
                E result = carry, next = std::bit_cast<E>(from[i]);
                key.encode(next);
                carry = typename Lanes::Scalar{}(carry, next);
                if (!exclusive) result = carry;
                key.decode(result);
                to[i] = std::bit_cast<T>(result);
            }
        } else {
            for (u64 i = 0; i < count; i += 16) {
                Block block;
                block.load(from + i, key);
                block.scan();
                const E next = typename Lanes::Scalar{}(carry, block.last());
                if (exclusive) {
                    block.add_exclusive(carry);
                } else {
                    block.add(carry);
                }
                carry = next;
                block.store(to + i, key);
            }
        }
        if (non_temporal) {
            stream_store(target, to, count * sizeof(T));
        } else if (to != target) {
            std::memcpy(target, to, count * sizeof(T));
        }
    }
}

}  // namespace concord::detail::host
