#pragma once
// Runs: maximal sequences of equal neighbours. Elements are equal if they are bitwise equal and not NaN; elements of
// bool if both are true or both are false.

#include <concord/expression.hpp>
#include <concord/variant.hpp>

#include <memory>

namespace concord::detail {

// The elements as unsigned integers of their size.
View as_bits(View view);

// Whether each element of a range but the first begins a run: n - 1 flags of u8 for n >= 1 elements. live: the number
// of elements that have runs, one u64 on the device, at most n; without a buffer: all.
ExpressionPointer begins_run_node(const View& in, const View& live = {});

// The first position of each run of a range, then n, in memory that lives as long as `room`: u32, or u64 for more than
// 2^32 - 1 elements. Writes the number of runs to `count`, one u64; later steps read their own copy of it.
struct RunOffsets {
    // live: see begins_run_node().
    RunOffsets(Stream& stream, const View& in, const View& count, const View& live = {});

    std::shared_ptr<Buffer> room;
    View offsets;  // n + 1 elements
    View runs;     // one u64: their number
};

// out[r] = the first element of run r; lengths[r] = its number of elements, unless the view is empty.
void store_runs(Stream& stream, const View& in, const RunOffsets& runs, const View& out,
                const View& lengths = {});

// A range or expression with runs, and its name in messages.
struct NamedInput {
    const char* name;
    const Input& in;
};
// The checks of calls with one result per run, which write `results`.
void check_runs(std::string_view call, Stream& stream, const NamedInput& from, const View& count,
                std::initializer_list<NamedView> results);
// Writes 0 to `count`, one u64.
void count_no_runs(Stream& stream, const View& count);

}  // namespace concord::detail
