// Test cases of convolve. A rule turns a size into an image. Masks, borders and row padding alternate over the sizes. A
// size that the user gave is tested with all of them. The reference is independent of the library's code.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/convolve.hpp>

#include "matrix_shapes.hpp"

#include <cmath>
#include <mutex>

namespace concord::lab {
namespace {

// The image and the result.
struct Shape {
    u64 rows = 0, columns = 0;
    ConvolveBorder border = ConvolveBorder::zero;
    u64 in_pitch = 0, out_pitch = 0;
};

constexpr auto zero = ConvolveBorder::zero, clamp = ConvolveBorder::clamp;

// Values of the mask.
enum class Taps {
    random,
    product,  // outer product of a column and a row: rank one
    special   // random, with zeros of both signs, denormals and an infinity
};

struct Kind {
    u64 rows, columns;  // of the mask
    ConvolveBorder border;
    u64 image_rows = 0, image_columns = 0;  // 0: follows from n; both 0: nearly square
    u64 gap = 0;                            // padding of in's rows; out's rows have one element more
    Taps taps = Taps::random;

    std::string title() const {
        std::string text = std::to_string(rows) + "x" + std::to_string(columns);
        if (border == clamp) text += " clamp";
        if (taps == Taps::product) text += " of rank one";
        if (taps == Taps::special) text += " special";
        if (image_rows != 0) text += ", " + std::to_string(image_rows) + (image_rows == 1 ? " row" : " rows");
        if (image_columns != 0)
            text += ", " + std::to_string(image_columns) + (image_columns == 1 ? " column" : " columns");
        return gap != 0 ? text + ", gaps" : text;
    }
    // One column more than rows, which exposes a mix-up of the two. At most n elements.
    Shape shape(u64 n) const {
        Shape s{0, 0, border};
        if (image_rows != 0 || image_columns != 0) {
            s.rows = image_rows != 0 ? image_rows : n / image_columns;
            s.columns = image_columns != 0 ? image_columns : n / image_rows;
        } else {
            const u64 side = square_side(n);
            s.rows = s.columns = side;
            if (side * side + side <= n) ++s.columns;
        }
        s.in_pitch = s.columns + gap;
        s.out_pitch = s.columns + (gap != 0 ? gap + 1 : 0);
        return s;
    }
};

// Masks of the shapes that kernels treat differently: small and unrolled, taller than the image, larger than most
// images, and too large for a kernel's parameters in f64. Images with hundreds of columns have warps without border
// elements.
constexpr Kind kinds[] = {{.rows = 5, .columns = 5, .border = zero},
                          {.rows = 3, .columns = 7, .border = clamp, .gap = 3},
                          {.rows = 5, .columns = 5, .border = clamp, .taps = Taps::product},
                          {.rows = 3, .columns = 7, .border = zero, .image_rows = 5},
                          {.rows = 5, .columns = 5, .border = zero, .gap = 4, .taps = Taps::special},
                          {.rows = 31, .columns = 31, .border = clamp},
                          {.rows = 5, .columns = 5, .border = clamp, .image_columns = 3},
                          {.rows = 1, .columns = 1, .border = zero, .gap = 1, .taps = Taps::special},
                          {.rows = 31, .columns = 31, .border = zero, .image_columns = 33},
                          {.rows = 5, .columns = 5, .border = zero, .gap = 3, .taps = Taps::product},
                          {.rows = 3, .columns = 7, .border = clamp, .image_rows = 1},
                          {.rows = 5, .columns = 5, .border = clamp, .image_columns = 65},
                          {.rows = 5, .columns = 5, .border = zero, .image_columns = 384},
                          {.rows = 3, .columns = 7, .border = clamp, .image_columns = 293, .gap = 2}};

// Values of a mask, in host memory.
template <class T>
std::vector<T> values_of(const Kind& kind, u64 seed) {
    auto random = [&](u64 count, u64 more, Pattern pattern) {
        const Input input{type_of<T>(), count, pattern, seed + more};
        std::vector<T> values(count);
        input.make(0, std::as_writable_bytes(std::span(values)));
        return values;
    };
    if (kind.taps != Taps::product) {
        std::vector<T> all = random(kind.rows * kind.columns, 1, Pattern::random);
        if (kind.taps == Taps::special && !all.empty()) {
            const T some[] = {-T(0), std::numeric_limits<T>::denorm_min(), T(0),
                              -std::numeric_limits<T>::infinity()};
            for (std::size_t k = 0; k < std::size(some); ++k)
                all[(k * 7 + 3) % all.size()] = some[k];
        }
        return all;
    }
    const std::vector<T> column = random(kind.rows, 2, Pattern::near_one),
                         row = random(kind.columns, 3, Pattern::random);
    std::vector<T> all;
    for (const T c : column) {
        for (const T r : row)
            all.push_back(c * r);
    }
    return all;
}

// Expected results, and error bounds of variants in another order.
template <class I, class T>
class Reference {
  public:
    Reference(Input image, const Shape& shape, const Kind& kind, std::vector<T> mask)
        : image_(std::move(image)),
          s_(shape),
          rows_(kind.rows),
          columns_(kind.columns),
          mask_(std::move(mask)) {}

    const Shape& shape() const { return s_; }
    ConvolveMask mask() const { return ConvolveMask(mask_, rows_, columns_); }

    // Row y of the results.
    std::vector<T> row(u64 y) const {
        std::vector<T> results(s_.columns, T(0));
        for_taps(y, [&](u64 x, T tap, T cell) { results[x] = std::fma(tap, cell, results[x]); });
        for (T& result : results)
            result = as_computed(result);
        return results;
    }
    // Row y in a wider type, and the sums of magnitudes.
    using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
    struct Exact {
        std::vector<Wide> sum;
        std::vector<double> magnitude;
    };
    Exact exact_row(u64 y) const {
        Exact row{std::vector<Wide>(s_.columns), std::vector<double>(s_.columns)};
        for_taps(y, [&](u64 x, T tap, T cell) {
            row.sum[x] += Wide(tap) * Wide(cell);
            row.magnitude[x] += std::abs(static_cast<double>(tap) * static_cast<double>(cell));
        });
        return row;
    }
    bool has_random_mantissas() const { return image_.pattern == Pattern::random; }
    // Roundings in the longest chain to a result. A variant with its own order passes the two factors' chains; for a
    // library, whose order is unknown, the longer of both chains counts.
    double roundings(const Variant& variant) const {
        const u64 factors = rows_ + columns_ + detail::separable_slack;
        const bool has_factors = variant.order == OperationOrder::variant_specific;
        return static_cast<double>(has_factors ? factors : std::max(factors, rows_ * columns_));
    }

  private:
    // Calls f(x, tap, cell) for all taps and results of row y. Each result receives its taps in order.
    template <class F>
    void for_taps(u64 y, F f) const {
        std::vector<std::byte> scratch;
        const i64 rows = static_cast<i64>(s_.rows), columns = static_cast<i64>(s_.columns);
        std::vector<I> cells(s_.columns);
        for (u64 j = 0; j < rows_; ++j) {
            const i64 r = static_cast<i64>(y + j) - static_cast<i64>(rows_ / 2);
            const bool row_inside = r >= 0 && r < rows;
            const u64 near = static_cast<u64>(std::clamp<i64>(r, 0, rows - 1));
            const auto piece = image_.piece(near * s_.in_pitch, s_.columns, scratch);
            std::memcpy(cells.data(), piece.data(), piece.size());
            for (u64 i = 0; i < columns_; ++i) {
                const T tap = mask_[j * columns_ + i];
                for (i64 x = 0; x < columns; ++x) {
                    const i64 at = x + static_cast<i64>(i) - static_cast<i64>(columns_ / 2);
                    const bool inside = row_inside && at >= 0 && at < columns;
                    const auto c = static_cast<u64>(std::clamp<i64>(at, 0, columns - 1));
                    f(static_cast<u64>(x), tap,
                      inside || s_.border == clamp ? static_cast<T>(cells[c]) : T(0));
                }
            }
        }
    }

    Input image_;
    Shape s_;
    u64 rows_, columns_;
    std::vector<T> mask_;
};

// Verifies elements of one row: bitwise in canonical order, otherwise within the error bounds. NaNs and infinities must
// match the canonical result in any order.
template <class I, class T>
void verify_row(const Reference<I, T>& reference, const Variant& variant, u64 y, u64 first,
                std::span<const T> got, u64 index, Verdict& verdict) {
    const bool by_bits = variant.order == OperationOrder::canonical;
    const std::vector<T> expected = reference.row(y);
    std::optional<typename Reference<I, T>::Exact> exact;
    if (!by_bits) exact = reference.exact_row(y);
    for (u64 k = 0; k < got.size(); ++k) {
        const u64 x = first + k;
        const bool equal = same(expected[x], got[k]);
        if (by_bits || !std::isfinite(expected[x])) {
            if (!by_bits) verdict.bits = false;
            if (!equal) return verdict.differ(difference_of(index + k, expected[x], got[k]));
            continue;
        }
        ErrorBounds bounds;
        bounds.error = static_cast<double>(std::abs(typename Reference<I, T>::Wide(got[k]) - exact->sum[x]));
        bounds.hard = gamma_bound<T>(reference.roundings(variant)) * exact->magnitude[x];
        if (reference.has_random_mantissas())
            bounds.alarm = alarm_bound<T>(reference.roundings(variant)) * exact->magnitude[x];
        verify_within(bounds, index + k, expected[x], got[k], verdict);
    }
}

// Verifies elements [first, ...) of out, row by row. Skips the padding between rows.
template <class I, class T>
void verify(const Reference<I, T>& reference, const Variant& variant, u64 first,
            std::span<const std::byte> bytes, Verdict& verdict) {
    const Shape& s = reference.shape();
    std::vector<T> got(bytes.size() / sizeof(T));
    std::memcpy(got.data(), bytes.data(), bytes.size());
    const u64 end = first + got.size();
    for (u64 row = first / s.out_pitch * s.out_pitch; row < end; row += s.out_pitch) {
        const u64 begin = std::max(first, row), stop = std::min(end, row + s.columns);
        if (begin >= stop) continue;
        verify_row(reference, variant, row / s.out_pitch, begin - row,
                   std::span<const T>(got).subspan(begin - first, stop - begin), begin, verdict);
        if (verdict.difference) return;
    }
}

template <class I, class T>
Work work_of(const Kind& kind, u64 n, Pattern pattern, u64 seed) {
    const Shape s = kind.shape(n);
    const Input image{type_of<I>(), extent(s.rows, s.columns, s.in_pitch), pattern, seed};
    const auto reference = std::make_shared<const Reference<I, T>>(image, s, kind, values_of<T>(kind, seed));
    Work work;
    work.algorithm = "convolve";
    work.title = kind.title();
    work.n = n;
    // Variants read the mask from host memory. Baselines read this input.
    const Input mask{type_of<T>(), kind.rows * kind.columns, Pattern::random, seed, [reference](u64 i, u64) {
                         u64 bits = 0;
                         std::memcpy(&bits, static_cast<const T*>(reference->mask().values) + i, sizeof(T));
                         return bits;
                     }};
    work.inputs = {image, mask};
    work.outputs = {{type_of<T>(), extent(s.rows, s.columns, s.out_pitch)}};
    if (kind.gap != 0) {
        work.outputs.front().row = s.columns;
        work.outputs.front().pitch = s.out_pitch;
    }
    work.shape = {s.rows, s.columns, kind.rows, kind.columns};
    work.traffic = s.rows * s.columns * (sizeof(I) + sizeof(T));
    work.operations = 2 * kind.rows * kind.columns * s.rows * s.columns;
    work.in_place = false;
    work.call = [reference](Stream& stream, std::span<const View> in, std::span<const View> out,
                            const Options& options) {
        const Shape& shape = reference->shape();
        return convolve(stream, MatrixView{in[0], shape.rows, shape.columns, shape.in_pitch},
                        reference->mask(), MatrixView{out[0], shape.rows, shape.columns, shape.out_pitch},
                        shape.border, options);
    };
    work.verify = [reference](const Variant& variant, std::size_t, u64 first, std::span<const std::byte> got,
                              Verdict& verdict) { verify(*reference, variant, first, got, verdict); };
    return work;
}

std::optional<Work> convolve_work(const Kind& kind, Type type, u64 n, Pattern pattern, u64 seed) {
    if (type == Type::u8) return work_of<u8, f32>(kind, n, pattern, seed);
    if (type == Type::f32) return work_of<f32, f32>(kind, n, pattern, seed);
    if (type == Type::f64) return work_of<f64, f64>(kind, n, pattern, seed);
    return std::nullopt;
}

constexpr u64 some_sizes[] = {0, 1, 7, 65, 1009, 1056, 4225, 16385, 66049};
constexpr u64 large_sizes[] = {(1 << 20) + 1, u64{1} << 24, (u64{1} << 26) + 12345};

void convolve_cases(const Plan& plan, Type type, const CaseSink& emit) {
    std::vector<u64> sizes(std::begin(some_sizes), std::end(some_sizes));
    if (plan.full()) sizes.insert(sizes.end(), std::begin(large_sizes), std::end(large_sizes));
    sizes = plan.sizes_or(sizes);
    const bool asked = !plan.sizes_or({}).empty();
    std::size_t turn = 0;
    for (const u64 n : sizes) {
        ++turn;
        std::size_t at = 0;
        for (Kind kind : kinds) {
            const std::size_t place = at++;
            // u8 images use the code of f32. Kernels for the largest masks compile slowly, so u8 uses a smaller mask.
            if (type == Type::u8 && kind.rows == 31) kind.rows = kind.columns = 9;
            // All kinds at one small size, fewer at the others.
            const std::size_t every = asked || n == 1009 ? 1 : n > 20000 ? 6 : 3;
            if ((place + turn) % every != 0) continue;
            // The largest masks compile slowly (some sizes skip them), and their reference is slow for large images.
            if (kind.rows * kind.columns > 100 && ((n >= 100 && n < 200) || n > u64{1} << 17)) continue;
            std::vector<Pattern> patterns = {Pattern::random};
            if (is_float(type) && (n == 1009 || asked)) {
                patterns.push_back(Pattern::special);
                patterns.push_back(Pattern::tiny);
            }
            for (const Plan::Shape& shape : plan.shapes(turn, n, patterns)) {
                // No error bound is available for products that underflow.
                if (kind.taps == Taps::product && shape.pattern == Pattern::tiny) continue;
                const auto work = convolve_work(kind, type, n, shape.pattern, plan.seed());
                if (work) emit(*work, {{}, {.a = 1, .out = 3}});
            }
        }
    }
}

}  // namespace

Suite convolve_suite() {
    Suite suite;
    suite.cases = convolve_cases;
    suite.headlines = {{.workloads = {"3x3", "5x5", "7x7"}}};
    suite.tuning = {.workloads = {"3x3", "5x5", "7x7"}, .types = {Type::f32, Type::u8}, .quick_workloads = 2};
    suite.steps = {
        .name = "convolution",
        .question = "Which memory should hold the mask and the neighbourhood of each pixel?",
        .explanation =
            "The steps go from global memory alone to the mask in constant memory, tiles of the image "
            "in local memory, and blocks of results in registers.",
        .sizes = {.quick = powers_of_two(16, 20, 2), .full = powers_of_two(16, 26, 2)},
        .workloads = {"3x3", "5x5", "7x7"}};
    static constexpr Kind measured[] = {{.rows = 5, .columns = 5, .border = zero},
                                        {.rows = 3, .columns = 3, .border = zero},
                                        {.rows = 7, .columns = 7, .border = zero},
                                        {.rows = 15, .columns = 15, .border = zero},
                                        {.rows = 5, .columns = 5, .border = clamp},
                                        {.rows = 5, .columns = 5, .border = zero, .taps = Taps::product},
                                        {.rows = 15, .columns = 15, .border = zero, .taps = Taps::product},
                                        {.rows = 31, .columns = 31, .border = zero}};
    for (const Kind& kind : measured)
        suite.workloads.push_back({kind.title(), [&kind](Type type, u64 n, u64 seed) {
                                       return convolve_work(kind, type, n, Pattern::random, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
