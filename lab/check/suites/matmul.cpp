// The cases of matmul: shapes around the kernels' tiles, transposed operands, gaps between rows, batches, alpha and beta. A
// size of the caller's choice is the number of elements of C, and goes through all rules; the title names the rule.

#include <concord/lab/suite.hpp>

#include "matmul_reference.hpp"
#include "square.hpp"

namespace concord::lab {
namespace {

// What lies between rows: nothing; so little that rows are not aligned; as much as keeps packs of 16 bytes aligned.
enum class Gaps { none, odd, even };

struct Case {
    const char* title;
    u64 m, n, k;
    bool transpose_a = false, transpose_b = false;
    Gaps gaps = Gaps::none;
    u64 batch = 1;
    bool shared = false;  // B is the same for all products
    f64 alpha = 1, beta = 0;
};

u64 pitch_of(u64 columns, Gaps gaps, u64 odd) {
    return gaps == Gaps::none ? columns : gaps == Gaps::odd ? columns + odd : (columns + 19) / 16 * 16;
}

// The elements from the first to the last.
u64 extent(u64 rows, u64 columns, u64 pitch, u64 batch, u64 stride) {
    return rows == 0 || columns == 0 || batch == 0 ? 0 : (batch - 1) * stride + (rows - 1) * pitch + columns;
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
    // C is an input as well where it is read, and then lies where the output does. Where it is not, nothing in it may matter:
    // NaN is in it if `special` asks for it.
    const bool reads_c = at.beta != 0 || at.alpha != 1;
    const Input a{type, extent(a_rows, a_columns, s.a_pitch, at.batch, s.a_stride), pattern, seed},
        b{type, extent(b_rows, b_columns, s.b_pitch, at.batch, s.b_stride), pattern, seed + 1},
        before{type, extent(at.m, at.n, s.c_pitch, at.batch, s.c_stride),
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
    work.in_place = reads_c;
    work.call = [call, reads_c](Stream& stream, std::span<const View> in, std::span<const View> out,
                                const Options& options) {
        const std::size_t first = reads_c ? 1 : 0;
        return matmul(stream, in[first], in[first + 1], out[0], call.shape, call.scale, options);
    };
    auto verified_by = [&](auto tag) {
        using T = typename decltype(tag)::type;
        work.verify = [reference = std::make_shared<MatmulReference<T>>(a, b, before, call)](
                          const Variant& variant, std::size_t, u64 first, std::span<const std::byte> got,
                          Verdict& verdict) { reference->verify(variant, first, got, verdict); };
    };
    if (type == Type::f32) {
        verified_by(detail::TypeTag<f32>{});
    } else {
        verified_by(detail::TypeTag<f64>{});
    }
    return work;
}

// The case of about n elements of C.
using Rule = Case (*)(u64 n);
constexpr Rule rules[] = {
    [](u64 n) {
        return Case{"square", square_side(n), square_side(n), square_side(n)};
    },
    [](u64 n) {
        return Case{"square, A and B transposed", square_side(n), square_side(n), square_side(n), true, true};
    },
    [](u64 n) {
        return Case{"tall", n / 64, 64, 64};
    },
    [](u64 n) {
        return Case{"wide", 64, n / 64, 64};
    },
    [](u64 n) {
        return Case{"deep", square_side(n) / 8, square_side(n) / 8, square_side(n) * 8};
    },
    [](u64 n) { return Case{"batch", 32, 32, 32, false, false, Gaps::none, n / 1024}; },
};
// Those that are not measured.
constexpr Rule more_rules[] = {
    [](u64 n) {
        return Case{"gaps",
                    square_side(n) - std::min<u64>(1, square_side(n)),
                    square_side(n) + 1,
                    square_side(n) / 2 + 3,
                    true,
                    false,
                    Gaps::odd};
    },
    [](u64 n) {
        return Case{"even gaps", square_side(n), square_side(n) + 2, square_side(n) / 2 + 3,
                    false,       true,           Gaps::even};
    },
    [](u64 n) {
        return Case{"alpha", square_side(n), square_side(n), 9, false, false, Gaps::none, 1, false, 1.75};
    },
    [](u64 n) {
        return Case{"beta",
                    square_side(n),
                    square_side(n),
                    square_side(n) + 5,
                    false,
                    false,
                    Gaps::none,
                    1,
                    false,
                    -0.75,
                    1.5};
    },
};

// Nothing; single elements; on both sides of the tiles' sides (8 to 128) and depths (8, 16), and of what the CPU's
// blocks of k are long; long and thin; batches; A, B and C as parts of larger matrices.
constexpr Case cases[] = {
    {"empty", 0, 5, 3},
    {"empty", 5, 0, 3},
    {"k of 0", 5, 7, 0},
    {"k of 0, beta", 17, 33, 0, false, false, Gaps::none, 1, false, 2, 0.5},
    {"one", 1, 1, 1},
    {"small", 2, 3, 4},
    {"small", 7, 11, 13, true, true, Gaps::odd},
    {"small", 8, 8, 8},
    {"tile - 1", 31, 31, 15, false, true},
    {"tile", 32, 32, 16},
    {"tile + 1", 33, 33, 17, true, false},
    {"tile - 1", 63, 65, 31, false, false, Gaps::odd},
    {"tile", 64, 64, 32, true, true, Gaps::even},
    {"tile + 1", 65, 63, 33, false, true, Gaps::even},
    {"tile - 1", 127, 129, 7, true, false, Gaps::even},
    {"tile", 128, 128, 24},
    {"tile + 1", 129, 127, 9, false, true, Gaps::odd},
    {"primes", 251, 97, 101, true, true},
    {"row", 1, 300, 50},
    {"column", 300, 1, 50, false, true},
    {"row by column", 1, 1, 1031},
    {"tall", 1009, 3, 7},
    {"wide", 3, 1009, 9, true, false},
    {"deep", 5, 9, 2003},
    {"blocks of k", 37, 70, 521, false, true},
    {"blocks of k, beta", 30, 33, 700, true, false, Gaps::odd, 1, false, 0.5, -1.25},
    {"alpha", 67, 66, 20, false, false, Gaps::none, 1, false, -3},
    {"alpha, beta", 65, 130, 18, false, true, Gaps::even, 1, false, 1.0 / 3, 1},
    {"batch", 5, 7, 3, false, false, Gaps::none, 37},
    {"batch of one B", 33, 20, 17, true, false, Gaps::odd, 5, true},
    {"batch, beta", 9, 34, 12, false, true, Gaps::even, 4, false, 1, 2},
    // So many tiles that large GPUs take their largest, in all ways that operands lie.
    {"many tiles", 2049, 2056, 18},
    {"many tiles", 2052, 2056, 17, true, false, Gaps::even},
    {"many tiles", 2053, 2051, 9, true, true, Gaps::odd},
};
constexpr Case large_cases[] = {
    {"large", 1000, 1030, 515},
    {"large", 1023, 513, 777, true, true, Gaps::odd},
    {"large", 2048, 2048, 100},
    {"large", 4096, 4096, 33, false, true},
    {"large, beta", 1501, 1203, 509, true, false, Gaps::even, 1, false, 0.1, 0.2},
    {"large batch", 64, 64, 64, false, false, Gaps::none, 4096},
    {"long", 2, 3, (1 << 22) + 5},
    {"thin", (1 << 22) + 3, 2, 3},
};
// Every tile of the kernels and every way that operands lie.
constexpr Case compile_cases[] = {
    {"small", 64, 64, 8},
    {"middle", 1024, 1024, 4},
    {"large", 4096, 4096, 1},
    {"large", 4096, 4096, 1, true, true},
    {"large", 4096, 4096, 1, true, false, Gaps::odd},
};

constexpr Placement apart[] = {{0, 0, 0, false}, {1, 0, 3, false}, {3, 1, 1, false}};
constexpr Placement within[] = {{0, 0, 0, true}, {1, 3, 0, true}};

void take_case(const Plan& plan, const Case& at, Type type, u64 size, std::size_t turn, bool every,
               const CaseSink& emit) {
    constexpr Pattern patterns[] = {Pattern::random, Pattern::tiny, Pattern::special, Pattern::mixed};
    const bool in_place = at.beta != 0 || at.alpha != 1;
    const std::span<const Placement> places =
        in_place ? std::span<const Placement>(within) : std::span<const Placement>(apart);
    for (std::size_t p = 0; p < std::size(patterns); ++p) {
        // Random elements always, the others by turns.
        if (p > 0 && (plan.compiles_only() || turn % 3 + 1 != p) && !plan.is_asked_for(patterns[p])) continue;
        if (!plan.allows(patterns[p])) continue;
        std::vector<Placement> chosen;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (every || i == (turn + p) % places.size() || (plan.compiles_only() && i == 0))
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
            take_case(plan, at, type, at.m * at.n * at.batch, turn++, false, emit);
    };
    if (const std::vector<u64> sizes = plan.sizes_or({}); !sizes.empty()) {
        for (const u64 n : sizes) {
            for (const Rule rule : rules)
                take_case(plan, rule(n), type, n, turn++, true, emit);
            for (const Rule rule : more_rules)
                take_case(plan, rule(n), type, n, turn++, true, emit);
            // What was found wrong in a case of that size is found again.
            for (const std::span<const Case> list :
                 {std::span<const Case>(cases), std::span<const Case>(large_cases)}) {
                for (const Case& at : list) {
                    if (at.m * at.n * at.batch == n) take_case(plan, at, type, n, turn++, true, emit);
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
    suite.study_sizes = {{1 << 18}, {1 << 24}};
    suite.tuning = {.workloads = {"square"}, .types = {Type::f32, Type::f64}};
    suite.steps = {
        .name = "matmul",
        .question = "What does each level of blocking buy?",
        .explanation =
            "A product does 2 n³ operations on 3 n² elements: whoever keeps elements "
            "close gets the device's arithmetic.",
        .sizes = {powers_of_two(12, 18, 2), powers_of_two(12, 24, 4)},
        .rate = StepsStudy::Rate::operations,
        // tf32x3, of another accuracy, is none of the steps.
        .variants = {"register_tiled", "packed", "blocks_tiled", "tiled", "blocks", "naive", "serial"}};
    for (const Rule rule : rules)
        suite.workloads.push_back({rule(0).title, [rule](Type type, u64 n, u64 seed) -> std::optional<Work> {
                                       if (!is_float(type)) return std::nullopt;
                                       return matmul_work(rule(n), type, n, Pattern::random, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
