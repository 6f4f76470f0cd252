#pragma once
// Reference of scan in plain loops: the canonical order that scan.hpp documents, and sums of floats with more
// precision than the type under test, for error bounds.

#include <concord/lab/internal/reduce_reference.hpp>

#include <concord/lab/compare.hpp>
#include <concord/scan.hpp>

#include <algorithm>
#include <vector>

namespace concord::lab {

// Sklansky's network on a block of 16: p[i] becomes the combination of elements 0 to i. For halves of 1, 2, 4 and 8 the
// last p of the left half is combined with each p of the right half.
template <class T, class Op>
void reference_network(T* p, u64 n, Op op) {
    for (u64 half = 1; half < 16; half *= 2) {
        for (u64 i = 0; i < n; ++i) {
            if ((i / half) % 2 == 1) p[i] = op(p[i / half * half - 1], p[i]);
        }
    }
}

// The exclusive scan: the carry c[b] of block b is the exclusive scan of the blocks' totals by the same rule,
// starting with the identity. out[i] = c[b] op p[i - 1], or c[b] for the first element of a block.
template <class T, class Op>
std::vector<T> reference_exclusive(const std::vector<T>& x, T identity, Op op) {
    if (x.size() <= 1) return std::vector<T>(x.size(), identity);
    std::vector<T> p = x, totals;
    for (u64 first = 0; first < p.size(); first += 16) {
        const u64 n = std::min<u64>(16, p.size() - first);
        reference_network(p.data() + first, n, op);
        totals.push_back(p[first + n - 1]);
    }
    const std::vector<T> c = reference_exclusive(totals, identity, op);
    std::vector<T> out(x.size());
    for (u64 i = 0; i < x.size(); ++i)
        out[i] = i % 16 == 0 ? c[i / 16] : op(c[i / 16], p[i - 1]);
    return out;
}

// The scan of all elements. Inclusive: out[i] = c[b] op p[i].
template <class T, class Op>
std::vector<T> reference_scan(const std::vector<T>& x, T identity, ScanKind kind, Op op) {
    if (kind == ScanKind::exclusive) return reference_exclusive(x, identity, op);
    std::vector<T> p = x, totals;
    for (u64 first = 0; first < p.size(); first += 16) {
        const u64 n = std::min<u64>(16, p.size() - first);
        reference_network(p.data() + first, n, op);
        totals.push_back(p[first + n - 1]);
    }
    const std::vector<T> c = reference_exclusive(totals, identity, op);
    for (u64 i = 0; i < p.size(); ++i)
        p[i] = op(c[i / 16], p[i]);
    return p;
}

// Any part of the canonical scan of an input that may exceed the memory. Keeps the carry of each node of 65536
// elements.
template <class T>
class ReferenceCarries {
  public:
    static constexpr u64 node = 65536;

    template <class Op>
    ReferenceCarries(const Input& input, T identity, Op op) : input_(input) {
        std::vector<T> totals((input.count + node - 1) / node, identity);
        parallel_pieces(input.count, node, [&](u64 first, u64 count) {
            for (u64 at = 0; at < count; at += node)
                totals[(first + at) / node] = total(load(first + at, std::min(node, count - at)), op);
        });
        carries_ = reference_exclusive(totals, identity, op);
    }

    // Results [first, first + n).
    template <class Op>
    std::vector<T> scan(u64 first, u64 n, ScanKind kind, Op op) const {
        std::vector<T> results(n);
        for (u64 at = first / node * node; at < first + n; at += node) {
            const std::vector<T> x = load(at, std::min(node, input_.count - at));
            std::vector<std::vector<T>> levels{x};  // p of the elements, of their blocks' totals, ...
            for (u64 length = node / 16; length > 0; length /= 16) {
                std::vector<T> totals = networks(levels.back(), op);
                levels.push_back(std::move(totals));
            }
            for (u64 i = std::max(first, at); i < std::min(first + n, at + x.size()); ++i) {
                // Combines the carries of the children that contain i, from the largest to the smallest.
                T before = carries_[at / node];
                for (u64 level = 3, width = node / 16; level > 0; --level, width /= 16) {
                    const u64 child = (i - at) / width;
                    if (child % 16 != 0) before = op(before, levels[level][child - 1]);
                }
                const u64 k = i - at;
                results[i - first] = as_computed(kind == ScanKind::inclusive ? op(before, levels[0][k])
                                                 : k % 16 == 0               ? before
                                                                             : op(before, levels[0][k - 1]));
            }
        }
        return results;
    }

  private:
    std::vector<T> load(u64 first, u64 count) const {
        std::vector<std::byte> scratch;
        std::vector<T> x(count);
        std::memcpy(x.data(), input_.piece(first, count, scratch).data(), count * sizeof(T));
        return x;
    }
    // Scans each block of 16 values in place. Returns the blocks' totals.
    template <class Op>
    static std::vector<T> networks(std::vector<T>& p, Op op) {
        std::vector<T> totals;
        for (u64 first = 0; first < p.size(); first += 16) {
            const u64 n = std::min<u64>(16, p.size() - first);
            reference_network(p.data() + first, n, op);
            totals.push_back(p[first + n - 1]);
        }
        return totals;
    }
    template <class Op>
    static T total(std::vector<T> x, Op op) {
        for (int level = 0; level < 4; ++level)
            x = networks(x, op);
        return x.front();
    }

    Input input_;
    std::vector<T> carries_;
};

// Prefix sums in f64 with compensation.
template <class T>
class ExactPrefixes {
  public:
    static constexpr u64 piece = u64{1} << 16;

    explicit ExactPrefixes(const Input& input) : input_(input), before_(input.count / piece + 2) {
        parallel_pieces(input.count, piece, [&](u64 first, u64 count) {
            for (u64 at = 0; at < count; at += piece)
                each(first + at, std::min(piece, count - at),
                     [&](double x) { before_[(first + at) / piece + 1].add(x); });
        });
        for (std::size_t i = 1; i < before_.size(); ++i) {
            ExactSum sum = before_[i - 1];
            sum.add(before_[i]);
            before_[i] = sum;
        }
    }

    // Calls f(i, prefix sum of i) for i in [first, first + n).
    template <class F>
    void walk(u64 first, u64 n, ScanKind kind, F f) const {
        const bool exclusive = kind == ScanKind::exclusive;
        const u64 begin = first / piece * piece;
        ExactSum sum = before_[begin / piece];
        u64 i = begin;
        each(begin, first + n - begin, [&](double x) {
            if (exclusive && i >= first) f(i, sum);
            sum.add(x);
            if (!exclusive && i >= first) f(i, sum);
            ++i;
        });
    }

  private:
    template <class F>
    void each(u64 first, u64 count, F f) const {
        std::vector<std::byte> scratch;
        const auto bytes = input_.piece(first, count, scratch);
        for (u64 i = 0; i < count; ++i) {
            T x;
            std::memcpy(&x, bytes.data() + i * sizeof(T), sizeof x);
            f(std::isfinite(x) ? static_cast<double>(x) : 0.0);
        }
    }

    Input input_;
    std::vector<ExactSum> before_;
};

}  // namespace concord::lab
