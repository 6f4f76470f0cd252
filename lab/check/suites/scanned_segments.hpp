#pragma once
// How scans of segments are verified: each is bitwise identical to the reference of scan on its elements.

#include "longest_chain.hpp"
#include "scan_reference.hpp"

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/internal/once.hpp>

#include <cmath>
#include <memory>
#include <optional>

namespace concord::lab {

// Not commutative: the last element that is not 0, and a mixture with a value that is bound.
CONCORD_FUNCTION(i32, last_set_in_segment, (i32 a, i32 b), return b != 0 ? b : a;)
CONCORD_FUNCTION(f64, weighted_in_segment, (f64 a, f64 b, f64 weight), return a + b + weight * (a * b);)

// The segments of a case: segment s is the elements from begin(s) to begin(s + 1) - 1. They contain all elements.
struct SegmentList {
    std::function<u64()> count;
    std::function<u64(u64 s)> begin;
};

template <class T>
struct SegmentedScan {
    Input input;
    SegmentList segments;
    ScanKind kind = ScanKind::inclusive;
    T identity = {};
    std::optional<ReduceOp> name = {};  // a built-in operator
    std::function<T(T, T)> op = {};     // else a user's
    bool squares = false;               // of the squares of the elements

    // Verifies results [first, ...).
    void verify(const Variant& variant, u64 first, std::span<const std::byte> got, Verdict& verdict) {
        once_.call([&] {
            if (name) {
                with_reference<T>(*name, [&](auto f) { scan(f); });
            } else {
                scan(op);
            }
        });
        const bool rounds =
            std::is_floating_point_v<T> && (!name || *name == ReduceOp::sum || *name == ReduceOp::product);
        if (variant.order != OperationOrder::canonical && rounds)
            return verify_sums(variant, first, got, verdict);
        for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
            const T value = element<T>(got, i);
            if (!same(results_[first + i], value))
                return verdict.differ(difference_of(first + i, results_[first + i], value));
        }
    }

  private:
    std::vector<T> elements(u64 begin, u64 end) const {
        std::vector<std::byte> scratch;
        std::vector<T> x(end - begin);
        if (x.empty()) return x;
        std::memcpy(x.data(), input.piece(begin, x.size(), scratch).data(), x.size() * sizeof(T));
        if (squares) {
            for (T& value : x)
                value = as_computed(lab::reference(ReduceOp::product, value, value));
        }
        return x;
    }
    template <class Op>
    void scan(Op f) {
        results_.resize(input.count);
        parallel_pieces(segments.count(), 64, [&](u64 first, u64 count) {
            for (u64 s = first; s < first + count; ++s) {
                const u64 begin = segments.begin(s), end = segments.begin(s + 1);
                if (begin == end) continue;
                const std::vector<T> scanned = reference_scan(elements(begin, end), identity, kind, f);
                for (u64 i = begin; i < end; ++i)
                    results_[i] = as_computed(scanned[i - begin]);
            }
        });
    }

    // Sums of floats in another order, that of a library: each within its own bound.
    void verify_sums(const Variant& variant, u64 first, std::span<const std::byte> got, Verdict& verdict) {
        if (name != ReduceOp::sum || got.empty()) {
            verdict.bits = false;
            verdict.no_bound = !got.empty();
            return;
        }
        if constexpr (std::is_floating_point_v<T>) {
            const u64 end = first + got.size() / sizeof(T);
            u64 low = 0, high = segments.count();  // the segment of `first` is in [low, high)
            while (high - low > 1) {
                const u64 middle = low + (high - low) / 2;
                (segments.begin(middle) <= first ? low : high) = middle;
            }
            for (u64 s = low; s < segments.count() && segments.begin(s) < end; ++s) {
                const u64 begin = segments.begin(s), stop = std::min(segments.begin(s + 1), end);
                const std::vector<T> x = elements(begin, std::max(begin, stop));
                ExactSum exact;
                for (u64 i = begin; i < stop; ++i) {
                    if (kind == ScanKind::inclusive) exact.add(static_cast<double>(x[i - begin]));
                    ErrorBounds bounds;
                    if (const T value = element<T>(got, i < first ? 0 : i - first); i >= first) {
                        const double hard =
                            gamma_bound<T>(static_cast<double>(longest_chain_of(variant, i + 1 - begin)));
                        bounds.error = exact.error_of(static_cast<double>(value));
                        bounds.hard = hard * exact.magnitude;
                        verify_within(bounds, i, results_[i], value, verdict);
                    }
                    if (kind == ScanKind::exclusive) exact.add(static_cast<double>(x[i - begin]));
                }
            }
        }
    }

    detail::Once once_;
    std::vector<T> results_;
};

// Work without a call. segments: the second input, offsets or keys.
template <class T>
Work segmented_scan_work(std::string algorithm, std::string title,
                         const std::shared_ptr<SegmentedScan<T>>& scan, const Input& segments) {
    Work work;
    work.algorithm = std::move(algorithm);
    work.title = std::move(title);
    work.inputs = {scan->input, segments};
    work.n = scan->input.count;
    work.outputs = {{type_of<T>(), work.n}};
    work.traffic = 2 * scan->input.bytes() + segments.bytes();
    work.verify = [scan](const Variant& variant, std::size_t, u64 first, std::span<const std::byte> got,
                         Verdict& verdict) { scan->verify(variant, first, got, verdict); };
    return work;
}

template <class T>
std::shared_ptr<SegmentedScan<T>> builtin_scan(ReduceOp op, ScanKind kind, const Input& input,
                                               const SegmentList& segments) {
    auto scan = std::make_shared<SegmentedScan<T>>();
    scan->input = input;
    scan->segments = segments;
    scan->kind = kind;
    scan->identity = identity_of<T>(op);
    scan->name = op;
    return scan;
}
template <class T, class F>
std::shared_ptr<SegmentedScan<T>> user_scan(const F& f, T identity, ScanKind kind, const Input& input,
                                            const SegmentList& segments) {
    auto scan = std::make_shared<SegmentedScan<T>>();
    scan->input = input;
    scan->segments = segments;
    scan->kind = kind;
    scan->identity = identity;
    scan->op = [f](T a, T b) { return f(a, b); };
    return scan;
}

}  // namespace concord::lab
