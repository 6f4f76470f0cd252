#pragma once
// What histogram.cpp, histogram_bins.cpp and histogram_run.cpp share: resolved bins and the launch code of the
// rows.

#include <concord/histogram.hpp>

#include <concord/tuning.hpp>

#include <array>
#include <bit>

namespace concord::detail {

/// Up to as many bins, a bin is a u32 and what is not counted lies past them all, however signed it was.
inline constexpr u64 most_narrow_bins = u64{1} << 30;

/// A binning of N bins, as kernels take it.
struct ResolvedBins {
    const Operator* op = nullptr;
    const HistogramHost* host = nullptr;
    std::array<std::byte, 48> values{};
    u32 size = 0;          ///< bytes of the values
    bool nothing = false;  ///< no sample of the type is in the range
};

/// Throws invalid_argument.
ResolvedBins resolve(const HistogramBins& bins, Type type, u64 count);

constexpr Type unsigned_of(Type type) {
    return type < Type::u8 ? static_cast<Type>(static_cast<u8>(type) + 4) : type;
}

/// Bytes of a group's counters in local memory, by variant; 0 if they do not fit.
u64 multi_copies(const Device& device, const HistogramProblem& problem);
u64 pass_count(const Device& device, u64 bins);
u64 local_budget(const Device& device);
/// The rows of private_bins.
struct PrivateRows {
    u64 tasks, stride;
    u32 tables;
    u64 bytes() const { return tasks * stride * tables * 4; }
};
PrivateRows private_rows(const Device& device, const HistogramProblem& problem);

inline constexpr Tunable histogram_copies_of_group{.name = "histogram.copies",
                                                   .summary = "copies a group at most, multi_copy",
                                                   .used_by = {TunableUser::cuda, TunableUser::opencl},
                                                   .values = {2, 4, 8, 16, 32}};
inline constexpr Tunable histogram_row_gain{
    .name = "histogram.row_gain",
    .summary = "samples counted in the time that one counter takes to be added",
    .used_by = {TunableUser::cuda, TunableUser::opencl},
    .values = {4, 8, 16, 32, 64, 128, 256}};
inline constexpr Tunable histogram_tables_of_task{
    .name = "histogram.tables",
    .summary = "tables of a task, private_bins",
    .used_by = {TunableUser::opencl_single_item, TunableUser::host},
    .values = {1, 2, 4, 8}};
inline constexpr Tunable histogram_tasks_of_unit{
    .name = "histogram.tasks",
    .summary = "tasks for each thread, private_bins",
    .used_by = {TunableUser::opencl_single_item, TunableUser::host},
    .values = {1, 2, 4, 8, 16}};

TuningPoint point_of(const HistogramProblem& problem);

void run_histogram_private_bins(Stream& stream, const HistogramProblem& problem);
void run_histogram_multi_copy(Stream& stream, const HistogramProblem& problem);
void run_histogram_shared_atomic(Stream& stream, const HistogramProblem& problem);
void run_histogram_packed16(Stream& stream, const HistogramProblem& problem);
void run_histogram_passes(Stream& stream, const HistogramProblem& problem);
void run_histogram_global_atomic(Stream& stream, const HistogramProblem& problem);
void run_histogram_sorted(Stream& stream, const HistogramProblem& problem);
void run_histogram_serial(Stream& stream, const HistogramProblem& problem);

}  // namespace concord::detail
