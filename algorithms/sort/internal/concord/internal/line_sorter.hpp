#pragma once
// Sorts of codes on one thread, for host kernels: Highway's vectorised quicksort, or std::sort without Highway. Keys of
// one byte are counted. Only files with the definition CONCORD_HIGHWAY may include it.

#include <concord/types.hpp>

#if CONCORD_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace concord::detail::host {

#if CONCORD_HIGHWAY
using Word128 = hwy::uint128_t;
#else
struct alignas(16) Word128 {
    u64 lo, hi;
};
#endif

template <class W>
bool word_less(const W& a, const W& b) {
    if constexpr (std::is_same_v<W, Word128>) {
        return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
    } else {
        return a < b;
    }
}

// Sorts codes or words.
class LineSorter {
  public:
    template <class W>
    void operator()(W* words, u64 n) {
        if constexpr (sizeof(W) == 1) {
            std::array<u64, 256> counts{};
            for (u64 i = 0; i < n; ++i)
                ++counts[words[i]];
            for (u64 value = 0; value < 256; words += counts[value], ++value)
                std::fill_n(words, counts[value], static_cast<W>(value));
        } else {
#if CONCORD_HIGHWAY
            constexpr u64 few = 24;
            if (n > few) return sorter_(words, n, hwy::SortAscending());
#endif
            std::sort(words, words + n, word_less<W>);
        }
    }

#if CONCORD_HIGHWAY
  private:
    hwy::Sorter sorter_;
#endif
};

// {code, place}: the order of such words is stable.
template <class K>
using Word = std::conditional_t<sizeof(K) == 8, Word128, u64>;

template <class K>
Word<K> word_of(K code, u64 place) {
    if constexpr (sizeof(K) == 8) {
        Word128 word;
        word.lo = place;
        word.hi = code;
        return word;
    } else {
        return u64{code} << 32 | place;
    }
}
template <class K>
std::pair<K, u64> parts_of(const Word<K>& word) {
    if constexpr (sizeof(K) == 8) {
        return {word.hi, word.lo};
    } else {
        return {static_cast<K>(word >> 32), word & 0xffffffff};
    }
}

constexpr u64 word_bytes(u32 key_size) {
    return key_size == 8 ? 16 : 8;
}

}  // namespace concord::detail::host
