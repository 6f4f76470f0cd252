// The cases of transpose. A size becomes a matrix by a rule, which the title names, and which leaves out the elements that do
// not make a whole row; a size of the caller's choice goes through all rules. References are written here anew, not taken
// from the library.

#include <concord/conformance/compare.hpp>
#include <concord/conformance/suite.hpp>

#include <concord/transpose.hpp>

#include <cmath>

namespace concord::conformance {
namespace {

// The matrix of n elements, or a few less.
struct Rule {
    const char* title;
    u64 rows = 0, columns = 0;  // as many; 0: whatever n gives
    u64 off_square = 0;         // both 0: a square, with so many rows less and columns more

    std::optional<TransposeShape> shape(u64 n) const {
        if (rows != 0) return TransposeShape{rows, n / rows};
        if (columns != 0) return TransposeShape{n / columns, columns};
        u64 side = static_cast<u64>(std::sqrt(static_cast<double>(n)));
        while (side * side > n)
            --side;
        while ((side + 1) * (side + 1) <= n)
            ++side;
        if (side < off_square) return std::nullopt;
        return TransposeShape{side - off_square, side + off_square};
    }
};

constexpr Rule square = {"square"}, oblong = {"oblong", 0, 0, 1};
// Thin ones on both sides of where kernels change to strips, which depends on the size of an element.
constexpr Rule rules[] = {square,           oblong,
                          {"rows1", 1},     {"columns1", 0, 1},
                          {"rows3", 3},     {"columns3", 0, 3},
                          {"rows16", 16},   {"columns17", 0, 17},
                          {"rows33", 33},   {"columns32", 0, 32},
                          {"rows64", 64},   {"columns65", 0, 65},
                          {"rows129", 129}, {"columns128", 0, 128}};

// What lies between rows: nothing; so little that rows are not aligned; as much as keeps packs of 16 bytes aligned.
enum class Gaps { none, odd, even };
constexpr Gaps all_gaps[] = {Gaps::none, Gaps::odd, Gaps::even};

u64 pitch_of(u64 columns, Gaps gaps, u64 odd) {
    return gaps == Gaps::none ? columns : gaps == Gaps::odd ? columns + odd : (columns + 31) / 16 * 16;
}

// The elements from the first to the last.
u64 extent(u64 rows, u64 columns, u64 pitch) {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * pitch + columns;
}

// Elements [first, ...) of out: each piece of a row of in that they come from is looked at once.
template <class T>
void judge(const Input& input, const TransposeShape& s, u64 first, std::span<const std::byte> got,
           Verdict& verdict) {
    const u64 end = first + got.size() / sizeof(T);
    const u64 column = first / s.out_pitch, columns = (end - 1) / s.out_pitch + 1 - column;
    std::vector<std::byte> scratch;
    for (u64 r = 0; r < s.rows; ++r) {
        // Of a single row of out only what is there.
        if (columns == 1 && (column * s.out_pitch + r < first || column * s.out_pitch + r >= end)) continue;
        const auto from = input.piece(r * s.in_pitch + column, columns, scratch);
        for (u64 c = 0; c < columns; ++c) {
            const u64 i = (column + c) * s.out_pitch + r;
            if (i < first || i >= end) continue;
            if (std::memcmp(from.data() + c * sizeof(T), got.data() + (i - first) * sizeof(T), sizeof(T)) !=
                0)
                verdict.differ(difference_of(i, element<T>(from, c), element<T>(got, i - first)));
        }
    }
}

std::optional<Work> transpose_work(const Rule& rule, Gaps gaps, Type type, u64 n, Pattern pattern, u64 seed) {
    const std::optional<TransposeShape> found = rule.shape(n);
    if (!found) return std::nullopt;
    TransposeShape s = *found;
    s.in_pitch = pitch_of(s.columns, gaps, 3);
    s.out_pitch = pitch_of(s.rows, gaps, rule.title == square.title ? 3 : 5);
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
                    const Options& options) { return transpose(stream, in[0], out[0], s, options); };
    work.judge = [input, s](const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                            Verdict& verdict) {
        visit(input.type,
              [&](auto tag) { judge<typename decltype(tag)::type>(input, s, first, got, verdict); });
    };
    return work;
}

// Kernels know the size of an element only: one type of each size goes through everything. Larger matrices take turns in
// rules and gaps.
void transpose_cases(const Plan& plan, Type type, const Take& take) {
    const bool all = type == Type::f32 || type == Type::f64 || type == Type::u8;
    const std::vector<u64> sizes = plan.sizes(type, all ? Plan::Depth::huge : Plan::Depth::some);
    const bool asked = plan.sizes_or({}) == sizes;
    const std::vector<Pattern> patterns =
        is_float(type) ? std::vector{Pattern::random, Pattern::special} : std::vector{Pattern::random};
    std::size_t turn = 0, kind = 0;
    for (const u64 n : sizes) {
        kind = 0;
        for (const Rule& rule : rules) {
            for (const Gaps gaps : all_gaps) {
                const bool everything = asked || n == 1025 || (n <= 257 && all);
                const u64 every = n > u64{1} << 21 ? 42 : n > 20000 ? 14 : all ? 3 : 7;
                if (!everything && (kind++ + turn) % every != 0) continue;
                for (Plan::Shape& shape : plan.shapes(turn + kind, n, patterns)) {
                    if (shape.pattern == Pattern::special && gaps != Gaps::none) continue;
                    const auto work = transpose_work(rule, gaps, type, n, shape.pattern, plan.seed());
                    if (!work) continue;
                    if (work->in_place && n <= u64{1} << 27) shape.placements.push_back({0, 0, 0, true});
                    take(*work, shape.placements);
                }
            }
        }
        ++turn;
    }
}

}  // namespace

Suite transpose_suite() {
    Suite suite;
    suite.cases = transpose_cases;
    // Of 2^28 elements oblong is 16383 x 16385; rows64 of 2^30 is 64 x 2^24, columns3 of 2^25 + 2^24 is 2^24 x 3.
    for (const char* const title :
         {"square", "oblong", "rows64", "columns3", "rows3", "columns65", "rows1"}) {
        for (const Rule& rule : rules) {
            if (rule.title != std::string_view(title)) continue;
            suite.workloads.push_back({title, [rule](Type type, u64 n, u64 seed) {
                                           return transpose_work(rule, Gaps::none, type, n, Pattern::random,
                                                                 seed);
                                       }});
        }
    }
    return suite;
}

}  // namespace concord::conformance
