#include "random_host.hpp"
#include "random_sources.hpp"

#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/random.hpp>

#include <algorithm>

namespace concord {

namespace detail {
namespace {

constexpr u32 group_size = 256, block_bytes = 16;

struct RandomProblem {
    View out;
    Distribution distribution;
    u64 seed, offset;

    Type type() const { return out.type; }
    u32 of_block() const { return block_bytes / size_of(out.type); }  // elements
    u64 first() const { return offset / of_block(); }                 // block
    u32 skipped() const { return static_cast<u32>(offset % of_block()); }
    u64 blocks() const { return divide_up(out.count + skipped(), of_block()); }
    // Whether blocks are aligned in memory.
    bool is_aligned() const { return (out.offset / size_of(out.type) - skipped()) % of_block() == 0; }
};

// What the kernel calls for a distribution; see random.kernel.
struct Words {
    std::string_view element, positive = "", log = "", sinpi = "", cospi = "";
};
constexpr Words bits_words[] = {{"(low)"}, {"((u64)(high) << 32 | (low))"}};
constexpr Words uniform_words[] = {{"concord_uniform_f32(low)"}, {"concord_uniform_f64(high, low)"}};
constexpr Words normal_words[] = {{.element = uniform_words[0].element,
                                   .positive = "((f32)(low) * 0x1p-32f + 0x1p-33f)",
                                   .log = "concord_log_f32",
                                   .sinpi = "concord_sinpi_f32",
                                   .cospi = "concord_cospi_f32"},
                                  {.element = uniform_words[1].element,
                                   .positive = "((f64)((u64)(high) << 32 | (low)) * 0x1p-64 + 0x1p-65)",
                                   .log = "concord_log_f64",
                                   .sinpi = "concord_sinpi_f64",
                                   .cospi = "concord_cospi_f64"}};

const Words& words_of(const RandomProblem& p) {
    const std::size_t i = size_of(p.type()) == sizeof(u32) ? 0 : 1;
    switch (p.distribution) {
        case Distribution::bits:
            return bits_words[i];
        case Distribution::uniform:
            return uniform_words[i];
        case Distribution::normal:
            break;
    }
    return normal_words[i];
}

template <class... A>
void launch_kernel(Stream& stream, const RandomProblem& p, const char* entry, u32 group, u64 groups,
                   const A&... more) {
    const Words& words = words_of(p);
    const bool is_one_word = size_of(p.type()) == sizeof(u32);
    const auto kernel = stream.device().kernel(
        {.source = &kernel_sources::random(),
         .entry = entry,
         .constants = {{"T", p.type()},
                       {"GROUP", group},
                       {"COUNT", p.of_block()},
                       {"ALIGNED_BLOCKS", p.is_aligned()},
                       {"NORMAL", p.distribution == Distribution::normal},
                       {is_one_word ? "ELEMENT(low)" : "ELEMENT(low, high)", words.element},
                       {is_one_word ? "POSITIVE(low)" : "POSITIVE(low, high)", words.positive},
                       {"LOG", words.log},
                       {"SINPI", words.sinpi},
                       {"COSPI", words.cospi}},
         .max_group_size = group});
    launch(stream, *kernel, LaunchShape::linear(groups, group), p.out, p.out.count, p.first(), p.skipped(),
           static_cast<u32>(p.seed), static_cast<u32>(p.seed >> 32), more...);
}

void run_groups(Stream& stream, const RandomProblem& p) {
    launch_kernel(stream, p, "random_blocks", group_size, divide_up(p.blocks(), group_size));
}

// Groups of `least` units of work and more, at most 16 for each unit of the device.
u64 tile_of(const Device& device, u64 work, u64 least) {
    return std::max(least, divide_up(work, u64{device.traits().units} * 16));
}

// Normal numbers take longer than others, so that a thread pays for fewer of them.
u64 least_bytes(const Device& device, const RandomProblem& p) {
    const u64 bytes = min_group_kib(device.traits()) << 10;
    return p.distribution == Distribution::normal ? bytes / 8 : bytes;
}

void run_items(Stream& stream, const RandomProblem& p) {
    const u64 tile = tile_of(stream.device(), p.blocks(), least_bytes(stream.device(), p) / block_bytes);
    launch_kernel(stream, p, "random_tile", 1, divide_up(p.blocks(), tile), tile);
}

void run_host(Stream& stream, const RandomProblem& p) {
    Device& device = stream.device();
    View out = p.out;
    out.type = bits_of_size(size_of(p.type()));
    // Whole lines of the output, if it is aligned to them.
    const u64 tile =
        divide_up(tile_of(device, out.count, least_bytes(device, p) / size_of(out.type)), 64) * 64;
    launch(stream, *host_kernel_of(device, "random_pieces", random_host(size_of(out.type))),
           LaunchShape::linear(divide_up(out.count, tile), 1), out, out.count, tile, p.offset, p.seed,
           static_cast<u32>(p.distribution), u32{out.bytes() >= device.traits().cache});
}

Support supports(const Device& device, const RandomProblem& p) {
    if (p.distribution == Distribution::normal) {
        if (Support f64s = supports_type(device, Type::f64); !f64s) return f64s;
    }
    return supports_type(device, p.type());
}

Support supports_groups(const Device& device, const RandomProblem& p) {
    if (Support group = supports_group(device, group_size); !group) return group;
    return supports(device, p);
}

constexpr auto table = table_of<RandomProblem>({
    {.variant = {.name = "philox",
                 .summary = "a work-item makes 16 bytes from a counter; on CPUs vectors of counters",
                 .order = OperationOrder::canonical,
                 .source = "J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011"},
     .groups = {run_groups, supports_groups},
     .single_items = {run_items, supports},
     .host = {run_host, supports}},
});
constexpr auto variants = variants_of(table);

constexpr std::string_view distribution_names[] = {"bits", "uniform", "normal"};

}  // namespace
}  // namespace detail

constinit const Algorithm random_algorithm{.name = "random",
                                           .summary = "out[i] = element offset + i of Philox4x32-10",
                                           .variants = detail::variants};

std::string_view name_of(Distribution distribution) {
    return detail::distribution_names[static_cast<std::size_t>(distribution)];
}

std::optional<Distribution> distribution_named(std::string_view name) {
    for (const Distribution distribution : all_distributions) {
        if (name_of(distribution) == name) return distribution;
    }
    return std::nullopt;
}

Enqueued random(Stream& stream, const View& out, Distribution distribution, u64 seed, u64 offset,
                const Options& options) {
    detail::check_output("random", "out", stream, out);
    const bool is_supported = distribution == Distribution::bits
                                  ? out.type == Type::u32 || out.type == Type::u64
                                  : is_float(out.type);
    if (!is_supported)
        throw Error(ErrorCode::unsupported, "random",
                    std::string(name_of(distribution)) + " supports " +
                        (distribution == Distribution::bits ? "u32 and u64" : "f32 and f64") + ", got " +
                        std::string(name_of(out.type)));
    const detail::RandomProblem problem{out, distribution, seed, offset};
    const auto& row = detail::choose("random", detail::table, stream.device(), problem, options);
    if (out.count > 0) row.run(stream, problem);
    return detail::enqueued(stream, row, problem);
}

}  // namespace concord
