// Test cases of matmul: shapes around the kernels' tiles, transposed operands, padded rows, batches, alpha and beta.
// A size that the user gave is the number of elements of C. It is tested with all rules, and the title names the rule.

#include <concord/lab/suite.hpp>

#include "matmul_reference.hpp"
#include "matrix_shapes.hpp"

namespace concord::lab {
namespace {

struct Case {
    const char* title;
    u64 m, n, k;
    bool transpose_a = false, transpose_b = false;
    Gaps gaps = Gaps::none;
    u64 batch = 1;
    bool shared = false;  // all products use one B
    f64 alpha = 1, beta = 0;
};

u64 pitch_of(u64 columns, Gaps gaps, u64 odd) {
    return gaps == Gaps::none ? columns : gaps == Gaps::odd ? columns + odd : (columns + 19) / 16 * 16;
}

// Number of elements from the first to the last of all matrices.
u64 batch_extent(u64 rows, u64 columns, u64 pitch, u64 batch, u64 stride) {
    return rows == 0 || columns == 0 || batch == 0 ? 0 : (batch - 1) * stride + extent(rows, columns, pitch);
}

// The operand of a batch of products; a stride of 0 shares one matrix.
VolumeView operand(const View& range, u64 rows, u64 columns, bool is_column_major, u64 pitch, u64 batch,
                   u64 stride) {
    return {.range = range,
            .depth = stride == 0 ? 1 : batch,
            .rows = rows,
            .columns = columns,
            .pitch = pitch,
            .plane_pitch = stride,
            .layout = is_column_major ? Layout::column_major : Layout::row_major};
}

Work matmul_work(const Case& at, Type type, u64 size, Pattern pattern, u64 seed) {
    MatmulCall call;
    MatmulShape& s = call.shape;
    s = {.m = at.m, .n = at.n, .k = at.k, .transpose_a = at.transpose_a, .transpose_b = at.transpose_b};
    call.scale = {at.alpha, at.beta};
    const u64 a_rows = at.transpose_a ? at.k : at.m, a_columns = at.transpose_a ? at.m : at.k;
    const u64 b_rows = at.transpose_b ? at.n : at.k, b_columns = at.transpose_b ? at.k : at.n;
    s.a_pitch = pitch_of(a_columns, at.gaps, 3);
    s.b_pitch = pitch_of(b_columns, at.gaps, 5);
    s.c_pitch = pitch_of(at.n, at.gaps, 1);
    s.batch = at.batch;
    s.a_stride = a_rows * s.a_pitch + (at.gaps == Gaps::odd ? 1 : 0);
    s.b_stride = at.shared ? 0 : b_rows * s.b_pitch;
    s.c_stride = at.m * s.c_pitch;
    // If alpha or beta apply, C is the first input and the call works in place. Otherwise the kernel must not read C.
    const bool reads_c = at.beta != 0 || at.alpha != 1;
    const Input a{type, batch_extent(a_rows, a_columns, s.a_pitch, at.batch, s.a_stride), pattern, seed},
        b{type, batch_extent(b_rows, b_columns, s.b_pitch, at.batch, s.b_stride), pattern, seed + 1},
        before{type, batch_extent(at.m, at.n, s.c_pitch, at.batch, s.c_stride),
               at.beta == 0 ? Pattern::special : pattern, seed + 2};
    Work work;
    work.algorithm = "matmul";
    work.title = at.title;
    work.n = size;
    if (reads_c) work.inputs = {before};
    work.inputs.push_back(a);
    work.inputs.push_back(b);
    work.outputs = {{type, before.count}};
    if (at.gaps != Gaps::none) {
        work.outputs.front().row = at.n;
        work.outputs.front().pitch = s.c_pitch;
    }
    work.shape = {at.m, at.n, at.k, at.transpose_a ? u64{1} : 0, at.transpose_b ? u64{1} : 0, at.batch};
    work.traffic = (at.m * at.k + at.k * at.n + at.m * at.n) * at.batch * size_of(type);
    work.operations = 2 * at.m * at.n * at.k * at.batch;
    work.product = true;
    work.in_place = reads_c;
    work.call = [call, reads_c](Stream& stream, std::span<const View> in, std::span<const View> out,
                                const Options& options) {
        const std::size_t first = reads_c ? 1 : 0;
        const MatmulShape& s = call.shape;
        return matmul(stream, operand(in[first], s.m, s.k, s.transpose_a, s.a_pitch, s.batch, s.a_stride),
                      operand(in[first + 1], s.k, s.n, s.transpose_b, s.b_pitch, s.batch, s.b_stride),
                      operand(out[0], s.m, s.n, false, s.c_pitch, s.batch, s.c_stride), call.scale, options);
    };
    auto verified_by = [&]<class T>(detail::TypeTag<T>) {
        work.verify = [reference = std::make_shared<MatmulReference<T>>(a, b, before, call)](
                          const Variant& variant, std::size_t, u64 first, std::span<const std::byte> got,
                          Verdict& verdict) { reference->verify(variant, first, got, verdict); };
    };
    detail::visit_float(type, verified_by);
    return work;
}

// Makes a case with about n elements of C.
using Rule = Case (*)(u64 n);
constexpr Rule rules[] = {
    [](u64 n) {
        return Case{.title = "square", .m = square_side(n), .n = square_side(n), .k = square_side(n)};
    },
    [](u64 n) {
        return Case{.title = "square, A and B transposed",
                    .m = square_side(n),
                    .n = square_side(n),
                    .k = square_side(n),
                    .transpose_a = true,
                    .transpose_b = true};
    },
    [](u64 n) { return Case{.title = "tall", .m = n / 64, .n = 64, .k = 64}; },
    [](u64 n) { return Case{.title = "wide", .m = 64, .n = n / 64, .k = 64}; },
    [](u64 n) {
        return Case{
            .title = "deep", .m = square_side(n) / 8, .n = square_side(n) / 8, .k = square_side(n) * 8};
    },
    [](u64 n) { return Case{.title = "batch", .m = 32, .n = 32, .k = 32, .batch = n / 1024}; },
};
// Rules that benchmarks do not measure.
constexpr Rule more_rules[] = {
    [](u64 n) {
        return Case{.title = "gaps",
                    .m = square_side(n) - std::min<u64>(1, square_side(n)),
                    .n = square_side(n) + 1,
                    .k = square_side(n) / 2 + 3,
                    .transpose_a = true,
                    .gaps = Gaps::odd};
    },
    [](u64 n) {
        return Case{.title = "even gaps",
                    .m = square_side(n),
                    .n = square_side(n) + 2,
                    .k = square_side(n) / 2 + 3,
                    .transpose_b = true,
                    .gaps = Gaps::even};
    },
    [](u64 n) {
        return Case{.title = "alpha", .m = square_side(n), .n = square_side(n), .k = 9, .alpha = 1.75};
    },
    [](u64 n) {
        return Case{.title = "beta",
                    .m = square_side(n),
                    .n = square_side(n),
                    .k = square_side(n) + 5,
                    .alpha = -0.75,
                    .beta = 1.5};
    },
};

// Empty products, single elements, sizes around the tiles' sides (8 to 128) and depths (8, 16) and around the CPU's
// blocks of k, long and thin matrices, batches, and A, B and C as parts of larger matrices.
constexpr Case cases[] = {
    {.title = "empty", .m = 0, .n = 5, .k = 3},
    {.title = "empty", .m = 5, .n = 0, .k = 3},
    {.title = "k of 0", .m = 5, .n = 7, .k = 0},
    {.title = "k of 0, beta", .m = 17, .n = 33, .k = 0, .alpha = 2, .beta = 0.5},
    {.title = "one", .m = 1, .n = 1, .k = 1},
    {.title = "small", .m = 2, .n = 3, .k = 4},
    {.title = "small", .m = 7, .n = 11, .k = 13, .transpose_a = true, .transpose_b = true, .gaps = Gaps::odd},
    {.title = "small", .m = 8, .n = 8, .k = 8},
    {.title = "tile - 1", .m = 31, .n = 31, .k = 15, .transpose_b = true},
    {.title = "tile", .m = 32, .n = 32, .k = 16},
    {.title = "tile + 1", .m = 33, .n = 33, .k = 17, .transpose_a = true},
    {.title = "tile - 1", .m = 63, .n = 65, .k = 31, .gaps = Gaps::odd},
    {.title = "tile",
     .m = 64,
     .n = 64,
     .k = 32,
     .transpose_a = true,
     .transpose_b = true,
     .gaps = Gaps::even},
    {.title = "tile + 1", .m = 65, .n = 63, .k = 33, .transpose_b = true, .gaps = Gaps::even},
    {.title = "tile - 1", .m = 127, .n = 129, .k = 7, .transpose_a = true, .gaps = Gaps::even},
    {.title = "tile", .m = 128, .n = 128, .k = 24},
    {.title = "tile + 1", .m = 129, .n = 127, .k = 9, .transpose_b = true, .gaps = Gaps::odd},
    {.title = "primes", .m = 251, .n = 97, .k = 101, .transpose_a = true, .transpose_b = true},
    {.title = "row", .m = 1, .n = 300, .k = 50},
    {.title = "column", .m = 300, .n = 1, .k = 50, .transpose_b = true},
    {.title = "row by column", .m = 1, .n = 1, .k = 1031},
    {.title = "row by column", .m = 1, .n = 1, .k = (1 << 17) + 1},
    {.title = "tall", .m = 1009, .n = 3, .k = 7},
    {.title = "wide", .m = 3, .n = 1009, .k = 9, .transpose_a = true},
    {.title = "deep", .m = 5, .n = 9, .k = 2003},
    {.title = "deep",
     .m = 33,
     .n = 20,
     .k = 1090,
     .transpose_a = true,
     .transpose_b = true,
     .gaps = Gaps::odd},
    {.title = "deep", .m = 40, .n = 24, .k = 2114, .transpose_b = true},
    {.title = "deep batch, beta",
     .m = 9,
     .n = 34,
     .k = 2113,
     .gaps = Gaps::even,
     .batch = 3,
     .alpha = 0.5,
     .beta = -1.25},
    {.title = "blocks of k", .m = 37, .n = 70, .k = 521, .transpose_b = true},
    {.title = "blocks of k, beta",
     .m = 30,
     .n = 33,
     .k = 700,
     .transpose_a = true,
     .gaps = Gaps::odd,
     .alpha = 0.5,
     .beta = -1.25},
    {.title = "alpha", .m = 67, .n = 66, .k = 20, .alpha = -3},
    {.title = "alpha, beta",
     .m = 65,
     .n = 130,
     .k = 18,
     .transpose_b = true,
     .gaps = Gaps::even,
     .alpha = 1.0 / 3,
     .beta = 1},
    {.title = "batch", .m = 5, .n = 7, .k = 3, .batch = 37},
    {.title = "batch of one B",
     .m = 33,
     .n = 20,
     .k = 17,
     .transpose_a = true,
     .gaps = Gaps::odd,
     .batch = 5,
     .shared = true},
    {.title = "batch, beta",
     .m = 9,
     .n = 34,
     .k = 12,
     .transpose_b = true,
     .gaps = Gaps::even,
     .batch = 4,
     .beta = 2},
    // Enough tiles for large GPUs to use the largest one, with every layout of the operands.
    {.title = "many tiles", .m = 2049, .n = 2056, .k = 18},
    {.title = "many tiles", .m = 2052, .n = 2056, .k = 17, .transpose_a = true, .gaps = Gaps::even},
    {.title = "many tiles",
     .m = 2053,
     .n = 2051,
     .k = 9,
     .transpose_a = true,
     .transpose_b = true,
     .gaps = Gaps::odd},
};
constexpr Case large_cases[] = {
    {.title = "large", .m = 1000, .n = 1030, .k = 515},
    {.title = "large",
     .m = 1023,
     .n = 513,
     .k = 777,
     .transpose_a = true,
     .transpose_b = true,
     .gaps = Gaps::odd},
    {.title = "large", .m = 2048, .n = 2048, .k = 100},
    {.title = "large", .m = 4096, .n = 4096, .k = 33, .transpose_b = true},
    {.title = "large, beta",
     .m = 1501,
     .n = 1203,
     .k = 509,
     .transpose_a = true,
     .gaps = Gaps::even,
     .alpha = 0.1,
     .beta = 0.2},
    {.title = "large batch", .m = 64, .n = 64, .k = 64, .batch = 4096},
    {.title = "long", .m = 2, .n = 3, .k = (1 << 22) + 5},
    {.title = "thin", .m = (1 << 22) + 3, .n = 2, .k = 3},
};
// Every tile of the kernels and every layout of the operands.
constexpr Case compile_cases[] = {
    {.title = "small", .m = 64, .n = 64, .k = 8},
    {.title = "deep", .m = 64, .n = 64, .k = 4096},
    {.title = "middle", .m = 1024, .n = 1024, .k = 4},
    {.title = "large", .m = 4096, .n = 4096, .k = 1},
    {.title = "large", .m = 4096, .n = 4096, .k = 1, .transpose_a = true, .transpose_b = true},
    {.title = "large", .m = 4096, .n = 4096, .k = 1, .transpose_a = true, .gaps = Gaps::odd},
};

constexpr Placement apart[] = {{}, {.a = 1, .out = 3}, {.a = 3, .b = 1, .out = 1}};
constexpr Placement within[] = {{.in_place = true}, {.a = 1, .b = 3, .in_place = true}};

void emit_case(const Plan& plan, const Case& at, Type type, u64 size, std::size_t turn,
               Plan::Coverage coverage, const CaseSink& emit) {
    constexpr Pattern patterns[] = {Pattern::random, Pattern::tiny, Pattern::special, Pattern::mixed};
    const bool in_place = at.beta != 0 || at.alpha != 1;
    const std::span<const Placement> places =
        in_place ? std::span<const Placement>(within) : std::span<const Placement>(apart);
    for (std::size_t p = 0; p < std::size(patterns); ++p) {
        // Always random elements; the other patterns alternate.
        if (p > 0 && (plan.compiles_only() || turn % 3 + 1 != p) && !plan.is_asked_for(patterns[p])) continue;
        if (!plan.allows(patterns[p])) continue;
        std::vector<Placement> chosen;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (coverage == Plan::Coverage::every || i == (turn + p) % places.size() ||
                (plan.compiles_only() && i == 0))
                chosen.push_back(places[i]);
        }
        if (plan.compiles_only()) chosen.resize(1);
        emit(matmul_work(at, type, size, patterns[p], plan.seed()), chosen);
    }
}

void matmul_cases(const Plan& plan, Type type, const CaseSink& emit) {
    if (!is_float(type)) return;
    std::size_t turn = 0;
    auto all = [&](std::span<const Case> list) {
        for (const Case& at : list)
            emit_case(plan, at, type, at.m * at.n * at.batch, turn++, Plan::Coverage::rotating, emit);
    };
    if (const std::vector<u64> sizes = plan.sizes_or({}); !sizes.empty()) {
        for (const u64 n : sizes) {
            for (const Rule rule : rules)
                emit_case(plan, rule(n), type, n, turn++, Plan::Coverage::every, emit);
            for (const Rule rule : more_rules)
                emit_case(plan, rule(n), type, n, turn++, Plan::Coverage::every, emit);
            // Also the listed cases of that size, so that the user can repeat a failure.
            for (const std::span<const Case> list :
                 {std::span<const Case>(cases), std::span<const Case>(large_cases)}) {
                for (const Case& at : list) {
                    if (at.m * at.n * at.batch == n)
                        emit_case(plan, at, type, n, turn++, Plan::Coverage::every, emit);
                }
            }
        }
        return;
    }
    if (plan.compiles_only()) return all(compile_cases);
    all(cases);
    if (plan.full()) all(large_cases);
}

}  // namespace

Suite matmul_suite() {
    Suite suite;
    suite.cases = matmul_cases;
    suite.bench_sizes = {1 << 10, 1 << 16, 1 << 20, 1 << 22};
    suite.study_sizes = {.quick = {1 << 18}, .full = {1 << 24}};
    suite.scaling_sizes = {.quick = powers_of_two(16, 18, 1), .full = powers_of_two(16, 22, 1)};
    // Products of n x n matrices have n² elements and n³ operations.
    suite.headlines = {{.sizes = {.quick = {1 << 16}, .full = powers_of_two(12, 28, 4)},
                        .cpu_sizes = {.quick = {1 << 12}, .full = powers_of_two(12, 24, 4)}},
                       {.types = {Type::f64},
                        .sizes = {.quick = {1 << 16}, .full = powers_of_two(12, 24, 4)},
                        .cpu_sizes = {.quick = {1 << 12}, .full = powers_of_two(12, 20, 4)}}};
    suite.tuning = {.workloads = {"square"}, .types = {Type::f32, Type::f64}};
    suite.steps = {
        .name = "matmul",
        .question = "How much does each level of blocking speed up matrix multiplication?",
        .explanation =
            "A product of n x n matrices does 2 n³ operations on 3 n² elements. Each level of blocking "
            "(local memory, registers) reuses elements more often, until arithmetic limits the rate.",
        .sizes = {powers_of_two(12, 18, 2), powers_of_two(12, 24, 4)},
        .rate = StepsStudy::Rate::operations,
        // Without tf32x3, which has a lower accuracy.
        .variants = {"register_tiled", "packed", "blocks_tiled", "tiled", "blocks", "naive", "serial"}};
    for (const Rule rule : rules)
        suite.workloads.push_back({rule(0).title, [rule](Type type, u64 n, u64 seed) -> std::optional<Work> {
                                       if (!is_float(type)) return std::nullopt;
                                       return matmul_work(rule(n), type, n, Pattern::random, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
