// The cases of stencil. A size becomes a volume by a rule, which the title names with the radius and the steps, and which
// leaves out the points that do not make a whole plane or row. References are written here anew, not taken from the
// library.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/stencil.hpp>

#include <cmath>
#include <mutex>

namespace concord::lab {
namespace {

// A volume of n points, or a few less.
struct Rule {
    const char* title;
    u64 depth = 0, rows = 0, columns = 0;  // as many; 0: whatever n gives
    u64 multiple = 1;                      // of the columns, if there are so many

    // What is left for the axes without a length has the proportions 5 : 6 : 6, so that 92160000 points are
    // 400 x 480 x 480.
    StencilShape shape(u64 n) const {
        StencilShape s{depth, rows, columns};
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

// Rows of whole packs of 16 bytes, and of any length.
constexpr Rule brick = {"brick", 0, 0, 0, 4}, odd = {"odd"};
// Thinner than some radii, on each axis; and one point thin on two.
constexpr Rule shallow = {"shallow", 2}, flat = {"flat", 0, 3}, narrow = {"narrow", 0, 0, 5},
               wide = {"wide", 3, 20}, along_z = {"along z", 0, 1, 1}, along_y = {"along y", 1, 0, 1},
               along_x = {"along x", 1, 1};

struct Kind {
    const Rule& rule;
    u32 radius;
    u64 steps;
    bool in_boxes = false;  // a step is computed box by box
};
// Which of them a size goes through depends on the size alone, so that one is met again where it is asked for. Every fifth
// one is of radius 1 or 4.
constexpr Kind kinds[] = {
    {brick, 4, 1},  {odd, 1, 2},     {brick, 8, 1},   {flat, 5, 2},      {shallow, 2, 1},  // 0 ...
    {odd, 4, 3},    {odd, 8, 2},     {brick, 3, 2},   {brick, 1, 7},     {along_x, 4, 2},  // 5 ...
    {brick, 1, 2},  {brick, 6, 1},   {odd, 2, 4},     {wide, 1, 4},      {shallow, 7, 3},  // 10 ...
    {narrow, 4, 1}, {along_y, 3, 1}, {along_z, 1, 2}, {odd, 5, 1},       {brick, 2, 0},    // 15 ...
    {odd, 1, 1},    {narrow, 8, 5},  {brick, 4, 6},   {odd, 4, 1, true}, {brick, 1, 1, true}};

// Of both signs, no two alike, and so small that many steps do not overflow.
StarCoefficients star_of(u32 radius) {
    constexpr f64 values[] = {0.3817, 0.0713, -0.0291, 0.0177, -0.0123, 0.0071, -0.0053, 0.0031, -0.0017};
    return StarCoefficients(std::span(values, radius + 1));
}

// Steps on a copy of the volume with zeros around it, as wide as the radius.
template <class T>
std::vector<T> after_steps(const Input& input, const StencilShape& s, const StarCoefficients& star,
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
    T c[StarCoefficients::most] = {};
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
    return result;
}

// A step as one of several ranks takes it: what others need first, of planes and of rows, then what is between.
Enqueued step_in_boxes(Stream& stream, const View& in, const View& out, const StencilShape& s,
                       const StarCoefficients& star, const Options& options) {
    const u64 radius = star.radius(), z0 = std::min(s.depth, radius), z1 = std::max(z0, s.depth - z0),
              y0 = std::min(s.rows, radius), y1 = std::max(y0, s.rows - y0);
    Enqueued run;
    for (const StencilBox& box :
         {StencilBox{0, z0, 0, s.rows}, StencilBox{z1, s.depth, 0, s.rows}, StencilBox{z0, z1, 0, y0},
          StencilBox{z0, z1, y1, s.rows}, StencilBox{z0, z1, y0, y1}})
        run = stencil_box(stream, in, out, s, star, box, options);
    return run;
}

// What all judging of one piece of work shares: made when it is first asked for.
template <class T>
struct Expected {
    std::once_flag made;
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
    StencilShape s = kind.rule.shape(n);
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
        if (boxes) return step_in_boxes(stream, in[0], out[0], s, star, options);
        return stencil(stream, in[0], out[0], s, star, steps, options);
    };
    auto verify_by = [&](auto tag) {
        using T = typename decltype(tag)::type;
        work.verify = [input, s, star, steps = kind.steps, expected = std::make_shared<Expected<T>>()](
                          const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                          Verdict& verdict) {
            std::call_once(expected->made, [&] { expected->values = after_steps<T>(input, s, star, steps); });
            for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
                const T value = element<T>(got, i), right = expected->values[first + i];
                if (!same(right, value, steps == 0 ? NanComparison::bitwise : NanComparison::any))
                    return verdict.differ(difference_of(first + i, right, value));
            }
        };
    };
    type == Type::f32 ? verify_by(detail::TypeTag<f32>{}) : verify_by(detail::TypeTag<f64>{});
    return work;
}

// Bricks of a radius of 4 are there always, the other kinds take turns. The reference holds the volume three times over, so
// sizes end where that is much.
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
            // One group of many work-items a point: too many to wait for.
            const bool needle = &kind.rule == &along_z || &kind.rule == &along_y;
            if (needle && n > 20000) continue;
            for (Plan::Shape& shape : plan.shapes(turn, n, patterns)) {
                if (shape.pattern != Pattern::random && !main) continue;
                const auto work = stencil_work(kind, type, n, shape.pattern, plan.seed());
                if (!main) shape.placements = {{0, 0, 0, false}, {1, 0, 3, false}};
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
    suite.tuning = {.workloads = {"radius4", "radius4 x10", "radius1"},
                    .types = {Type::f32, Type::f64},
                    .quick_workloads = 2};
    suite.steps = {.name = "stencil",
                   .question = "How is a volume's neighbourhood kept close?",
                   .explanation =
                       "Every point is needed by 6 R others: planes in local memory, queues in "
                       "registers, several steps at once.",
                   .sizes = {powers_of_two(16, 18, 2), powers_of_two(16, 26, 2)}};
    static constexpr Kind measured[] = {{brick, 4, 1}, {brick, 4, 10},  {brick, 4, 100},
                                        {brick, 1, 1}, {brick, 2, 1},   {brick, 8, 1},
                                        {odd, 4, 1},   {shallow, 4, 1}, {narrow, 4, 1}};
    for (const Kind& kind : measured)
        suite.workloads.push_back({title_of(kind), [&kind](Type type, u64 n, u64 seed) {
                                       return stencil_work(kind, type, n, Pattern::random, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
