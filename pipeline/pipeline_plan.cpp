// Length and number of segments in flight, from measured rates of the device, its transfers and the host's copies.

#include "pipeline_engine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <mutex>

namespace concord::detail {
namespace {

// Measured rates of one device in this process.
struct Rates {
    double overhead = 0;                        // seconds per segment through the streams
    double copy = 0, upload = 0, download = 0;  // bytes per second; 0: not needed
};

double seconds_of(const std::function<void()>& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The shortest of a few times: the first ones include set-up.
double best_of(int times, const std::function<void()>& f) {
    double best = seconds_of(f);
    for (int i = 1; i < times; ++i)
        best = std::min(best, seconds_of(f));
    return best;
}

Rates measure(Device& device) {
    constexpr u64 bytes = u64{4} << 20;
    const bool shared = device.traits().shares_host_memory;
    const auto memory = device.allocate(bytes), host = device.allocate_host(bytes);
    const auto uploads = device.create_stream(), downloads = device.create_stream();
    const auto uploaded = device.create_event(), downloaded = device.create_event();
    const std::vector<std::byte> source(bytes);
    Rates rates;
    const HostSource from(source.data(), bytes, Type::u8);
    rates.copy = bytes / best_of(3, [&] { from.read(host->host_pointer(), 0, bytes); });
    // Like a segment: an upload, an event for which another stream waits, a download, and the host waits.
    rates.overhead = best_of(5, [&] {
        uploads->copy(*memory, 0, *host, 0, 64);
        uploads->record(*uploaded);
        downloads->wait(*uploaded);
        downloads->copy(*host, 0, *memory, 0, 64);
        downloads->record(*downloaded);
        downloaded->synchronize();
    });
    if (shared) return rates;
    auto rate = [&](const std::function<void()>& transfer) {
        const double seconds = best_of(3, transfer) - rates.overhead / 2;
        return bytes / std::max(seconds, 1e-6);
    };
    rates.upload = rate([&] {
        uploads->copy(*memory, 0, *host, 0, bytes);
        uploads->synchronize();
    });
    rates.download = rate([&] {
        downloads->copy(*host, 0, *memory, 0, bytes);
        downloads->synchronize();
    });
    return rates;
}

Rates rates_of(Device& device) {
    static std::mutex mutex;
    static std::map<std::string, Rates> known;
    const std::lock_guard lock(mutex);
    const auto [it, is_new] = known.try_emplace(device.info().selector);
    if (is_new) {
        try {
            it->second = measure(device);
        } catch (...) {
            known.erase(it);
            throw;
        }
    }
    return it->second;
}

// Chooses the length so that the overhead is 2 % of a segment's time, within fixed bounds. Copy engines reach their
// full rate at 16 MiB per array.
u64 bytes_of_segment(const Rates& rates, bool writes) {
    const u64 shortest = rates.upload > 0 ? u64{48} << 20 : u64{1} << 20, longest = u64{64} << 20;
    double slowest = std::numeric_limits<double>::max();
    for (const double rate : {rates.copy, rates.upload, writes ? rates.download : 0.0}) {
        if (rate > 0) slowest = std::min(slowest, rate);
    }
    return std::clamp(std::bit_ceil(static_cast<u64>(50 * rates.overhead * slowest)), shortest, longest);
}

// One segment per stage if all stages take the same time. Fewer if one stage is slow, because the others wait for it
// anyway. Kernels always count as one stage.
u32 depth_of(const Rates& rates, bool writes) {
    double all = 0, longest = 0;
    for (const double rate : {rates.copy, rates.upload, writes ? rates.download : 0.0}) {
        if (rate == 0) continue;
        all += 1 / rate;
        longest = std::max(longest, 1 / rate);
    }
    return 1 + static_cast<u32>(std::lround(all / longest));
}

}  // namespace

PipelinePlan plan_pipeline(Device& device, const PipelineTask& task, const PipelineOptions& options,
                           const PipelineLoad& load) {
    const DeviceTraits& traits = device.traits();
    const u64 all = task.in[0]->count();
    Rates rates = options.segment > 0 && options.depth > 0 ? Rates{} : rates_of(device);
    if (rates.upload > 0 && !load.host_copies) rates.copy = 0;
    PipelinePlan plan;
    plan.depth = options.depth > 0 ? options.depth : depth_of(rates, task.out != nullptr);

    if (options.segment > 0) {
        plan.segment = options.segment / size_of(task.in[0]->type());
    } else {
        plan.segment = std::bit_floor(bytes_of_segment(rates, task.out != nullptr) / load.all_bytes);
        // With few segments, the first and the last one, which overlap with nothing, would dominate the time.
        constexpr u64 fill = 4;
        while (plan.segment > 2 * task.grain && plan.segment * load.all_bytes > u64{1} << 20 &&
               divide_up(all, plan.segment) < fill * plan.depth * load.devices)
            plan.segment /= 2;
    }
    plan.segment = std::min(plan.segment, divide_up(std::max<u64>(all, 1), task.grain) * task.grain);
    plan.segment = std::max(plan.segment / task.grain * task.grain, task.grain);

    const u64 whole = options.memory > 0 ? options.memory : traits.global_memory / 4,
              limit = whole / load.devices;
    const u64 least = std::min(task.grain, std::max<u64>(all, 1)) * load.slot_bytes;
    const u64 room = (limit > task.memory ? limit - task.memory : 0) / 8 * 7;
    if (least > room)
        throw Error(ErrorCode::invalid_argument, memory_option,
                    error_message("too small for one segment", std::to_string(whole) + " bytes",
                                  "pass at least " + std::to_string((divide_up(least, 7) * 8 + task.memory) *
                                                                    load.devices)));
    while (plan.depth > 1 && plan.depth * least > room)
        --plan.depth;
    // Powers of two, because the device's pool rounds up other sizes.
    const u64 most = load.slot_bytes == 0
                         ? std::bit_ceil(plan.segment)
                         : std::min(room / plan.depth / load.slot_bytes, traits.max_allocation / 8);
    if (std::bit_ceil(plan.segment) > most) plan.segment = std::max(task.grain, std::bit_floor(most));
    return plan;
}

}  // namespace concord::detail
