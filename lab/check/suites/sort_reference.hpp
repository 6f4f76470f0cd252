#pragma once
// Reference of sort: the input sorted by std::stable_sort, or for large inputs a permutation whose sorted order
// follows from a formula. Independent of the library's code.

#include <concord/lab/compare.hpp>
#include <concord/lab/work.hpp>

#include <concord/internal/once.hpp>
#include <concord/sort.hpp>

#include <algorithm>
#include <bit>

namespace concord::lab {

__extension__ using SortWide = unsigned __int128;

// Position of a key, given as bits, in the order of its type: integers by value, floats by IEEE totalOrder, storage
// types like the type that they convert to.
inline u64 place_of(Type type, u64 bits) {
    const u32 width = 8 * size_of(type);
    const u64 sign = u64{1} << (width - 1), all = ~u64{0} >> (64 - width);
    switch (kind_of(accumulator_of(type))) {
        case TypeKind::floating_point:
            return (bits & sign) != 0 ? all - bits : bits + sign;
        case TypeKind::signed_integer:
            return (bits + sign) & all;
        default:
            return bits;
    }
}
// Key at a position.
inline u64 key_at(Type type, u64 place) {
    const u32 width = 8 * size_of(type);
    const u64 sign = u64{1} << (width - 1), all = ~u64{0} >> (64 - width);
    switch (kind_of(accumulator_of(type))) {
        case TypeKind::floating_point:
            return (place & sign) != 0 ? place - sign : all - place;
        case TypeKind::signed_integer:
            return (place + sign) & all;
        default:
            return place;
    }
}

// A pseudorandom permutation of [0, n) and its inverse: a bijection of [0, 2^k), applied until the result is below n.
class Shuffle {
  public:
    explicit Shuffle(u64 n) : n_(n), k_(std::max(2, static_cast<int>(std::bit_width(n - 1)))) {
        // Inverse of an odd number modulo 2^64 by Newton's method. Each step doubles the number of correct bits.
        inverse_ = factor;
        for (int i = 0; i < 6; ++i)
            inverse_ *= 2 - factor * inverse_;
    }
    u64 operator()(u64 x) const {
        do {
            for (int round = 0; round < rounds; ++round)
                x = folded(x * factor & mask());
        } while (x >= n_);
        return x;
    }
    u64 inverse(u64 x) const {
        do {
            for (int round = 0; round < rounds; ++round)
                x = folded(x) * inverse_ & mask();
        } while (x >= n_);
        return x;
    }

  private:
    static constexpr u64 factor = 0xbf58476d1ce4e5b9;
    static constexpr int rounds = 4;
    u64 mask() const { return ~u64{0} >> (64 - k_); }
    // An involution, because the shift is at least half of the bits.
    u64 folded(u64 x) const { return x ^ (x >> (k_ + 1) / 2); }

    u64 n_, inverse_;
    int k_;
};

// The order of the elements.
struct SortReferenceOrder {
    SortBy by;
    std::function<bool(u64 a, u64 b)> less;  // compares bits of keys; empty: the order of the type
    std::function<u64(u64 key)> key;         // maps bits of an element to bits of its key; empty: identity
    Type key_type = Type::u8;

    u64 rank(u64 element) const {
        const u32 width = 8 * size_of(key_type), end = std::min(by.end_bit, width);
        u64 place = place_of(key_type, key ? key(element) : element);
        if (by.order == SortOrder::descending) place = ~place;
        return (place & (~u64{0} >> (64 - end))) >> by.begin_bit;
    }
};

// Expected keys and values, from std::stable_sort.
class SortReference {
  public:
    SortReference(Input keys, std::optional<Input> values, SortReferenceOrder order)
        : keys_(std::move(keys)), values_(std::move(values)), order_(std::move(order)) {}

    const Input& keys() const { return keys_; }

    void verify(const Variant& variant, std::size_t output, u64 first, std::span<const std::byte> got,
                Verdict& verdict) {
        once_.call([&] { sort(); });
        const std::vector<std::byte>& sorted = output == 0 ? sorted_keys_ : sorted_values_;
        const Type type = output == 0 ? keys_.type : values_->type;
        const u64 size = size_of(type), n = got.size() / size;
        const auto expected = std::span<const std::byte>(sorted).subspan(first * size, got.size());
        if (std::memcmp(expected.data(), got.data(), got.size()) == 0) return;
        const auto differ = [&](u64 i) {
            detail::visit_element(type, [&]<class T>(detail::TypeTag<T>) {
                verdict.differ(difference_of(first + i, element<T>(expected, i), element<T>(got, i)));
            });
        };
        const auto same_at = [&](u64 i) {
            return std::memcmp(expected.data() + i * size, got.data() + i * size, size) == 0;
        };
        for (u64 i = 0; i < n;) {
            if (same_at(i)) {
                ++i;
                continue;
            }
            if (variant.stable) return differ(i);
            // Elements with equal keys may be permuted. If such a group extends into another piece, only its keys are
            // verified.
            u64 begin = i, end = i + 1;
            while (begin > 0 && !starts_[first + begin])
                --begin;
            while (end < n && !starts_[first + end])
                ++end;
            const bool whole = starts_[first + begin] && (first + end == keys_.count || starts_[first + end]);
            if (whole ? !same_elements(expected, got, begin, end, size)
                      : output == 0 && !equal_keys(got, first, begin, end))
                return differ(i);
            i = end;
        }
    }

  private:
    static u64 bits_at(std::span<const std::byte> bytes, u64 size, u64 i) {
        u64 bits = 0;
        std::memcpy(&bits, bytes.data() + i * size, size);
        return bits;
    }
    static bool same_elements(std::span<const std::byte> a, std::span<const std::byte> b, u64 begin, u64 end,
                              u64 size) {
        std::vector<u64> x, y;
        for (u64 i = begin; i < end; ++i) {
            x.push_back(bits_at(a, size, i));
            y.push_back(bits_at(b, size, i));
        }
        std::sort(x.begin(), x.end());
        std::sort(y.begin(), y.end());
        return x == y;
    }
    bool equal_keys(std::span<const std::byte> got, u64 first, u64 begin, u64 end) const {
        const u64 size = size_of(keys_.type), key = bits_at(sorted_keys_, size, first + begin);
        for (u64 i = begin; i < end; ++i) {
            if (!equal(key, bits_at(got, size, i))) return false;
        }
        return true;
    }
    bool equal(u64 a, u64 b) const {
        return order_.less ? !order_.less(a, b) && !order_.less(b, a) : order_.rank(a) == order_.rank(b);
    }

    void sort() {
        struct Item {
            u64 rank;  // or the key's bits, for a comparator
            u64 index;
        };
        const u64 n = keys_.count, size = size_of(keys_.type);
        std::vector<std::byte> made, made_values;
        const auto keys = keys_.piece(0, n, made);
        std::vector<Item> items(n);
        for (u64 i = 0; i < n; ++i) {
            const u64 bits = bits_at(keys, size, i);
            items[i] = {order_.less ? bits : order_.rank(bits), i};
        }
        if (order_.less) {
            std::stable_sort(items.begin(), items.end(),
                             [&](const Item& a, const Item& b) { return order_.less(a.rank, b.rank); });
        } else {
            std::stable_sort(items.begin(), items.end(),
                             [](const Item& a, const Item& b) { return a.rank < b.rank; });
        }
        sorted_keys_.resize(n * size);
        starts_.resize(n);
        for (u64 i = 0; i < n; ++i) {
            std::memcpy(sorted_keys_.data() + i * size, keys.data() + items[i].index * size, size);
            starts_[i] = i == 0 || (order_.less ? order_.less(items[i - 1].rank, items[i].rank)
                                                : items[i - 1].rank != items[i].rank);
        }
        if (!values_) return;
        const u64 value_size = size_of(values_->type);
        const auto values = values_->piece(0, n, made_values);
        sorted_values_.resize(n * value_size);
        for (u64 i = 0; i < n; ++i)
            std::memcpy(sorted_values_.data() + i * value_size, values.data() + items[i].index * value_size,
                        value_size);
    }

    Input keys_;
    std::optional<Input> values_;
    SortReferenceOrder order_;
    detail::Once once_;
    std::vector<std::byte> sorted_keys_, sorted_values_;
    std::vector<u8> starts_;  // whether an element's key differs from the one before
};

// Shuffled keys with a known sorted order. The positions of the key type are divided into n equal intervals, and key
// r is a pseudorandom position of interval r. Values are the keys' indices. Without NaNs, the positions at both ends,
// which are those of NaNs of floats, are left out.
class KnownOrder {
  public:
    KnownOrder(Type type, u64 n, u64 seed, SortOrder order, bool has_nans = true)
        : type_(type),
          n_(n),
          seed_(seed),
          order_(order),
          first_(has_nans ? 0 : nan_positions(type)),
          positions_((SortWide{1} << (8 * size_of(type))) - 2 * SortWide{first_}),
          shuffle_(std::max<u64>(n, 1)) {}

    u64 key(u64 i) const { return key_at(type_, place(shuffle_(i))); }
    u64 sorted_key(u64 j) const { return key_at(type_, place(rank(j))); }
    u64 sorted_index(u64 j) const { return shuffle_.inverse(rank(j)); }
    // Whether all keys are distinct.
    bool distinct() const { return n_ <= positions_; }

    Input input() const {
        return {type_, n_, Pattern::random, seed_, [known = *this](u64 i, u64) { return known.key(i); }};
    }

  private:
    u64 rank(u64 j) const { return order_ == SortOrder::descending ? n_ - 1 - j : j; }
    u64 part(u64 r) const { return first_ + static_cast<u64>(static_cast<SortWide>(r) * positions_ / n_); }
    // NaNs of one sign.
    static u64 nan_positions(Type type) {
        return type == Type::f32 ? (u64{1} << 23) - 1 : type == Type::f64 ? (u64{1} << 52) - 1 : 0;
    }
    u64 place(u64 r) const {
        const u64 from = part(r);
        // The last interval may end at 2^64, which wraps to 0.
        const u64 width = part(r + 1) - 1 - from;
        if (width == ~u64{0} || from > from + width) return from;
        return from + (width == 0 ? 0 : mixed(r) % (width + 1));
    }
    u64 mixed(u64 r) const {
        u64 z = (r + seed_) * 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 31)) * 0x94d049bb133111eb;
        return z ^ (z >> 29);
    }

    Type type_;
    u64 n_, seed_;
    SortOrder order_;
    u64 first_;
    SortWide positions_;
    Shuffle shuffle_;
};

}  // namespace concord::lab
