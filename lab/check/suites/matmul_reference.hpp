#pragma once
// Reference of matmul: plain loops with one fma chain per element and part of k, independent of the library's kernels.
// The first thread that verifies a row computes it.

#include <concord/lab/compare.hpp>

#include <concord/host_kernel.hpp>
#include <concord/internal/once.hpp>
#include <concord/matmul.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace concord::lab {

// Shape of C = op(A) op(B), where op is the identity or the transpose, and memory layout of a batch of products.
struct MatmulShape {
    u64 m = 0, n = 0, k = 0;
    bool transpose_a = false, transpose_b = false;
    u64 a_pitch = 0, b_pitch = 0, c_pitch = 0;
    u64 batch = 1;
    u64 a_stride = 0, b_stride = 0, c_stride = 0;  // 0: one matrix for all products
};

// A call with all pitches and strides set.
struct MatmulCall {
    MatmulShape shape;
    MatmulScale scale;
};

// Multiplies `rows` contiguous rows of A with B: `terms` terms from the first on. It is a host kernel, because for
// baseline x86-64 std::fma is a library call.
template <class T>
void matmul_reference_rows(const Group& /*group*/, const T* a, const T* b, T* out, u64 rows, u64 n, u64 k,
                           u64 terms) {
    constexpr u64 width = 128;
    for (u64 j = 0; j < n; j += width) {
        for (u64 i = 0; i < rows; ++i) {
            T t[width] = {};
            const u64 columns = std::min(width, n - j);
            if (columns == width) {
                for (u64 l = 0; l < terms; ++l) {
                    for (u64 c = 0; c < width; ++c)
                        t[c] = std::fma(a[i * k + l], b[l * n + j + c], t[c]);
                }
            } else {
                for (u64 l = 0; l < terms; ++l) {
                    for (u64 c = 0; c < columns; ++c)
                        t[c] = std::fma(a[i * k + l], b[l * n + j + c], t[c]);
                }
            }
            std::memcpy(out + i * n + j, t, columns * sizeof(T));
        }
    }
}

// Computes one row in f64, and its sums of magnitudes, for results that are verified within an error bound.
template <class T>
void matmul_reference_bounds(const Group& /*group*/, const T* a, const T* b, f64* sums, f64* magnitudes,
                             u64 n, u64 k) {
    for (u64 j = 0; j < n; ++j)
        sums[j] = magnitudes[j] = 0;
    for (u64 l = 0; l < k; ++l) {
        const f64 of_a = a[l];
        for (u64 j = 0; j < n; ++j) {
            const f64 of_b = b[l * n + j];
            sums[j] = std::fma(of_a, of_b, sums[j]);
            magnitudes[j] = std::fma(std::fabs(of_a), std::fabs(of_b), magnitudes[j]);
        }
    }
}

template <class T>
class MatmulReference {
  public:
    // `before`: contents of C, which matter if beta is not 0.
    MatmulReference(Input a, Input b, Input before, const MatmulCall& call)
        : a_(std::move(a)), b_(std::move(b)), before_(std::move(before)), call_(call) {
        const MatmulShape& s = call.shape;
        // Past 2^38 operations only a sample of the rows is verified. All rows would take hours.
        const double operations = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) *
                                  static_cast<double>(s.k) * static_cast<double>(s.batch);
        every_ = operations <= 0x1p38 ? 1 : static_cast<u64>(operations / 0x1p37);
    }

    // Verifies elements [first, ...) of C's range. Skips the padding between rows and matrices.
    void verify(const Variant& variant, u64 first, std::span<const std::byte> got, Verdict& verdict) {
        const MatmulShape& s = call_.shape;
        sized_.call([&] {
            const u64 blocks = (s.m + block - 1) / block * s.batch;
            blocks_ = std::vector<Block>(s.n == 0 ? 0 : blocks);
            factors_ = std::vector<Factor>(s.b_stride == 0 ? 1 : s.batch);
        });
        const bool in_order = variant.order != OperationOrder::unspecified;
        const u64 end = first + got.size() / sizeof(T);
        for (u64 i = first; i < end;) {
            const u64 product = s.batch == 1 ? 0 : i / s.c_stride, in_product = i - product * s.c_stride;
            const u64 row = in_product / s.c_pitch, column = in_product % s.c_pitch;
            const u64 stop = std::min(end, i - column + s.c_pitch);
            if (row < s.m && column < s.n && is_verified(row)) {
                if (!in_order) {
                    verify_bound(variant, product, row, column, i, std::min(stop, i - column + s.n), first,
                                 got, verdict);
                    i = s.batch == 1 ? stop : std::min(stop, (product + 1) * s.c_stride);
                    continue;
                }
                const T* expected = row_of(product, row);
                for (u64 j = column; j < s.n && i + (j - column) < stop; ++j) {
                    const u64 at = i + (j - column);
                    const T value = element<T>(got, at - first),
                            wanted = as_computed(finished(expected[j], at));
                    if (!same(wanted, value)) return verdict.differ(difference_of(at, wanted, value));
                }
            }
            // Advances to the next row, or to the next matrix if that comes first.
            i = s.batch == 1 ? stop : std::min(stop, (product + 1) * s.c_stride);
        }
    }

  private:
    static constexpr u64 block = 16;  // rows that one call computes
    struct Block {
        detail::Once once;
        std::vector<T> rows;
    };
    struct Factor {
        detail::Once once;
        std::vector<T> rows;  // of op(B), contiguous
    };

    bool is_verified(u64 row) const {
        return every_ == 1 || row == 0 || row + 1 == call_.shape.m ||
               (row * 0x9e3779b97f4a7c15 >> 32) % every_ == 0;
    }

    // Roundings in the chain to t. Without a chain in the variant's descriptor: k products, k sums in any order, 2
    // spare.
    f64 roundings(const Variant& variant) const {
        const u64 k = call_.shape.k;
        return static_cast<f64>(variant.longest_chain != nullptr ? variant.longest_chain(k) : k + 2);
    }

    // Verifies elements [begin, end) of C's range, which belong to one row. The f64 reference of an f64 result has
    // the same error bound as the result, so the bound doubles. Without random elements products may under- or
    // overflow, and no bound is available.
    void verify_bound(const Variant& variant, u64 product, u64 row, u64 column, u64 begin, u64 end, u64 first,
                      std::span<const std::byte> got, Verdict& verdict) {
        const MatmulShape& s = call_.shape;
        std::vector<f64> sums(s.n), magnitudes(s.n);
        const std::vector<T> a = row_of_a(product, row, 1);
        const T *from_a = a.data(), *from_b = factor(product).data();
        f64 *to_sums = sums.data(), *to_magnitudes = magnitudes.data();
        const void* const arguments[] = {&from_a, &from_b, &to_sums, &to_magnitudes, &s.n, &s.k};
        static constexpr HostKernel kernel = host_kernel<&matmul_reference_bounds<T>>();
        kernel.entry(host_isa())({}, arguments);
        const f64 h = roundings(variant) + 2, twice = sizeof(T) == 8 ? 2 : 1;
        const f64 alpha = static_cast<T>(call_.scale.alpha), beta = static_cast<T>(call_.scale.beta);
        for (u64 at = begin; at < end; ++at) {
            const u64 j = column + (at - begin);
            const T value = element<T>(got, at - first);
            std::vector<std::byte> scratch;
            const f64 added =
                beta == 0 ? 0 : beta * static_cast<f64>(element<T>(before_.piece(at, 1, scratch), 0));
            const f64 wanted = alpha * sums[j] + added,
                      magnitude = std::fabs(alpha) * magnitudes[j] + std::fabs(added);
            ErrorBounds bounds;
            if (a_.pattern == Pattern::random) {
                bounds.error = std::fabs(static_cast<f64>(value) - wanted);
                bounds.hard = twice * gamma_bound<T>(h) * magnitude;
                bounds.alarm = twice * alarm_bound<T>(h) * magnitude;
            }
            verify_within(bounds, at, static_cast<T>(wanted), value, verdict);
        }
    }

    T finished(T t, u64 at) const {
        const T alpha = static_cast<T>(call_.scale.alpha), beta = static_cast<T>(call_.scale.beta);
        if (beta == 0) return alpha * t;
        std::vector<std::byte> scratch;
        const T scaled = beta * element<T>(before_.piece(at, 1, scratch), 0);
        return std::fma(alpha, t, scaled);
    }

    // Gathers rows x columns elements. Element (r, c) is element r * row + c * column of the input.
    static std::vector<T> gathered(const Input& input, u64 begin, u64 rows, u64 columns, u64 row,
                                   u64 column) {
        std::vector<T> all(rows * columns);
        if (all.empty()) return all;
        std::vector<std::byte> scratch;
        const u64 count = (rows - 1) * row + (columns - 1) * column + 1;
        const auto piece = input.piece(begin, count, scratch);
        for (u64 r = 0; r < rows; ++r) {
            for (u64 c = 0; c < columns; ++c)
                all[r * columns + c] = element<T>(piece, r * row + c * column);
        }
        return all;
    }

    const std::vector<T>& factor(u64 product) {
        const MatmulShape& s = call_.shape;
        Factor& found = factors_[s.b_stride == 0 ? 0 : product];
        found.once.call([&] {
            found.rows = gathered(b_, product * s.b_stride, s.k, s.n, s.transpose_b ? 1 : s.b_pitch,
                                  s.transpose_b ? s.b_pitch : 1);
        });
        return found.rows;
    }

    const T* row_of(u64 product, u64 row) {
        const MatmulShape& s = call_.shape;
        const u64 begin = row / block * block, rows = every_ == 1 ? std::min(block, s.m - begin) : 1;
        if (every_ != 1) {
            // Sampled rows are not contiguous.
            thread_local std::vector<T> one;
            one.resize(s.n);
            compute(product, row, 1, one.data());
            return one.data();
        }
        Block& found = blocks_[product * ((s.m + block - 1) / block) + row / block];
        found.once.call([&] {
            found.rows.resize(rows * s.n);
            compute(product, begin, rows, found.rows.data());
        });
        return found.rows.data() + (row - begin) * s.n;
    }

    std::vector<T> row_of_a(u64 product, u64 begin, u64 rows) const {
        const MatmulShape& s = call_.shape;
        const u64 row_step = s.transpose_a ? 1 : s.a_pitch, l_step = s.transpose_a ? s.a_pitch : 1;
        return gathered(a_, product * s.a_stride + begin * row_step, rows, s.k, row_step, l_step);
    }

    void compute(u64 product, u64 begin, u64 rows, T* out) {
        const MatmulShape& s = call_.shape;
        const std::vector<T> a = row_of_a(product, begin, rows);
        const std::vector<T>& b = factor(product);
        const u64 length = std::max<u64>(1, canonical_part(s.m, s.n, s.k)),
                  parts = std::max<u64>(1, (s.k + length - 1) / length);
        std::vector<std::vector<T>> sums(parts, std::vector<T>(rows * s.n));
        for (u64 part = 0; part < parts; ++part) {
            const u64 first = part * length, terms = std::min(length, s.k - first);
            const T *from_a = a.data() + first, *from_b = b.data() + first * s.n;
            T* to = sums[part].data();
            const void* const arguments[] = {&from_a, &from_b, &to, &rows, &s.n, &s.k, &terms};
            static constexpr HostKernel kernel = host_kernel<&matmul_reference_rows<T>>();
            kernel.entry(host_isa())({}, arguments);
        }
        // Neighbours are added until one is left.
        while (sums.size() > 1) {
            std::vector<std::vector<T>> halves;
            for (std::size_t i = 0; i < sums.size(); i += 2) {
                if (i + 1 < sums.size()) {
                    for (u64 e = 0; e < rows * s.n; ++e)
                        sums[i][e] += sums[i + 1][e];
                }
                halves.push_back(std::move(sums[i]));
            }
            sums = std::move(halves);
        }
        std::copy(sums.front().begin(), sums.front().end(), out);
    }

    Input a_, b_, before_;
    MatmulCall call_;
    detail::Once sized_;  // by the first verification: work that does not fit memory needs no space
    std::vector<Block> blocks_;
    std::vector<Factor> factors_;
    u64 every_ = 1;
};

}  // namespace concord::lab
