// Measures work of 1, 2, 4, ... ranks in one process. Several devices of one kind have one rank each; a single device
// has all ranks.

#include <concord/study/internal/ranks_work.hpp>

#include <concord/device.hpp>
#include <concord/lab/bench.hpp>
#include <concord/lab/input.hpp>
#include <concord/lab/internal/statistics.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace concord::study {
namespace {

using lab::BenchRow;
using lab::Timing;

const RanksSuite& suite_named(const std::string& name) {
    static const std::vector<RanksSuite> all = {{weak_ranks, {"overlapped", "sequential"}, stencil_work},
                                                {strong_ranks, {"overlapped", "sequential"}, stencil_work},
                                                {reduce_ranks, {"ranks"}, reduce_work},
                                                {histogram_ranks, {"ranks"}, histogram_work}};
    const auto it = std::find_if(all.begin(), all.end(), [&](const RanksSuite& s) { return s.name == name; });
    if (it == all.end())
        throw Error(ErrorCode::invalid_argument, "study", "unknown suite of ranks, got '" + name + "'");
    return *it;
}

double of_rank_0(Communicator& ranks, double value) {
    const auto all = ranks.all_gather(std::as_bytes(std::span(&value, 1)));
    std::memcpy(&value, all[0].data(), sizeof value);
    return value;
}

// Milliseconds of a call. Throws device_failed with "WRONG: ..." for a wrong result.
Timing measure(Communicator& ranks, Stream& stream, const RanksWork& work, bool quick) {
    const RanksCalls calls = work.prepare(ranks, stream);
    auto run = [&](u64 count) {
        ranks.barrier();
        const auto start = std::chrono::steady_clock::now();
        calls.enqueue(count);
        stream.synchronize();
        ranks.barrier();
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    };
    constexpr u64 first_calls = 3, repetitions = 9;
    constexpr double long_ms = 500;  // longer calls are timed one by one
    const double least_ms = quick ? 5 : 60,
                 call_ms = std::max(of_rank_0(ranks, run(first_calls)) / first_calls, 1e-3);
    const u64 count =
        std::max<u64>(call_ms > long_ms ? 1 : first_calls, static_cast<u64>(std::ceil(least_ms / call_ms)));
    std::vector<double> times;
    for (u64 i = 0; i < repetitions; ++i)
        times.push_back(run(count) / static_cast<double>(count));
    if (calls.verify) calls.verify();
    return lab::timing_of(std::move(times), count);
}

std::vector<u32> rank_counts(std::size_t devices) {
    const u32 most = devices > 1 ? static_cast<u32>(devices) : 4;
    std::vector<u32> counts;
    for (u32 p = 1; p < most; p *= 2)
        counts.push_back(p);
    counts.push_back(most);
    return counts;
}

void check_room(const Device& device, u64 needed) {
    u64 room = device.traits().global_memory / 8 * 7;
    if (device.traits().shares_host_memory) room = std::min(room, lab::available_host_memory());
    if (needed > room)
        throw Error(ErrorCode::out_of_memory, "study",
                    "needs " + lab::bytes_name(needed) + " of memory; the limit is " + lab::bytes_name(room));
}

}  // namespace

void throw_wrong(u32 rank, const std::string& what) {
    throw Error(ErrorCode::device_failed, "study", "WRONG: rank " + std::to_string(rank) + ": " + what);
}

void run_ranks(const std::vector<std::shared_ptr<Device>>& devices, const Case& what, bool quick,
               const std::function<bool(const Result&)>& wanted,
               const std::function<void(const Result&, const ordered_json& row)>& done) {
    const Device& first = *devices.front();
    const bool is_shared = devices.size() == 1;
    const RanksSuite& suite = suite_named(what.suite);
    for (const u64 n : what.sizes.of(quick)) {
        for (const std::string& variant : suite.variants) {
            for (const u32 p : rank_counts(devices.size())) {
                Result asked;
                asked.algorithm = what.suite;
                asked.workload = is_shared ? shared_ranks : ranks_apart;
                asked.asked = asked.variant = variant + std::to_string(p);
                asked.device = first.info().selector;
                asked.threads = threads_of(first);
                asked.type = "f32";
                asked.n = n;
                if (!wanted(asked)) continue;
                const RanksWork work = suite.work({.suite = what.suite,
                                                   .variant = variant,
                                                   .n = n,
                                                   .ranks = p,
                                                   .shares_host_memory = first.traits().shares_host_memory});
                BenchRow row;
                row.algorithm = asked.algorithm;
                row.function = asked.workload;
                row.variant = asked.variant;
                row.device = asked.device;
                row.type = Type::f32;
                row.n = n;
                row.bytes = work.bytes;
                row.host_clock = true;
                row.copies = 1;
                std::vector<std::shared_ptr<Device>> list;
                for (u32 rank = 0; rank < p; ++rank)
                    list.push_back(devices[is_shared ? 0 : rank]);
                try {
                    check_room(first, work.memory / (is_shared ? 1 : p));
                    run_on_devices(list, [&](Communicator& ranks, Stream& stream) {
                        const Timing timing = measure(ranks, stream, work, quick);
                        if (ranks.rank() == 0) row.timing = timing;
                    });
                } catch (const Error& error) {
                    row.timing.reset();
                    row.problem = error.what();
                    if (const auto at = row.problem.find("WRONG"); at != std::string::npos)
                        row.problem.erase(0, at);
                    if (error.code() == ErrorCode::out_of_memory) row.problem = "no room: " + row.problem;
                }
                // Frees pooled memory for the next size, or for another device in the same memory.
                for (const auto& device : list)
                    device->trim();
                done(asked, ordered_json::parse(json_of(row)));
            }
        }
    }
}

}  // namespace concord::study
