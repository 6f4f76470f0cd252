#include "bench_sources.hpp"

#include <concord/lab/ceilings.hpp>

#include "ceilings_host.hpp"

#include <concord/lab/measure.hpp>

#include <concord/map.hpp>

namespace concord {

namespace lab {
namespace {

constexpr u32 unroll = 8;
constexpr u32 default_group_size = 256;  // of devices with many work-items per group
constexpr u32 chains = 8;
constexpr u32 mma_chains = 4;
constexpr u32 fma_steps = 1 << 14;
constexpr u32 mma_steps = 1 << 10;
constexpr u64 mma_operations = 2 * 16 * 8 * 16;  // of one product of blocks, which 32 work-items compute
constexpr u64 transfer_bytes = u64{64} << 20;

bool many_items(const Device& device) {
    return device.traits().launch == LaunchModel::groups;
}

u32 group_size(const Device& device) {
    return many_items(device) ? default_group_size : 1;
}

// As many groups as are resident at the same time; on CPUs enough to balance the load.
u64 groups(const Device& device) {
    const DeviceTraits& traits = device.traits();
    return traits.units *
           u64{many_items(device) ? std::max(1U, traits.max_resident_items / default_group_size) : 8};
}

// Bytes per vector of fma_chains in OpenCL C on CPUs. Which one the compiler keeps in registers depends on the CPU.
constexpr u32 vector_bytes[] = {64, 32};

// Elements that a work-item of fma_chains processes side by side, over all chains.
u64 fma_width(const Device& device, Type type, u32 vector) {
    if (device.traits().launch == LaunchModel::host) return host::fma_elements;
    return chains * (many_items(device) ? 1 : vector / size_of(type));
}

double rate(u64 amount, const Timing& timing) {
    return static_cast<double>(amount) / (timing.median * 1e-3);
}

// Rounds down to a multiple of 64 bytes, at least 64.
u64 whole_lines(u64 bytes) {
    return std::max<u64>(64, bytes / 64 * 64);
}

// A rate that need not be measured.
template <class Key>
std::optional<double> known_rate(Ceilings::Rates& of, const std::map<Key, double>& rates, Key key,
                                 Ceilings::IfKnown known, const char* name) {
    const auto it = rates.find(key);
    if (it == rates.end()) return std::nullopt;
    if (known == Ceilings::IfKnown::use) return it->second;
    const bool is_first = of.remeasured.insert(name + std::to_string(static_cast<u64>(key))).second;
    return is_first ? std::nullopt : std::optional(it->second);
}

// Keeps the higher rate. An unknown rate is 0.
double keep_higher(double& known, double measured) {
    return known = std::max(known, measured);
}

// The value for the largest traffic.
std::optional<double> largest(const std::map<u64, double>& rates) {
    if (rates.empty()) return std::nullopt;
    return rates.rbegin()->second;
}

}  // namespace

Ceilings::Ceilings(Stream& stream, bool hot, std::shared_ptr<Rates> rates, const Effort& effort)
    : stream_(stream),
      hot_(hot),
      rates_(rates ? std::move(rates) : std::make_shared<Rates>()),
      effort_(effort) {}

std::shared_ptr<Kernel> Ceilings::compile(const KernelSource& source, const char* entry, Type type,
                                          u32 vector) const {
    Device& device = stream_.device();
    KernelSpec spec;
    spec.source = &source;
    spec.entry = entry;
    spec.constants = {{"GROUP", group_size(device)},
                      {"UNROLL", unroll},
                      {"CHAINS", chains},
                      {"WORDS", many_items(device) ? 4 : 16}};
    const std::string wide =
        std::string(detail::row_of(type).opencl) + std::to_string(vector / size_of(type));
    if (std::string_view(entry) == "fma_chains") {
        spec.constants.push_back({"T", type});
        spec.constants.push_back({"V", many_items(device) ? name_of(type) : std::string_view(wide)});
    }
    if (std::string_view(entry) == "mma_chains") spec.constants.push_back({"MMA_CHAINS", mma_chains});
    spec.host = std::string_view(entry) == "idle" ? host_kernel<&host::idle>()
                : std::string_view(entry) == "read_words"
                    ? host_kernel<&host::read_words>()
                    : detail::visit_float(type, []<class T>(detail::TypeTag<T>) {
                          return host_kernel<&host::fma_chains<T>>();
                      });
    spec.max_group_size = group_size(device);
    return device.compile(spec);
}

double Ceilings::copy(u64 traffic, IfKnown known) {
    const u64 bytes = whole_lines(traffic / 2), count = bytes / 4;
    if (const auto rate = known_rate(*rates_, rates_->copy, 2 * bytes, known, "copy ")) return *rate;
    Device& device = stream_.device();
    const auto from = device.allocate(bytes, &stream_), to = device.allocate(bytes, &stream_);
    const u64 pattern = 0x0123456789abcdef;
    for (const auto& buffer : {from, to})
        stream_.fill(*buffer, 0, bytes, &pattern, sizeof pattern);
    Rotation rotation(stream_, {{{from.get(), 0, count, Type::u32}}, {{to.get(), 0, count, Type::u32}}},
                      hot_ ? 0 : cold_bytes(device));
    const Timing own = measure(
        stream_,
        [&] {
            const Operands& at = rotation.next();
            stream_.copy(*at.out[0].buffer, at.out[0].offset, *at.in[0].buffer, at.in[0].offset, bytes);
        },
        effort_);
    const Timing by_map = measure(
        stream_,
        [&] {
            const Operands& at = rotation.next();
            map(stream_, at.in[0], at.out[0], MapFunction::copy);
        },
        effort_);
    return keep_higher(rates_->copy[2 * bytes], std::max(rate(2 * bytes, own), rate(2 * bytes, by_map)));
}

double Ceilings::read(u64 bytes, IfKnown known) {
    bytes = whole_lines(bytes);
    const u64 count = bytes / 4;
    if (const auto rate = known_rate(*rates_, rates_->read, bytes, known, "read ")) return *rate;
    Device& device = stream_.device();
    const auto kernel = compile(detail::kernel_sources::ceilings(), "read_words", Type::u32);
    const auto from = device.allocate(bytes, &stream_), to = device.allocate(64, &stream_);
    const u64 pattern = 0x0123456789abcdef;
    stream_.fill(*from, 0, bytes, &pattern, sizeof pattern);
    Rotation rotation(stream_, {{{from.get(), 0, count, Type::u32}}, {{to.get(), 0, 1, Type::u32}}},
                      hot_ ? 0 : cold_bytes(device));
    // Small inputs in few groups: each has something to read.
    const u64 most = std::max<u64>(1, bytes / (u64{group_size(device)} * (many_items(device) ? 16 : 16384)));
    const LaunchShape shape = LaunchShape::linear(std::min(groups(device), most), group_size(device));
    const u32 never = 0x5a5a5a5a;
    const Timing timing = measure(
        stream_,
        [&] {
            const Operands& at = rotation.next();
            launch(stream_, *kernel, shape, at.in[0], at.out[0], count, never);
        },
        effort_);
    return keep_higher(rates_->read[bytes], rate(bytes, timing));
}

std::optional<double> Ceilings::fma(Type type, IfKnown known) {
    Device& device = stream_.device();
    if (!is_float(type) || (type == Type::f64 && !device.traits().fp64)) return std::nullopt;
    if (const auto rate = known_rate(*rates_, rates_->fma, type, known, "fma ")) return rate;
    const auto to = device.allocate(64, &stream_);
    const View out{to.get(), 0, 1, type};
    const LaunchShape shape = LaunchShape::linear(groups(device), group_size(device));
    const bool has_vectors = device.traits().launch != LaunchModel::host && !many_items(device);
    double best = 0;
    for (const u32 vector : std::span(vector_bytes).first(has_vectors ? std::size(vector_bytes) : 1)) {
        const auto kernel = compile(detail::kernel_sources::ceilings_fma(), "fma_chains", type, vector);
        const Timing timing = detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
            return measure(
                stream_,
                [&] {
                    launch(stream_, *kernel, shape, out, static_cast<T>(0.75), static_cast<T>(0.25),
                           fma_steps);
                },
                effort_);
        });
        const u64 elements = groups(device) * group_size(device) * fma_width(device, type, vector);
        best = std::max(best, rate(2 * elements * fma_steps, timing));
    }
    return keep_higher(rates_->fma[type], best);
}

std::optional<double> Ceilings::mma(IfKnown known) {
    Device& device = stream_.device();
    if (!device.traits().f64_matrix_units) return std::nullopt;
    if (const auto rate = known_rate(*rates_, rates_->mma, Type::f64, known, "mma ")) return rate;
    const auto to = device.allocate(64, &stream_);
    const View out{to.get(), 0, 1, Type::f64};
    const LaunchShape shape = LaunchShape::linear(groups(device), group_size(device));
    const auto kernel = compile(detail::kernel_sources::ceilings_mma(), "mma_chains", Type::f64);
    const Timing timing = measure(
        stream_, [&] { launch(stream_, *kernel, shape, out, 0.75, 0.25, mma_steps); }, effort_);
    const u64 products = groups(device) * group_size(device) / 32 * mma_chains;
    return keep_higher(rates_->mma[Type::f64], rate(products * mma_operations * mma_steps, timing));
}

double Ceilings::launch_ms() {
    if (rates_->launch_ms) return *rates_->launch_ms;
    const auto kernel = compile(detail::kernel_sources::ceilings(), "idle", Type::f32);
    const Timing timing = measure_blocking(
        [&] {
            launch(stream_, *kernel, LaunchShape::linear(1, 1), u32{0});
            stream_.synchronize();
        },
        effort_);
    rates_->launch_ms = timing.median;
    return timing.median;
}

Ceilings::Transfers Ceilings::transfers() {
    if (rates_->transfers) return *rates_->transfers;
    Device& device = stream_.device();
    const u64 bytes = std::min(transfer_bytes, device.traits().max_allocation / 4);
    const auto on_device = device.allocate(bytes, &stream_);
    const auto pinned = device.allocate_host(bytes);
    std::vector<std::byte> pageable(bytes);
    std::memset(pinned->host_pointer(), 0, bytes);
    auto blocking = [&](const auto& enqueue) {
        const Timing timing = measure_blocking(
            [&] {
                enqueue();
                stream_.synchronize();
            },
            effort_);
        return rate(bytes, timing);
    };
    Transfers rates;
    rates.upload_pinned =
        rate(bytes, measure(
                        stream_, [&] { stream_.copy(*on_device, 0, *pinned, 0, bytes); }, effort_));
    rates.download_pinned =
        rate(bytes, measure(
                        stream_, [&] { stream_.copy(*pinned, 0, *on_device, 0, bytes); }, effort_));
    rates.upload_pageable = blocking([&] { stream_.write(*on_device, 0, pageable.data(), bytes); });
    rates.download_pageable = blocking([&] { stream_.read(pageable.data(), *on_device, 0, bytes); });
    return *(rates_->transfers = rates);
}

u64 Ceilings::large_traffic() const {
    const DeviceTraits& traits = stream_.device().traits();
    if (traits.launch != LaunchModel::groups) return cold_bytes(stream_.device());
    return std::min({u64{2} << 30, traits.global_memory / 8, traits.max_allocation});
}

void Ceilings::measure_all() {
    copy(large_traffic());
    read(large_traffic());
    for (const Type type : {Type::f32, Type::f64})
        fma(type);
    mma();
    transfers();
    launch_ms();
}

Ceilings::Known Ceilings::known() const {
    auto of = [&](Type type) -> std::optional<double> {
        const auto it = rates_->fma.find(type);
        return it == rates_->fma.end() ? std::nullopt : std::optional(it->second);
    };
    const auto mma = rates_->mma.find(Type::f64);
    return {.copy = largest(rates_->copy),
            .read = largest(rates_->read),
            .fma_f32 = of(Type::f32),
            .fma_f64 = of(Type::f64),
            .mma_f64 = mma == rates_->mma.end() ? std::nullopt : std::optional(mma->second),
            .launch_ms = rates_->launch_ms,
            .transfers = rates_->transfers};
}

}  // namespace lab
}  // namespace concord
