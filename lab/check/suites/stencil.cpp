// Test cases of stencil. A rule turns a size into a volume of whole rows and planes. The title names the radius, the
// rule and the steps. The reference is independent of the library's code.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/internal/once.hpp>
#include <concord/stencil.hpp>

#include <cmath>

namespace concord::lab {
namespace {

// A volume of at most n points.
struct Rule {
    const char* title;
    u64 depth = 0, rows = 0, columns = 0;  // 0: follows from n
    u64 multiple = 1;                      // rounds the columns down to a multiple

    // Axes without a length have the proportions 5 : 6 : 6, so that 92160000 points are 400 x 480 x 480.
    VolumeExtents shape(u64 n) const {
        VolumeExtents s{depth, rows, columns};
        const double free =
            static_cast<double>(n) /
            static_cast<double>(std::max<u64>(depth, 1) * std::max<u64>(rows, 1) * std::max<u64>(columns, 1));
        const int axes = (depth == 0 ? 1 : 0) + (rows == 0 ? 1 : 0) + (columns == 0 ? 1 : 0);
        const double product =
            (depth == 0 ? 5.0 : 1.0) * (rows == 0 ? 6.0 : 1.0) * (columns == 0 ? 6.0 : 1.0);
        const double unit = axes == 3   ? std::cbrt(free / product)
                            : axes == 2 ? std::sqrt(free / product)
                                        : free / product;
        auto length = [&](double part) {
            return std::max<u64>(1, static_cast<u64>(std::llround(unit * part)));
        };
        if (depth == 0) s.depth = rows != 0 && columns != 0 ? n / (rows * columns) : length(5);
        if (rows == 0) s.rows = columns != 0 ? n / (s.depth * columns) : length(6);
        if (columns == 0) s.columns = n / (s.depth * s.rows);
        if (s.columns > multiple) s.columns -= s.columns % multiple;
        return s;
    }
};

// Rows of whole 16-byte vectors, and rows of any length.
constexpr Rule brick = {.title = "brick", .multiple = 4}, odd = {.title = "odd"};
// Volumes thinner than some radii on each axis, and one point thin on two axes.
constexpr Rule shallow = {.title = "shallow", .depth = 2}, flat = {.title = "flat", .rows = 3},
               narrow = {.title = "narrow", .columns = 5}, wide = {.title = "wide", .depth = 3, .rows = 20},
               along_z = {.title = "along z", .rows = 1, .columns = 1},
               along_y = {.title = "along y", .depth = 1, .columns = 1},
               along_x = {.title = "along x", .depth = 1, .rows = 1};

struct Kind {
    const Rule& rule;
    u32 radius;
    u64 steps;
    bool in_boxes = false;  // computes a step box by box
};
// A size alone determines its cases, so that the size is enough to repeat one.
// Every fifth kind has radius 1 or 4.
constexpr Kind kinds[] = {{.rule = brick, .radius = 4, .steps = 1},
                          {.rule = odd, .radius = 1, .steps = 2},
                          {.rule = brick, .radius = 8, .steps = 1},
                          {.rule = flat, .radius = 5, .steps = 2},
                          {.rule = shallow, .radius = 2, .steps = 1},
                          {.rule = odd, .radius = 4, .steps = 3},
                          {.rule = odd, .radius = 8, .steps = 2},
                          {.rule = brick, .radius = 3, .steps = 2},
                          {.rule = brick, .radius = 1, .steps = 7},
                          {.rule = along_x, .radius = 4, .steps = 2},
                          {.rule = brick, .radius = 1, .steps = 2},
                          {.rule = brick, .radius = 6, .steps = 1},
                          {.rule = odd, .radius = 2, .steps = 4},
                          {.rule = wide, .radius = 1, .steps = 4},
                          {.rule = shallow, .radius = 7, .steps = 3},
                          {.rule = narrow, .radius = 4, .steps = 1},
                          {.rule = along_y, .radius = 3, .steps = 1},
                          {.rule = along_z, .radius = 1, .steps = 2},
                          {.rule = odd, .radius = 5, .steps = 1},
                          {.rule = brick, .radius = 2, .steps = 0},
                          {.rule = odd, .radius = 1, .steps = 1},
                          {.rule = narrow, .radius = 8, .steps = 5},
                          {.rule = brick, .radius = 4, .steps = 6},
                          {.rule = odd, .radius = 4, .steps = 1, .in_boxes = true},
                          {.rule = brick, .radius = 1, .steps = 1, .in_boxes = true},
                          {.rule = brick, .radius = 2, .steps = 5},
                          {.rule = narrow, .radius = 1, .steps = 6}};

// Distinct coefficients of both signs, small enough that many steps do not overflow.
StarCoefficients star_of(u32 radius) {
    constexpr f64 values[] = {0.3817, 0.0713, -0.0291, 0.0177, -0.0123, 0.0071, -0.0053, 0.0031, -0.0017};
    return StarCoefficients(std::span(values, radius + 1));
}

// Computes the steps on a copy of the volume that is padded with zeros.
template <class T>
std::vector<T> after_steps(const Input& input, const VolumeExtents& s, const StarCoefficients& star,
                           u64 steps) {
    const u64 radius = star.radius(), width = s.columns + 2 * radius, plane = (s.rows + 2 * radius) * width;
    std::vector<T> now((s.depth + 2 * radius) * plane), next(now.size());
    auto row_at = [&](u64 row) {
        return (row / s.rows + radius) * plane + (row % s.rows + radius) * width + radius;
    };
    const u64 rows = s.depth * s.rows;
    std::vector<std::byte> scratch;
    for (u64 row = 0; row < rows; ++row)
        std::memcpy(now.data() + row_at(row), input.piece(row * s.columns, s.columns, scratch).data(),
                    s.columns * sizeof(T));
    T c[StarCoefficients::max_count] = {};
    for (u32 r = 0; r <= radius; ++r)
        c[r] = static_cast<T>(star[r]);
    for (u64 step = 0; step < steps; ++step) {
        parallel_pieces(rows, 1 + (u64{1} << 15) / s.columns, [&](u64 first, u64 count) {
            for (u64 row = first; row < first + count; ++row) {
                const u64 begin = row_at(row);
                for (u64 at = begin; at < begin + s.columns; ++at) {
                    T t = c[0] * now[at];
                    for (u64 r = 1; r <= radius; ++r) {
                        const T x = now[at - r] + now[at + r], y = now[at - r * width] + now[at + r * width],
                                z = now[at - r * plane] + now[at + r * plane];
                        t = std::fma(c[r], (x + y) + z, t);
                    }
                    next[at] = t;
                }
            }
        });
        now.swap(next);
    }
    std::vector<T> result(input.count);
    for (u64 row = 0; row < rows; ++row)
        std::memcpy(result.data() + row * s.columns, now.data() + row_at(row), s.columns * sizeof(T));
    if (steps == 0) return result;  // a copy
    for (T& x : result)
        x = as_computed(x);
    return result;
}

// A step in the order of a rank of several: first the planes and rows that its neighbours need, then the interior.
Enqueued step_in_boxes(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                       const VolumeView& out, const Options& options) {
    const VolumeExtents s{in.depth, in.rows, in.columns};
    const u64 radius = star.radius(), z0 = std::min(s.depth, radius), z1 = std::max(z0, s.depth - z0),
              y0 = std::min(s.rows, radius), y1 = std::max(y0, s.rows - y0);
    Enqueued run;
    for (const StencilBox& box :
         {StencilBox{0, z0, 0, s.rows}, StencilBox{z1, s.depth, 0, s.rows}, StencilBox{z0, z1, 0, y0},
          StencilBox{z0, z1, y1, s.rows}, StencilBox{z0, z1, y0, y1}})
        run = stencil_box(stream, in, star, out, box, options);
    return run;
}

// Expected results of one piece of work, computed at the first use.
template <class T>
struct Expected {
    detail::Once made;
    std::vector<T> values;
};

std::string title_of(const Kind& kind) {
    std::string title = "radius" + std::to_string(kind.radius);
    if (&kind.rule != &brick) title += std::string(" ") + kind.rule.title;
    if (kind.in_boxes) title += " boxes";
    return kind.steps == 1 ? title : title + " x" + std::to_string(kind.steps);
}

std::optional<Work> stencil_work(const Kind& kind, Type type, u64 n, Pattern pattern, u64 seed) {
    if (!is_float(type)) return std::nullopt;
    VolumeExtents s = kind.rule.shape(n);
    u64 count = s.depth * s.rows * s.columns;
    if (n == 0) count = 0, s.columns = 0;
    const StarCoefficients star = star_of(kind.radius);
    const Input input{type, count, pattern, seed};
    Work work;
    work.algorithm = "stencil";
    work.title = title_of(kind);
    work.n = n;
    work.inputs = {input};
    work.outputs = {{type, count}};
    work.shape = {s.depth, s.rows, s.columns};
    work.traffic = 2 * count * size_of(type) * std::max<u64>(kind.steps, 1);
    work.in_place = false;
    work.minor = kind.radius != 1 && kind.radius != 4;
    work.call = [s, star, steps = kind.steps, boxes = kind.in_boxes](Stream& stream, std::span<const View> in,
                                                                     std::span<const View> out,
                                                                     const Options& options) {
        const VolumeView from{in[0], s.depth, s.rows, s.columns}, to{out[0], s.depth, s.rows, s.columns};
        if (boxes) return step_in_boxes(stream, from, star, to, options);
        return stencil(stream, from, star, to, steps, options);
    };
    auto verify_by = [&]<class T>(detail::TypeTag<T>) {
        work.verify = [input, s, star, steps = kind.steps, expected = std::make_shared<Expected<T>>()](
                          const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                          Verdict& verdict) {
            expected->made.call([&] { expected->values = after_steps<T>(input, s, star, steps); });
            for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
                const T value = element<T>(got, i), right = expected->values[first + i];
                if (!same(right, value)) return verdict.differ(difference_of(first + i, right, value));
            }
        };
    };
    detail::visit_float(type, verify_by);
    return work;
}

// Every size tests the first kind. The other kinds alternate. The reference needs three copies of the volume, which
// limits the sizes.
void stencil_cases(const Plan& plan, Type type, const CaseSink& emit) {
    if (!is_float(type)) return;
    constexpr u64 most = u64{1} << 27;
    const std::vector<u64> sizes = plan.sizes(type, type == Type::f32 ? Plan::Depth::all : Plan::Depth::some);
    const std::vector<Pattern> patterns = {Pattern::random, Pattern::mixed, Pattern::special, Pattern::tiny};
    std::size_t turn = 0;
    for (const u64 n : sizes) {
        if (n > most) continue;
        ++turn;
        const u64 every = n == 1025 ? 1 : n > 20000 ? 10 : 5;
        for (const Kind& kind : kinds) {
            const bool main = &kind == kinds;
            if ((n + static_cast<u64>(&kind - kinds)) % every != 0 && !main) continue;
            // These volumes need one group per point, which is too slow for large sizes.
            const bool needle = &kind.rule == &along_z || &kind.rule == &along_y;
            if (needle && n > 20000) continue;
            for (Plan::Shape& shape : plan.shapes(turn, n, patterns)) {
                if (shape.pattern != Pattern::random && !main) continue;
                const auto work = stencil_work(kind, type, n, shape.pattern, plan.seed());
                if (!main) shape.placements = {{}, {.a = 1, .out = 3}};
                if (work) emit(*work, shape.placements);
            }
        }
    }
}

}  // namespace

Suite stencil_suite() {
    Suite suite;
    suite.cases = stencil_cases;
    suite.study_sizes.quick = {1 << 18};
    suite.headlines = {
        {.workloads = {"radius1", "radius2", "radius4", "radius8", "radius1 x10", "radius2 x10"},
         .sizes = {.quick = powers_of_two(16, 20, 4), .full = {1 << 20, 1 << 24, 92160000}},
         .cpu_sizes = {.quick = {1 << 16}, .full = {1 << 16, 1 << 20, 1 << 24}}}};
    suite.tuning = {.workloads = {"radius4", "radius4 x10", "radius1", "radius1 x10", "radius2 x10"},
                    .types = {Type::f32, Type::f64},
                    .quick_workloads = 2};
    suite.steps = {
        .name = "stencil",
        .question = "How does a stencil kernel reuse the neighbourhood of each point?",
        .explanation =
            "A star of radius R reads every point 6 R + 1 times. The steps keep planes in local memory, "
            "then a queue of planes in registers, and finally compute several time steps per pass.",
        .sizes = {.quick = powers_of_two(16, 18, 2), .full = powers_of_two(16, 26, 2)}};
    static constexpr Kind measured[] = {
        {.rule = brick, .radius = 4, .steps = 1},   {.rule = brick, .radius = 4, .steps = 10},
        {.rule = brick, .radius = 4, .steps = 100}, {.rule = brick, .radius = 1, .steps = 1},
        {.rule = brick, .radius = 1, .steps = 10},  {.rule = brick, .radius = 2, .steps = 1},
        {.rule = brick, .radius = 2, .steps = 10},  {.rule = brick, .radius = 8, .steps = 1},
        {.rule = odd, .radius = 4, .steps = 1},     {.rule = shallow, .radius = 4, .steps = 1},
        {.rule = narrow, .radius = 4, .steps = 1}};
    for (const Kind& kind : measured)
        suite.workloads.push_back({title_of(kind), [&kind](Type type, u64 n, u64 seed) {
                                       return stencil_work(kind, type, n, Pattern::random, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
