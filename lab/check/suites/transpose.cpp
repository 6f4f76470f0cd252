// Test cases of transpose. A rule, which the title names, turns a size into a matrix of whole rows. A size that the
// user gave is tested with all rules. The reference is independent of the library's code.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/transpose.hpp>

#include "matrix_shapes.hpp"

namespace concord::lab {
namespace {

// Sizes and pitches of in and out.
struct Shape {
    u64 rows = 0, columns = 0, in_pitch = 0, out_pitch = 0;
};

// A matrix of at most n elements.
struct Rule {
    const char* title;
    u64 rows = 0, columns = 0;  // 0: follows from n; both 0: nearly square
    u64 off_square = 0;         // rows that a square matrix has less, and columns that it has more

    std::optional<Shape> shape(u64 n) const {
        if (rows != 0) return Shape{rows, n / rows};
        if (columns != 0) return Shape{n / columns, columns};
        const u64 side = square_side(n);
        if (side < off_square) return std::nullopt;
        return Shape{side - off_square, side + off_square};
    }
};

constexpr Rule square = {.title = "square"}, oblong = {.title = "oblong", .off_square = 1};
// Thin matrices around the width where kernels switch to strips, which depends on the element size.
constexpr Rule rows1 = {.title = "rows1", .rows = 1}, columns1 = {.title = "columns1", .columns = 1},
               rows3 = {.title = "rows3", .rows = 3}, columns3 = {.title = "columns3", .columns = 3},
               rows33 = {.title = "rows33", .rows = 33}, columns17 = {.title = "columns17", .columns = 17},
               rows64 = {.title = "rows64", .rows = 64}, columns65 = {.title = "columns65", .columns = 65},
               rows129 = {.title = "rows129", .rows = 129};

struct Kind {
    const Rule& rule;
    Gaps gaps;
};
constexpr Kind kinds[] = {
    {square, Gaps::none},    {square, Gaps::odd},     {square, Gaps::even},    {oblong, Gaps::none},
    {oblong, Gaps::odd},     {oblong, Gaps::even},    {rows1, Gaps::none},     {rows1, Gaps::odd},
    {columns1, Gaps::none},  {columns1, Gaps::odd},   {rows3, Gaps::none},     {rows3, Gaps::even},
    {columns3, Gaps::none},  {columns3, Gaps::even},  {columns3, Gaps::odd},   {rows33, Gaps::none},
    {rows33, Gaps::odd},     {columns17, Gaps::none}, {columns17, Gaps::even}, {rows64, Gaps::none},
    {columns65, Gaps::none}, {columns65, Gaps::even}, {rows129, Gaps::none},   {rows129, Gaps::odd}};

u64 pitch_of(u64 columns, Gaps gaps, u64 odd) {
    return gaps == Gaps::none ? columns : gaps == Gaps::odd ? columns + odd : (columns + 31) / 16 * 16;
}

// Verifies elements [first, ...) of out, row by row. Skips the padding between rows.
template <class T>
void verify(const Input& input, const Shape& s, u64 first, std::span<const std::byte> got, Verdict& verdict) {
    const u64 end = first + got.size() / sizeof(T);
    std::vector<std::byte> scratch;
    for (u64 row = first / s.out_pitch * s.out_pitch; row < end; row += s.out_pitch) {
        const u64 c = row / s.out_pitch, stop = std::min(end, row + s.rows);
        for (u64 i = std::max(first, row); i < stop; ++i) {
            const auto expected = input.piece((i - row) * s.in_pitch + c, 1, scratch);
            const auto given = got.subspan((i - first) * sizeof(T), sizeof(T));
            if (std::memcmp(expected.data(), given.data(), sizeof(T)) != 0)
                return verdict.differ(difference_of(i, element<T>(expected, 0), element<T>(given, 0)));
        }
    }
}

std::optional<Work> transpose_work(const Kind& kind, Type type, u64 n, Pattern pattern, u64 seed) {
    const auto& [rule, gaps] = kind;
    const std::optional<Shape> found = rule.shape(n);
    if (!found) return std::nullopt;
    Shape s = *found;
    s.in_pitch = pitch_of(s.columns, gaps, 3);
    s.out_pitch = pitch_of(s.rows, gaps, &rule == &square ? 3 : 5);
    const Input input{type, extent(s.rows, s.columns, s.in_pitch), pattern, seed};
    Work work;
    work.algorithm = "transpose";
    work.title = rule.title;
    if (gaps != Gaps::none) work.title += gaps == Gaps::odd ? " with odd gaps" : " with even gaps";
    work.n = n;
    work.inputs = {input};
    work.outputs = {{type, extent(s.columns, s.rows, s.out_pitch)}};
    if (gaps != Gaps::none) {
        work.outputs.front().row = s.rows;
        work.outputs.front().pitch = s.out_pitch;
    }
    work.shape = {s.rows, s.columns};
    work.traffic = 2 * s.rows * s.columns * size_of(type);
    work.in_place = s.rows == s.columns && s.in_pitch == s.out_pitch;
    work.call = [s](Stream& stream, std::span<const View> in, std::span<const View> out,
                    const Options& options) {
        return transpose(stream, MatrixView{in[0], s.rows, s.columns, s.in_pitch},
                         MatrixView{out[0], s.columns, s.rows, s.out_pitch}, options);
    };
    work.verify = [input, s](const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                             Verdict& verdict) {
        detail::visit_element(input.type, [&](auto tag) {
            verify<typename decltype(tag)::type>(input, s, first, got, verdict);
        });
    };
    return work;
}

// Kernels depend on the element size alone, so one type of each size is tested at all sizes. Every size tests a dense
// square. The other kinds alternate.
void transpose_cases(const Plan& plan, Type type, const CaseSink& emit) {
    const bool main = type == Type::f32 || type == Type::f64 || type == Type::u8;
    const std::vector<u64> sizes = plan.sizes(type, main ? Plan::Depth::huge : Plan::Depth::some);
    const bool asked = plan.sizes_or({}) == sizes;
    std::vector<Pattern> patterns = {Pattern::random};
    if (is_float(type)) patterns.push_back(Pattern::special);
    std::size_t turn = 0;
    for (const u64 n : sizes) {
        std::size_t at = turn++;
        const u64 every = asked || n == 1025 ? 1 : n > u64{1} << 20 ? 24 : n > 20000 ? 8 : 4;
        for (const Kind& kind : kinds) {
            const bool dense_square = &kind == kinds;
            if (at++ % every != 0 && !dense_square) continue;
            for (Plan::Shape& shape : plan.shapes(turn, n, patterns)) {
                if (shape.pattern == Pattern::special && !dense_square) continue;
                const auto work = transpose_work(kind, type, n, shape.pattern, plan.seed());
                if (!work) continue;
                // Two placements: both operands aligned, and both misaligned.
                if (!dense_square && n <= u64{1} << 24) shape.placements = {{}, {.a = 1, .out = 3}};
                if (work->in_place && n <= u64{1} << 27) shape.placements.push_back({.in_place = true});
                emit(*work, shape.placements);
            }
        }
    }
}

}  // namespace

Suite transpose_suite() {
    Suite suite;
    suite.cases = transpose_cases;
    suite.supports_storage = true;
    suite.headlines = {{.workloads = {"square", "oblong", "rows64", "columns3"}}};
    suite.tuning = {
        .workloads = {"square", "columns3"}, .types = {Type::f32, Type::f64, Type::u8}, .quick_workloads = 2};
    suite.steps = {.name = "transpose",
                   .question = "What does a transpose need to run at the rate of a copy?",
                   .explanation =
                       "Tiles in local memory make both reads and writes contiguous. Padding avoids bank "
                       "conflicts. Wide accesses and blocks in registers reduce the number of instructions.",
                   .sizes = {.quick = powers_of_two(16, 20, 2), .full = powers_of_two(16, 28, 4)}};
    // For 2^28 elements oblong is 16383 x 16385. For 2^30, rows64 is 64 x 2^24. For 2^25 + 2^24, columns3 is 2^24 x 3.
    for (const Rule* rule : {&square, &oblong, &rows64, &columns3, &rows3, &columns65, &rows1})
        suite.workloads.push_back(
            {rule->title, [rule](Type type, u64 n, u64 seed) {
                 return transpose_work({*rule, Gaps::none}, type, n, Pattern::random, seed);
             }});
    return suite;
}

}  // namespace concord::lab
