#include "map_math.hpp"
#include "map_sources.hpp"

#include <concord/internal/calibration.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/row.hpp>
#include <concord/map.hpp>
#include <concord/tuning.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace concord {

namespace detail {
namespace {

constexpr u32 default_group_size = 256;
constexpr u32 pack_bytes = 16;
// f with canonical NaNs.
constexpr std::string_view canonical_of_two = "canonical(apply(op, x, y))",
                           canonical_of_one = "canonical(apply(op, x))";
constexpr std::array<std::byte, 4> no_values{};  // a built-in function has no bound values

constexpr Tunable unroll{"map.unroll", "accesses of 16 bytes per work-item", on_gpus, {1, 2, 4}};
constexpr Tunable tile_kib{
    "map.tile_kib", "output of a group of one work-item, in KiB", on_cpus, {16, 32, 64, 128, 256, 1024}};
constexpr Tunable stream_kib = stream_tunable("map.stream_kib");
constexpr Tunable parallel_kib{.name = "map.parallel_kib",
                               .summary = "KiB of data from which on built-in functions use all threads",
                               .used_by = {LaunchModel::host},
                               .values = {128, 256, 512, 1024, 2048, 4096, 16384, u64{1} << 40}};

u32 inputs_of(const MapProblem& p) {
    return p.a.buffer != p.b.buffer || p.a.offset != p.b.offset ? 2 : 1;
}

TuningPoint point_of(const MapProblem& p) {
    return {p.out.type, p.out.count, inputs_of(p)};
}

// Bytes that the call reads and writes.
u64 bytes_of(const MapProblem& p) {
    return p.a.bytes() + (inputs_of(p) == 2 ? p.b.bytes() : 0) + p.out.bytes();
}

// On an H200, more accesses per work-item or a persistent grid are 3 to 8 % slower.
u32 unroll_of(const Device& device, const MapProblem& p) {
    return static_cast<u32>(tuned(device, unroll, point_of(p), 1));
}

std::shared_ptr<Kernel> kernel(Device& device, const MapProblem& p, const KernelSource& source,
                               const char* entry, u32 pack, HostKernel MapHost::*host, u32 unrolled = 1) {
    const Type a = p.a.type, b = p.b.type, out = p.out.type;
    KernelSpec spec{
        .source = &source,
        .entry = entry,
        .constants = {{"A", a},
                      {"B", b},
                      {"U", out},
                      {"GROUP", default_group_size},
                      {"UNROLL", unrolled},
                      {"PACK", pack},
                      {"F(x, y)", p.op.arguments.size() == 2 ? canonical_of_two : canonical_of_one}},
        .op = &p.op,
        .max_group_size = default_group_size};
    if (p.host != nullptr && host != nullptr) spec.host = p.host->*host;
    return device.kernel(spec);
}

void run_naive(Stream& stream, const MapProblem& p) {
    Device& device = stream.device();
    const auto map = kernel(device, p, kernel_sources::map(), "map_naive", 1, &MapHost::naive);
    const u64 n = p.out.count;
    launch_elements(stream, *map, n, default_group_size, p.values, p.a, p.b, p.out, n);
}

// Elements of a contiguous tile, for groups of one work-item. A single tile for small inputs. For large ones at most 64
// tiles per unit: enough for load balance, with negligible cost per tile.
u64 tile_of(const Device& device, const MapProblem& p) {
    const u64 n = p.out.count, tile = (tuned(device, tile_kib, point_of(p), 64) << 10) / size_of(p.out.type);
    if (n <= tile * device.traits().units * 64) return tile;
    return divide_up(divide_up(n, device.traits().units * u64{64}), 64) * 64;
}

void run_tiles(Stream& stream, const MapProblem& p, const Kernel& map, u64 tile) {
    const u64 n = p.out.count;
    launch(stream, map, LaunchShape::linear(divide_up(n, tile), 1), p.a, p.b, p.out, n, tile,
           stores_non_temporal(stream.device(), stream_kib, point_of(p), bytes_of(p)), p.values);
}

void run_vectorized_items(Stream& stream, const MapProblem& p) {
    Device& device = stream.device();
    run_tiles(stream, p, *kernel(device, p, kernel_sources::map_wide(), "map_wide", 1, nullptr),
              tile_of(device, p));
}

// Waking a thread costs more than a built-in function of a few elements. A user's function may take any time.
void run_vectorized_host(Stream& stream, const MapProblem& p) {
    Device& device = stream.device();
    const bool is_small =
        p.op.file == "builtin" && bytes_of(p) >> 10 < tuned(device, parallel_kib, point_of(p), 256);
    run_tiles(stream, p, *host_kernel_of(device, "map_vectorized", p.host->vectorized),
              is_small ? p.out.count : tile_of(device, p));
}

// Elements of a pack, and elements before the first pack. A pack fills one access, or is one element if the operands
// are aligned differently.
struct Packing {
    u32 pack;
    u64 head;
};

Packing packing(const MapProblem& p) {
    const u32 widest = std::max({size_of(p.a.type), size_of(p.b.type), size_of(p.out.type)});
    const u64 pack = pack_bytes / widest;
    const u64 head = (pack - p.out.offset / size_of(p.out.type) % pack) % pack;
    for (const View* view : {&p.a, &p.b}) {
        if ((view->offset / size_of(view->type) + head) % pack != 0) return {1, 0};
    }
    return {static_cast<u32>(pack), std::min(head, p.out.count)};
}

void run_vectorized_groups(Stream& stream, const MapProblem& p) {
    Device& device = stream.device();
    const auto [pack, head] = packing(p);
    const u32 unrolled = unroll_of(device, p);
    const auto map = kernel(device, p, kernel_sources::map(), "map_vectorized", pack, nullptr, unrolled);
    const u64 n = p.out.count, packs = (n - head) / pack;
    const u64 tiles = std::max<u64>(1, divide_up(packs, u64{default_group_size} * unrolled));
    const u32 ends = static_cast<u32>(n - packs * pack);
    launch(stream, *map, LaunchShape::linear(tiles, default_group_size), p.a, p.b, p.out, head, packs, ends,
           p.values);
}

Support supports_any(const Device& device, const MapProblem& p) {
    for (const View* view : {&p.a, &p.b, &p.out}) {
        if (Support support = supports_type(device, view->type); !support) return support;
    }
    if (Support op = supports_operator(device, p.op, p.host); !op) return op;
    if (p.needs_exact_sqrt && p.a.type == Type::f32 && !device.traits().exact_divide_sqrt)
        return Support::no("{} has no correctly rounded square root for f32", device.info().selector);
    return {};
}

Support supports_groups(const Device& device, const MapProblem& p) {
    if (Support group = supports_group(device, default_group_size); !group) return group;
    return supports_any(device, p);
}

void run_serial(Stream& stream, const MapProblem& p) {
    const auto map = host_kernel_of(stream.device(), "map_serial", p.host->naive);
    const u64 n = p.out.count;
    launch(stream, *map, LaunchShape::linear(1, 1), p.a, p.b, p.out, n, n, p.values);
}

constexpr Implementation<MapProblem> naive{.run = run_naive, .supports = supports_groups};

constexpr auto table = table_of<MapProblem>({
    {.variant = {.name = "vectorized",
                 .summary = "16-byte accesses; on CPUs contiguous tiles with non-temporal stores",
                 .order = OperationOrder::canonical,
                 .source = "V. Volkov, Better performance at lower occupancy, GTC 2010"},
     .groups = {.run = run_vectorized_groups, .supports = supports_groups},
     .single_items = {.run = run_vectorized_items, .supports = supports_any},
     .host = {.run = run_vectorized_host, .supports = supports_any}},
    {.variant = {.name = "naive",
                 .summary = "one element per work-item",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = naive,
     .single_items = naive,
     .host = naive},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {.run = run_serial, .supports = supports_any}},
});

constexpr const Tunable* tunables[] = {&unroll, &tile_kib, &stream_kib, &parallel_kib};

// Copies and sums of f32.
void calibrate(Calibration& calibration) {
    const Operator& sum = builtin(ReduceOp::sum, Type::f32);
    auto copy = [&](u64 bytes) {
        const u64 n = bytes / 2 / sizeof(u32);
        concord::map(calibration.stream(), calibration.operand(0, Type::u32, n),
                     calibration.operand(1, Type::u32, n), MapFunction::copy);
    };
    auto add = [&](u64 bytes) {
        const u64 n = bytes / 3 / sizeof(f32);
        map(calibration.stream(),
            {.algorithm = "map",
             .a = calibration.operand(0, Type::f32, n),
             .b = calibration.operand(1, Type::f32, n),
             .out = calibration.operand(2, Type::f32, n),
             .op = sum,
             .values = {no_values},
             .host = map_builtin_host(ReduceOp::sum, Type::f32)},
            {});
    };
    for (const Tunable* tunable : {&stream_kib, &parallel_kib}) {
        calibration.add_threshold(*tunable, copy, 1);
        calibration.add_threshold(*tunable, add, 2);
    }
}

}  // namespace

constinit const std::array<const Variant*, 3> map_variants = variants_of(table);

Enqueued map(Stream& stream, const MapProblem& p, const Options& options) {
    const char* call = p.algorithm;
    check_operand(call, "a", stream, p.a);
    check_operand(call, "b", stream, p.b);
    check_output(call, "out", stream, p.out);
    if (p.a.count != p.out.count || p.b.count != p.out.count)
        throw Error(ErrorCode::invalid_argument, call,
                    "inputs and out must have the same element count, got " + std::to_string(p.a.count) +
                        ", " + std::to_string(p.b.count) + " and " + std::to_string(p.out.count));
    for (const View* in : {&p.a, &p.b}) {
        const bool in_place = in->offset == p.out.offset && size_of(in->type) == size_of(p.out.type);
        if (overlap(*in, p.out) && !in_place)
            throw Error(ErrorCode::invalid_argument, call,
                        "out overlaps an input, got byte offsets " + std::to_string(p.out.offset) + " and " +
                            std::to_string(in->offset) +
                            " in one buffer; pass exactly the input or a distinct range");
    }
    const Row<MapProblem>& row = choose_tuned(call, table, stream.device(), p, point_of(p), options);
    if (p.out.count > 0) row.run(stream, p);
    return enqueued(stream, row, p);
}

}  // namespace detail

constinit const Algorithm map_algorithm{.name = "map",
                                        .summary = "out[i] = f(in[i]) or f(a[i], b[i])",
                                        .variants = detail::map_variants,
                                        .tunables = detail::tunables,
                                        .tuning_label = detail::map_tuning_label,
                                        .calibrate = detail::calibrate};

Enqueued map(Stream& stream, const View& in, const View& out, MapFunction function, const Options& options) {
    if (in.type != out.type)
        throw Error(ErrorCode::invalid_argument, "map",
                    std::string(name_of(function)) + " requires in and out of one type, got " +
                        std::string(name_of(in.type)) + " and " + std::string(name_of(out.type)));
    if (function == MapFunction::copy) {
        detail::check_no_struct("map", "in", in);
    } else {
        detail::check_elements("map", "in", in);
    }
    const detail::MapFunctionTraits& traits = detail::traits_of(function);
    if (traits.floats_only && !is_float(in.type))
        throw Error(ErrorCode::unsupported, "map",
                    std::string(traits.name) + " supports f32 and f64, got " + std::string(name_of(in.type)));
    View from = in, to = out;
    if (function == MapFunction::copy && (is_storage(in.type) || is_boolean(in.type)))
        from.type = to.type = detail::bits_of(in.type);
    const Operator& op = detail::builtin(function, from.type);
    const detail::MapHost* host = detail::map_builtin_host(function, from.type);
    // Operations on bits keep the payload of a NaN, and no device sees a float.
    if (traits.works_on_bits && is_float(in.type)) from.type = to.type = detail::bits_of(in.type);
    return detail::map(stream,
                       {.algorithm = "map",
                        .a = from,
                        .b = from,
                        .out = to,
                        .op = op,
                        .values = {detail::no_values},
                        .host = host,
                        .needs_exact_sqrt = traits.needs_exact_sqrt},
                       options);
}

Enqueued map(Stream& stream, const View& a, const View& b, const View& out, PairFunction function,
             const Options& options) {
    if (a.type != out.type || b.type != out.type)
        throw Error(ErrorCode::invalid_argument, "map",
                    std::string(name_of(function)) + " requires a, b and out of one type, got " +
                        std::string(name_of(a.type)) + ", " + std::string(name_of(b.type)) + " and " +
                        std::string(name_of(out.type)));
    detail::check_elements("map", "out", out);
    if (!is_float(out.type))
        throw Error(
            ErrorCode::unsupported, "map",
            std::string(name_of(function)) + " supports f32 and f64, got " + std::string(name_of(out.type)));
    return detail::map(stream,
                       {.algorithm = "map",
                        .a = a,
                        .b = b,
                        .out = out,
                        .op = detail::builtin(function, out.type),
                        .values = {detail::no_values},
                        .host = detail::map_math_host(function, out.type)},
                       options);
}

Enqueued map(Stream& stream, const View& in, const View& out, const Operator& op, const Options& options) {
    if (op.arguments.size() != 1 || !op.bound.empty())
        throw Error(ErrorCode::invalid_argument, "map",
                    "the operator must take one element, got '" + op.name + "' of type " + op.signature());
    if (op.arguments[0] != in.type || op.result != out.type)
        throw Error(ErrorCode::invalid_argument, "map",
                    "in and out must have the types of operator '" + op.name + "', " + op.signature() +
                        ", got " + std::string(name_of(in.type)) + " and " + std::string(name_of(out.type)));
    return detail::map(stream,
                       {.algorithm = "map",
                        .a = in,
                        .b = in,
                        .out = out,
                        .op = op,
                        .values = {detail::no_values},
                        .host = nullptr},
                       options);
}

}  // namespace concord
