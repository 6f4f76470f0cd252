#pragma once
// Internal to histogram: resolved bins, host kernels, tunables, and the functions of its variants.

#include <concord/histogram.hpp>
#include <concord/internal/row.hpp>
#include <concord/tuning.hpp>

#include <array>
#include <bit>

namespace concord::detail {

// Up to this number a bin is a u32, and every sample that is not counted maps past the last bin, whatever its sign
// was.
inline constexpr u64 max_narrow_bins = u64{1} << 30;

// The rule of a call with N bins, as kernels take it.
struct ResolvedBins {
    const Operator* op = nullptr;  // null for exact bins that must be found by their edges
    const HistogramHost* host = nullptr;
    std::array<std::byte, 64> values{};
    std::size_t size = 0;  // bytes of values
    bool nothing = false;  // no sample of this type is in the range
};

// The built-in rule for `count` bins. Throws invalid_argument.
ResolvedBins resolve(const HistogramBins& bins, Type type, u64 count);

// Finds the bins of samples between given edges, or 0xffffffff, and returns them as u32 in scratch memory. Throws
// invalid_argument.
struct FoundBins {
    std::shared_ptr<Buffer> buffer;
    View view;
};
FoundBins find_bins(Stream& stream, const View& in, const HistogramEdges& edges, u64 count);

// The edges of exact bins. Throws invalid_argument unless they ascend.
HistogramBins edges_of_exact(const HistogramBins& bins, Type type, u64 count);

// The host kernels of histogram. Those that call a bin function take it as an argument.
struct HistogramKernels {
    HostKernel bins = {}, bytes = {}, merge = {};  // private_bins
    HostKernel serial = {}, global = {}, local = {}, packed16 = {};
    HostKernel ids = {}, positions = {}, segments = {};  // sorted
    HostKernel saturate = {};
};
// wide: those that take bins of 64 bits.
const HistogramKernels& histogram_kernels(bool wide);

// Copies of the counters per group (multi_copy), passes over the samples (passes), and bytes of local memory per
// group.
u64 multi_copies(const Device& device, const HistogramProblem& problem);
u64 pass_count(const Device& device, u64 bins);
u64 local_budget(const Device& device);
// Scratch tables of private_bins.
struct PrivateRows {
    u64 tasks, stride;
    u32 tables;
    u64 bytes() const { return tasks * stride * tables * 4; }
};
PrivateRows private_rows(const Device& device, const HistogramProblem& problem);

inline constexpr Tunable histogram_copies_of_group{
    "histogram.copies", "largest number of copies per group, multi_copy", on_gpus, {2, 4, 8, 16, 32}};
inline constexpr Tunable histogram_row_gain{"histogram.row_gain",
                                            "samples that a device counts in the time of adding one counter",
                                            on_gpus,
                                            {4, 8, 16, 32, 64, 128, 256}};
inline constexpr Tunable histogram_tables_of_task{
    "histogram.tables", "tables per task, private_bins", on_cpus, {1, 2, 4, 8}};
inline constexpr Tunable histogram_tasks_of_unit{
    "histogram.tasks", "tasks per thread, private_bins", on_cpus, {1, 2, 4, 8, 16}};

TuningPoint point_of(const HistogramProblem& problem);

RunOf<HistogramProblem> run_histogram_private_bins, run_histogram_multi_copy, run_histogram_shared_atomic,
    run_histogram_packed16, run_histogram_passes, run_histogram_global_atomic, run_histogram_sorted,
    run_histogram_serial;

}  // namespace concord::detail
