// Softmax of rows
//
// Each row of a matrix becomes exp(x - max) / sum of exp(x - max). There are two originals, and a port of each.
//
// **A work-item per row.** The original has a loop over the columns in each thread, and so has the port, one
// `CONCORD_KERNEL`. The row is its index. `exp` is Concord's: its results are bitwise identical on all devices, and
// those of CUDA's `expf` are not.
//
// **A work-group per row.** The original reduces in shared memory, with barriers. Its port is a `CONCORD_GROUP_KERNEL`.
// The loops with a stride of the block size become `CONCORD_STRIDED`, the values that a thread keeps between them
// `CONCORD_PRIVATE`, and the two reductions `group_max` and `group_sum`, which need no local memory in the body. The
// collectives have the same order on all devices. On the CPU the compiler vectorises the loops over the work-items.
//
// The check compares both ports bit by bit with plain loops. The rows have values of all magnitudes: a kernel that does
// not subtract the maximum, or that starts it at 0, is right for small values. Lengths are below, at and above the
// group size.

#include "../port.hpp"

#include <algorithm>
#include <cmath>

#include "original_block.hpp"
#include "original_row.hpp"

using namespace ports;

// clang-format off
// row: A work-item per row
CONCORD_KERNEL(softmax, (u64 row, f32* out, const f32* in, u64 columns),
    const u64 begin = row * columns, end = begin + columns;
    f32 most = -INFINITY;
    for (u64 i = begin; i < end; ++i) most = in[i] > most ? in[i] : most;
    f32 sum = 0;
    for (u64 i = begin; i < end; ++i) {
        out[i] = exp(in[i] - most);
        sum += out[i];
    }
    for (u64 i = begin; i < end; ++i) out[i] /= sum;)
// clang-format on

// clang-format off
// block: A work-group per row
CONCORD_GROUP_KERNEL(softmax_group, (256), (f32* out, const f32* in, u64 columns),
    CONCORD_PRIVATE(f32, most) = -INFINITY;
    CONCORD_PRIVATE(f32, sum) = 0;
    const u64 begin = group.x * columns, end = begin + columns;
    CONCORD_STRIDED((i, begin, end), most) { most = max(most, in[i]); }
    const f32 row_max = group_max(most);
    CONCORD_STRIDED((i, begin, end), sum) {
        const f32 e = exp(in[i] - row_max);
        out[i] = e;
        sum += e;
    }
    const f32 total = group_sum(sum);
    CONCORD_STRIDED((i, begin, end)) { out[i] /= total; })
// clang-format on

namespace {

// Planted faults. 1: does not subtract the maximum.
CONCORD_KERNEL(
    softmax_overflow, (u64 row, f32* out, const f32* in, u64 columns), const u64 begin = row * columns;
    f32 sum = 0; for (u64 i = begin; i < begin + columns; ++i) {
        out[i] = exp(in[i]);
        sum += out[i];
    } for (u64 i = begin; i < begin + columns; ++i) out[i] /= sum;)
// 2: the maximum starts at 0, which is wrong for rows of negative values.
CONCORD_KERNEL(
    softmax_start, (u64 row, f32* out, const f32* in, u64 columns), const u64 begin = row * columns;
    f32 most = 0; for (u64 i = begin; i < begin + columns; ++i) most = in[i] > most ? in[i] : most;
    f32 sum = 0; for (u64 i = begin; i < begin + columns; ++i) {
        out[i] = exp(in[i] - most);
        sum += out[i];
    } for (u64 i = begin; i < begin + columns; ++i) out[i] /= sum;)
// 3: the sum lacks the last column.
CONCORD_KERNEL(
    softmax_last, (u64 row, f32* out, const f32* in, u64 columns), const u64 begin = row * columns;
    f32 most = -INFINITY; for (u64 i = begin; i < begin + columns; ++i) most = in[i] > most ? in[i] : most;
    f32 sum = 0; for (u64 i = begin; i < begin + columns; ++i) {
        out[i] = exp(in[i] - most);
        sum += i + 1 < begin + columns ? out[i] : 0.0f;
    } for (u64 i = begin; i < begin + columns; ++i) out[i] /= sum;)
// 4: the language's own exp, whose last bits differ.
CONCORD_KERNEL(
    softmax_native, (u64 row, f32* out, const f32* in, u64 columns), const u64 begin = row * columns;
    f32 most = -INFINITY; for (u64 i = begin; i < begin + columns; ++i) most = in[i] > most ? in[i] : most;
    f32 sum = 0; for (u64 i = begin; i < begin + columns; ++i) {
        out[i] = native::exp2((in[i] - most) * 1.44269504f);
        sum += out[i];
    } for (u64 i = begin; i < begin + columns; ++i) out[i] /= sum;)

void softmax_rows(Stream& stream, const Array<f32>& out, const Array<f32>& in, u64 rows, u64 columns,
                  u32 fault) {
    switch (fault) {
        case 1:
            softmax_overflow(stream, rows, out, in, columns);
            break;
        case 2:
            softmax_start(stream, rows, out, in, columns);
            break;
        case 3:
            softmax_last(stream, rows, out, in, columns);
            break;
        case 4:
            softmax_native(stream, rows, out, in, columns);
            break;
        default:
            softmax(stream, rows, out, in, columns);
    }
}

// Columns in ascending order.
std::vector<f32> reference(const std::vector<f32>& in, u64 columns) {
    std::vector<f32> out(in.size());
    for (u64 begin = 0; begin < in.size(); begin += columns) {
        f32 most = -INFINITY, sum = 0;
        for (u64 i = begin; i < begin + columns; ++i)
            most = std::max(most, in[i]);
        for (u64 i = begin; i < begin + columns; ++i)
            sum += out[i] = Vocabulary::exp(in[i] - most);
        for (u64 i = begin; i < begin + columns; ++i)
            out[i] /= sum;
    }
    return out;
}

// The sum of partial sums in a tree over neighbours.
std::vector<f32> group_reference(const std::vector<f32>& in, u64 columns) {
    std::vector<f32> out(in.size());
    for (u64 begin = 0; begin < in.size(); begin += columns) {
        f32 most = -INFINITY;
        std::vector<f32> sums(256);
        for (u64 i = begin; i < begin + columns; ++i)
            most = std::max(most, in[i]);
        for (u64 i = begin; i < begin + columns; ++i)
            sums[(i - begin) % 256] += out[i] = Vocabulary::exp(in[i] - most);
        for (u64 d = 1; d < 256; d *= 2) {
            for (u64 i = 0; i < 256; i += 2 * d)
                sums[i] += sums[i + d];
        }
        for (u64 i = begin; i < begin + columns; ++i)
            out[i] /= sums[0];
    }
    return out;
}

// The originals, compiled for CUDA at run time.
const KernelSource original{"softmax", {{"original_row.cu", original_row_cu}}, {}};
const KernelSource original_block{"softmax_block", {{"original_block.cu", original_block_cu}}, {}};
const KernelSpec original_spec{.source = &original, .entry = "softmax", .max_group_size = 256};
const KernelSpec original_block_spec{
    .source = &original_block, .entry = "softmax_block", .max_group_size = 256};

void run_original(Stream& stream, const Array<f32>& out, const Array<f32>& in, u64 rows, u64 columns) {
    launch(stream, *stream.device().kernel(original_spec), LaunchShape::linear((rows + 255) / 256, 256), out,
           in, rows, columns);
}
void run_original_block(Stream& stream, const Array<f32>& out, const Array<f32>& in, u64 rows, u64 columns) {
    launch(stream, *stream.device().kernel(original_block_spec), LaunchShape::linear(rows, 256), out, in,
           columns);
}

// Rows in turn: small values, large ones, and only negative ones.
std::vector<f32> matrix(u64 rows, u64 columns) {
    std::vector<f32> values = random_values(rows * columns, -4, 4, rows);
    for (u64 i = 0; i < values.size(); ++i)
        values[i] += i / columns % 3 == 1 ? 200.0f : i / columns % 3 == 2 ? -150.0f : 0.0f;
    return values;
}

// 5: the group port lacks a group.
constexpr u32 last_row_missing = 5;

void check_port(Stream& stream, Check& result, u32 fault) {
    constexpr std::pair<u64, u64> sizes[] = {{1, 1},   {5, 3},     {129, 255}, {7, 256},
                                             {3, 257}, {1000, 33}, {3, 5000}};
    for (const std::pair<u64, u64>& size : sizes) {
        const u64 rows = size.first, columns = size.second;
        const std::vector<f32> values = matrix(rows, columns);
        const std::string what = std::to_string(rows) + " rows of " + std::to_string(columns);
        const Array<f32> in(stream, values);
        // The results of a form, in an array of its own that holds NaNs before.
        const auto results = [&](const auto& form) {
            const Array<f32> out(stream, std::vector<f32>(values.size(), NAN));
            form(out);
            return out.to_host(stream);
        };
        const std::vector<f32> expected = reference(values, columns);
        result.bits(what, expected, results([&](const Array<f32>& out) {
                        softmax_rows(stream, out, in, rows, columns, fault);
                    }));
        if (fault != 0 && fault != last_row_missing) continue;
        // The last row is left out by the planted fault of the group port.
        const u64 groups = fault == last_row_missing && rows > 1 ? rows - 1 : rows;
        result.bits(what + ", group", group_reference(values, columns),
                    results([&](const Array<f32>& out) { softmax_group(stream, groups, out, in, columns); }));
        if (stream.device().traits().dialect != Dialect::cuda) continue;
        result.near(what + ", original", expected,
                    results([&](const Array<f32>& out) { run_original(stream, out, in, rows, columns); }),
                    1e-5);
        result.near(what + ", original with blocks", expected, results([&](const Array<f32>& out) {
                        run_original_block(stream, out, in, rows, columns);
                    }),
                    1e-5);
    }
}

// The loops that one would write for the CPU, with Concord's exp and with that of the C library.
template <bool own>
[[gnu::always_inline]] inline void softmax_loop(const Group& part, f32* __restrict out,
                                                const f32* __restrict in, u64 rows, u64 columns) {
    for (u64 row = rows * part.x / part.count_x; row < rows * (part.x + 1) / part.count_x; ++row) {
        const f32* const x = in + row * columns;
        f32* const y = out + row * columns;
        f32 most = -INFINITY, sum = 0;
        for (u64 i = 0; i < columns; ++i)
            most = std::max(most, x[i]);
        for (u64 i = 0; i < columns; ++i) {
            y[i] = own ? Vocabulary::exp(x[i] - most) : std::exp(x[i] - most);
            sum += y[i];
        }
        for (u64 i = 0; i < columns; ++i)
            y[i] /= sum;
    }
}

void measure_port(Stream& stream, Bench& result) {
    for (const u64 rows : {u64{256}, u64{32768}}) {
        const u64 columns = 1000, elements = rows * columns;
        result.work("softmax, " + std::to_string(rows) + " rows of " + std::to_string(columns), elements,
                    8 * elements);
        const std::vector<f32> values = matrix(rows, columns);
        const Array<f32> in(stream, values), out(stream, elements);
        result.row("CONCORD_KERNEL", [&] { softmax(stream, rows, out, in, columns); });
        if (result.has_cuda())
            result.row("original CUDA kernel", [&] { run_original(stream, out, in, rows, columns); });
        std::vector<f32> to(elements);
        f32* const y = to.data();
        const f32* const x = values.data();
        result.loop("C++ loop", host_kernel<&softmax_loop<true>>(), y, x, rows, columns);
        result.loop("C++ loop with libm's exp", host_kernel<&softmax_loop<false>>(), y, x, rows, columns);
        result.work(
            "softmax, a work-group per row, " + std::to_string(rows) + " rows of " + std::to_string(columns),
            elements, 8 * elements);
        result.row("CONCORD_GROUP_KERNEL", [&] { softmax_group(stream, rows, out, in, columns); });
        if (result.has_cuda())
            result.row("original CUDA kernel, a block a row",
                       [&] { run_original_block(stream, out, in, rows, columns); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv,
               Port{"softmax",
                    5,
                    check_port,
                    measure_port,
                    [] {
                        // Also looks for races between the work-items of a group.
                        concord::check(softmax_group, 3, std::vector<f32>(900), matrix(3, 300), 300);
                        return concord::check(softmax);
                    },
                    {original_spec, original_block_spec}});
}
