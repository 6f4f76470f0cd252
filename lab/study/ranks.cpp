// Measures work of 1, 2, 4, ... ranks. In one process, several devices of one kind have one rank each; a single device
// has all ranks. If ranks are processes, rank 0 tells the others what to measure.

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
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace concord::study {
namespace {

using lab::BenchRow;
using lab::Timing;

const RanksSuite& suite_named(const std::string& name) {
    static const std::vector<RanksSuite> all = {
        {weak_ranks, {"fused", "overlapped", "sequential"}, stencil_work},
        {strong_ranks, {"fused", "overlapped", "sequential"}, stencil_work},
        {reduce_ranks, {"ranks"}, reduce_work},
        {histogram_ranks, {"ranks"}, histogram_work},
        {sort_ranks, {"ranks"}, sort_work, Type::u32}};
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

bool is_wrong(const Error& error) {
    return std::string_view(error.what()).find("WRONG") != std::string_view::npos;
}

// Whether all ranks throw such an error, so that they can go on.
bool is_of_all(const Error& error) {
    return is_wrong(error) || error.code() == ErrorCode::unsupported;
}

// Collective. Calls f, whose calls to the communicator come before its check of the result. If a result is wrong on a
// rank, all ranks throw its error.
template <class F>
void verified(Communicator& ranks, F&& f) {
    std::string wrong;
    try {
        f();
    } catch (const Error& error) {
        if (!is_wrong(error)) throw;
        wrong = error.what();
        wrong.erase(0, wrong.find("WRONG"));
    }
    for (const auto& theirs : ranks.all_gather(std::as_bytes(std::span(wrong)))) {
        if (!theirs.empty())
            throw Error(ErrorCode::device_failed, "study",
                        std::string(reinterpret_cast<const char*>(theirs.data()), theirs.size()));
    }
}

// Milliseconds of a call. Throws device_failed with "WRONG: ..." for a wrong result.
Timing measure(Communicator& ranks, Stream& stream, const RanksWork& work, bool quick) {
    RanksCalls calls;
    verified(ranks, [&] { calls = work.prepare(ranks, stream); });
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
    const double min_ms = quick ? 5 : 60,
                 call_ms = std::max(of_rank_0(ranks, run(first_calls)) / first_calls, 1e-3);
    const u64 count =
        std::max<u64>(call_ms > long_ms ? 1 : first_calls, static_cast<u64>(std::ceil(min_ms / call_ms)));
    std::vector<double> times;
    for (u64 i = 0; i < repetitions; ++i)
        times.push_back(run(count) / static_cast<double>(count));
    if (calls.verify) verified(ranks, calls.verify);
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

// Measures a task on the first ranks of a job. Returns nothing on the other ranks.
std::optional<Timing> measure_part(const RankProcesses& processes, const RanksTask& task, bool quick) {
    const std::shared_ptr<Communicator> ranks = processes.first_ranks(task.ranks);
    if (!ranks) return std::nullopt;
    const RanksWork work = suite_named(task.suite).work(task);
    const auto stream = processes.device->create_stream();
    const Timing timing = measure(*ranks, *stream, work, quick);
    processes.device->trim();
    return timing;
}

// Rank 0: all ranks measure a task.
Timing measure_on(const RankProcesses& processes, const RanksTask& task, bool quick) {
    const std::string text = ordered_json{
        {"suite", task.suite},
        {"variant", task.variant},
        {"n", task.n},
        {"ranks", task.ranks},
        {"shares_host_memory", task.shares_host_memory},
        {"quick", quick}}.dump();
    processes.all.all_gather(std::as_bytes(std::span(text)));
    return measure_part(processes, task, quick).value();
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

bool is_shared(const Result& r) {
    return r.workload == shared_ranks || r.workload == shared_processes;
}

void serve_ranks(const RankProcesses& processes) {
    while (true) {
        const std::vector<std::byte> told = processes.all.all_gather({}).front();
        if (told.empty()) return;
        const auto* text = reinterpret_cast<const char*>(told.data());
        const auto task = ordered_json::parse(text, text + told.size());
        try {
            measure_part(processes,
                         {.suite = task["suite"],
                          .variant = task["variant"],
                          .n = task["n"],
                          .ranks = task["ranks"],
                          .shares_host_memory = task["shares_host_memory"]},
                         task["quick"]);
        } catch (const Error& error) {
            if (!is_of_all(error)) throw;  // rank 0 reports it
        }
    }
}

void release_ranks(const RankProcesses& processes) {
    processes.all.all_gather({});
}

void run_ranks(const std::vector<std::shared_ptr<Device>>& devices, const Case& what, bool quick,
               const RankProcesses* processes, const std::function<bool(const Result&)>& wanted,
               const std::function<void(const Result&, const ordered_json& row)>& done) {
    const Device& first = *devices.front();
    const bool is_shared = processes != nullptr ? processes->is_shared : devices.size() == 1;
    const char* const workload = processes == nullptr ? (is_shared ? shared_ranks : ranks_apart)
                                                      : (is_shared ? shared_processes : processes_apart);
    const RanksSuite& suite = suite_named(what.suite);
    for (const u64 n : what.sizes.of(quick)) {
        for (const std::string& variant : suite.variants) {
            // Kernels of GPUs of their own can wait for each other.
            if (variant == "fused" && (is_shared || !first.traits().system_atomics)) continue;
            for (const u32 p : rank_counts(processes != nullptr ? processes->all.size() : devices.size())) {
                Result asked;
                asked.algorithm = what.suite;
                asked.workload = workload;
                asked.asked = asked.variant = variant + std::to_string(p);
                asked.device = first.info().selector;
                asked.threads = threads_of(first);
                asked.type = name_of(suite.type);
                asked.n = n;
                if (!wanted(asked)) continue;
                const bool shares_host = first.traits().shares_host_memory;
                const RanksTask task{.suite = what.suite,
                                     .variant = variant,
                                     .n = n,
                                     .ranks = p,
                                     .shares_host_memory = shares_host};
                const RanksWork work = suite.work(task);
                BenchRow row;
                row.algorithm = asked.algorithm;
                row.function = asked.workload;
                row.variant = asked.variant;
                row.device = asked.device;
                row.type = suite.type;
                row.n = n;
                row.bytes = work.bytes;
                row.host_clock = true;
                row.copies = 1;
                std::vector<std::shared_ptr<Device>> list;
                bool is_measured = false;
                try {
                    // Processes of one machine share its memory.
                    check_room(first,
                               work.memory / (is_shared || (processes != nullptr && shares_host) ? 1 : p));
                    is_measured = true;
                    if (processes != nullptr) {
                        row.timing = measure_on(*processes, task, quick);
                    } else {
                        for (u32 rank = 0; rank < p; ++rank)
                            list.push_back(devices[is_shared ? 0 : rank]);
                        run_on_devices(list, [&](Communicator& ranks, Stream& stream) {
                            const Timing timing = measure(ranks, stream, work, quick);
                            if (ranks.rank() == 0) row.timing = timing;
                        });
                    }
                } catch (const Error& error) {
                    // Other processes may wait for this one.
                    if (processes != nullptr && is_measured && !is_of_all(error)) throw;
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
