#pragma once
// Prefix sums of blocks of 16 elements in vector registers, for instruction sets with single-instruction shuffles.
// The order is that of scan_host.hpp. Compilers vectorize the loops there poorly: this takes a third to a half of
// their time.

#include <concord/types.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace concord::detail::host {

// A block of 16 elements in vectors of at most `bytes` bytes. Integers are treated as unsigned, which wrap.
template <class T, int bytes>
class SumBlock {
    template <bool integer, class U>
    struct Plain {
        using Type = U;
    };
    template <class U>
    struct Plain<true, U> {
        using Type = std::make_unsigned_t<U>;
    };
    using Element = typename Plain<std::is_integral_v<T>, T>::Type;

  public:
    static constexpr int lanes = std::min(16, bytes / static_cast<int>(sizeof(T)));
    static constexpr int rows = 16 / lanes;
    typedef Element Row __attribute__((vector_size(lanes * sizeof(T))));

    // Row by row: g++ keeps an array in memory if it is copied as a whole.
    [[gnu::always_inline]] void load(const T* in) {
        for (int r = 0; r < rows; ++r)
            std::memcpy(&row_[r], in + r * lanes, sizeof(Row));
    }
    [[gnu::always_inline]] void store(T* out) const {
        for (int r = 0; r < rows; ++r)
            std::memcpy(out + r * lanes, &row_[r], sizeof(Row));
    }

    // Sklansky's network: adds the last element of each left half to all elements of the right half.
    [[gnu::always_inline]] void scan() {
        for (Row& row : row_)
            scan_row<1>(row);
        for (int half = 1; half < rows; half *= 2) {
            for (int r = 0; r < rows; ++r) {
                if ((r & half) != 0) row_[r] = row_[(r & -2 * half) + half - 1][lanes - 1] + row_[r];
            }
        }
    }

    // Adds the carry of the block.
    [[gnu::always_inline]] void add(T before) {
        for (Row& row : row_)
            row = static_cast<Element>(before) + row;
    }

    // The same for an exclusive scan: every result moves by one element.
    [[gnu::always_inline]] void add_exclusive(T before) {
        for (int r = rows - 1; r >= 0; --r) {
            shift(row_[r > 0 ? r - 1 : 0], row_[r], Lanes{});
            row_[r] = static_cast<Element>(before) + row_[r];
        }
        put_first(static_cast<Element>(before) - Row{}, row_[0], Lanes{});
    }

  private:
    using Lanes = std::make_integer_sequence<int, lanes>;

    template <int half, int... lane>
    [[gnu::always_inline]] static void join(Row& row, std::integer_sequence<int, lane...> /*lanes*/) {
        const Row sum = __builtin_shufflevector(
                            row, row, ((lane & half) != 0 ? (lane & -2 * half) + half - 1 : lane)...) +
                        row;
        row = __builtin_shufflevector(row, sum, ((lane & half) != 0 ? lanes + lane : lane)...);
    }
    template <int half>
    [[gnu::always_inline]] static void scan_row(Row& row) {
        join<half>(row, Lanes{});
        if constexpr (2 * half < lanes) scan_row<2 * half>(row);
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

// Computes the prefix sums of n / 16 blocks from their carries, in vectors of at most `bytes` bytes. out may be in.
template <int n, int bytes, class T>
[[gnu::always_inline]] inline void scan_sums(const T* in, T* out, const T* before, bool exclusive) {
    for (int b = 0; b < n / 16; ++b) {
        SumBlock<T, bytes> block;
        block.load(in + 16 * b);
        block.scan();
        if (exclusive) {
            block.add_exclusive(before[b]);
        } else {
            block.add(before[b]);
        }
        block.store(out + 16 * b);
    }
}

}  // namespace concord::detail::host
