// Baselines on the CPU: the C++ standard library on one thread (`std`) and with parallel execution policies (`std_par`:
// libstdc++'s PSTL on oneTBB), loops on oneTBB (`tbb`), and memcpy.

#include "functors.hpp"
#include "host_sort.hpp"
#include "host_stencil.hpp"

#include <tbb/blocked_range.h>
#include <tbb/blocked_range2d.h>
#include <tbb/combinable.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/version.h>

#include <concord/log.hpp>

#include <gnu/libc-version.h>

#include <cmath>
#include <cstring>
#include <execution>
#include <memory>
#include <numeric>

namespace concord::baselines {
namespace {

using lab::native_pointer;

// Elements per task, about 10 us of work.
constexpr std::size_t grain = std::size_t{1} << 15;

Call copy_bytes(Stream&, const Work& work, Views in, Views out) {
    return [from = native_pointer<char>(in[0]), to = native_pointer<char>(out[0]),
            bytes = work.inputs[0].bytes()] { std::memcpy(to, from, bytes); };
}

// Execution policies of `std` and `std_par`.
struct Serial {
    static constexpr auto& policy = std::execution::seq;
};
struct Parallel {
    static constexpr auto& policy = std::execution::par_unseq;
};

template <class Policy>
Call std_map(Stream&, const Work& work, Views in, Views out) {
    return visit_map(work, [&]<class T>(detail::TypeTag<T>, auto f) -> Call {
        const auto* from = native_pointer<const T>(in[0]);
        auto* to = native_pointer<T>(out[0]);
        if constexpr (std::is_same_v<decltype(f), Copy>) {
            return [from, to, n = work.n] { std::copy(Policy::policy, from, from + n, to); };
        } else {
            return [f, from, to, n = work.n] { std::transform(Policy::policy, from, from + n, to, f); };
        }
    });
}

template <class Policy>
Call std_add(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [a = native_pointer<const T>(in[0]), b = native_pointer<const T>(in[1]),
                to = native_pointer<T>(out[0]),
                n = work.n] { std::transform(Policy::policy, a, a + n, b, to, Sum{}); };
    });
}

template <class Policy>
Call std_reduce(Stream&, const Work& work, Views in, Views out) {
    return visit_reduce(work, [&]<class T>(detail::TypeTag<T>, auto op) -> Call {
        return [op, from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]), n = work.n] {
            *to = std::reduce(Policy::policy, from, from + n, decltype(op)::template identity<T>, op);
        };
    });
}

// The sums of segments [first, last).
template <class T>
void sum_segments(const T* from, const u32* offsets, T* to, std::size_t first, std::size_t last) {
    for (std::size_t s = first; s < last; ++s) {
        T sum{};
        for (u32 i = offsets[s]; i < offsets[s + 1]; ++i)
            sum = Sum{}(sum, from[i]);
        to[s] = sum;
    }
}

Call loop_segmented_reduce(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), offsets = native_pointer<const u32>(in[1]),
                to = native_pointer<T>(out[0]),
                segments = work.outputs[0].count] { sum_segments(from, offsets, to, 0, segments); };
    });
}

Call tbb_segmented_reduce(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), offsets = native_pointer<const u32>(in[1]),
                to = native_pointer<T>(out[0]), segments = work.outputs[0].count] {
            tbb::parallel_for(tbb::blocked_range<std::size_t>(0, segments), [=](const auto& block) {
                sum_segments(from, offsets, to, block.begin(), block.end());
            });
        };
    });
}

// Scans segments [first, last).
template <class T>
void scan_segments(const T* from, const u32* offsets, T* to, std::size_t first, std::size_t last) {
    for (std::size_t s = first; s < last; ++s) {
        T sum{};
        for (u32 i = offsets[s]; i < offsets[s + 1]; ++i)
            to[i] = sum = Sum{}(sum, from[i]);
    }
}

Call loop_segmented_scan(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), offsets = native_pointer<const u32>(in[1]),
                to = native_pointer<T>(out[0]),
                segments = work.inputs[1].count - 1] { scan_segments(from, offsets, to, 0, segments); };
    });
}

Call tbb_segmented_scan(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), offsets = native_pointer<const u32>(in[1]),
                to = native_pointer<T>(out[0]), segments = work.inputs[1].count - 1] {
            tbb::parallel_for(tbb::blocked_range<std::size_t>(0, segments), [=](const auto& block) {
                scan_segments(from, offsets, to, block.begin(), block.end());
            });
        };
    });
}

// Sorts segments [first, last).
template <class T>
void sort_segments(const T* from, const u32* offsets, T* to, std::size_t first, std::size_t last) {
    for (std::size_t s = first; s < last; ++s) {
        std::copy(from + offsets[s], from + offsets[s + 1], to + offsets[s]);
        std::sort(to + offsets[s], to + offsets[s + 1]);
    }
}

Call loop_segmented_sort(Stream&, const Work& work, Views in, Views out) {
    return visit_compiled(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), offsets = native_pointer<const u32>(in[1]),
                to = native_pointer<T>(out[0]),
                segments = work.inputs[1].count - 1] { sort_segments(from, offsets, to, 0, segments); };
    });
}

Call tbb_segmented_sort(Stream&, const Work& work, Views in, Views out) {
    return visit_compiled(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), offsets = native_pointer<const u32>(in[1]),
                to = native_pointer<T>(out[0]), segments = work.inputs[1].count - 1] {
            tbb::parallel_for(tbb::blocked_range<std::size_t>(0, segments), [=](const auto& block) {
                sort_segments(from, offsets, to, block.begin(), block.end());
            });
        };
    });
}

Call loop_scan_by_key(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [keys = native_pointer<const u32>(in[1]), from = native_pointer<const T>(in[0]),
                to = native_pointer<T>(out[0]), n = work.n] {
            T sum{};
            for (std::size_t i = 0; i < n; ++i) {
                sum = i > 0 && keys[i] == keys[i - 1] ? Sum{}(sum, from[i]) : from[i];
                to[i] = sum;
            }
        };
    });
}

template <class Policy>
Call std_scan(Stream&, const Work& work, Views in, Views out) {
    return visit_scan(work, [&]<class T>(detail::TypeTag<T>, auto op, bool exclusive) -> Call {
        return [op, exclusive, from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]),
                n = work.n] {
            if (exclusive) {
                std::exclusive_scan(Policy::policy, from, from + n, to, decltype(op)::template identity<T>,
                                    op);
            } else {
                std::inclusive_scan(Policy::policy, from, from + n, to, op);
            }
        };
    });
}

template <class Policy>
Call std_compact(Stream&, const Work& work, Views in, Views out) {
    return visit_compact(work, [&]<class T>(detail::TypeTag<T>, auto keep) -> Call {
        return [keep, from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]),
                count = native_pointer<u64>(out[1]), n = work.n] {
            *count = static_cast<u64>(std::copy_if(Policy::policy, from, from + n, to, keep) - to);
        };
    });
}

// Branch-free: stores every element at the position of the next kept one. Stops at the last kept element, so that
// nothing is stored past the end.
template <class T, class Keep>
[[gnu::noinline]] u64 compact_range(const T* __restrict from, T* __restrict to, std::size_t n, Keep keep) {
    while (n > 0 && !keep(from[n - 1]))
        --n;
    u64 kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        to[kept] = from[i];
        kept += keep(from[i]) ? 1 : 0;
    }
    return kept;
}

Call loop_compact(Stream&, const Work& work, Views in, Views out) {
    return visit_compact(work, [&]<class T>(detail::TypeTag<T>, auto keep) -> Call {
        return
            [keep, from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]),
             count = native_pointer<u64>(out[1]), n = work.n] { *count = compact_range(from, to, n, keep); };
    });
}

Call std_unique(Stream&, const Work& work, Views in, Views out) {
    return visit_bits(work.type(), [&]<class B>(detail::TypeTag<B>) -> Call {
        return [from = native_pointer<const B>(in[0]), to = native_pointer<B>(out[0]),
                count = native_pointer<u64>(out[1]),
                n = work.n] { *count = static_cast<u64>(std::unique_copy(from, from + n, to) - to); };
    });
}

// Branch-free: stores every element at the position of its run.
Call loop_unique(Stream&, const Work& work, Views in, Views out) {
    return visit_bits(work.type(), [&]<class B>(detail::TypeTag<B>) -> Call {
        return [from = native_pointer<const B>(in[0]), to = native_pointer<B>(out[0]),
                count = native_pointer<u64>(out[1]), n = work.n] {
            u64 run = 0;
            to[0] = from[0];
            for (std::size_t i = 1; i < n; ++i) {
                run += from[i] != from[i - 1] ? 1 : 0;
                to[run] = from[i];
            }
            *count = run + 1;
        };
    });
}

// Calls store(run, begin, end) for each run that begins in [first, last). `run`: the number of runs before. Returns it
// for the runs up to `last`.
template <class B, class Store>
u64 visit_runs(const B* keys, std::size_t n, std::size_t first, std::size_t last, u64 run,
               const Store& store) {
    while (first > 0 && first < last && keys[first] == keys[first - 1])
        ++first;
    while (first < last) {
        std::size_t end = first + 1;
        while (end < n && keys[end] == keys[first])
            ++end;
        store(run, first, end);
        ++run;
        first = end;
    }
    return run;
}

// Ways to visit all runs. They return the number of runs.
struct Loop {
    template <class B, class Store>
    static u64 runs(const B* keys, std::size_t n, std::vector<u64>& /*counts*/, const Store& store) {
        return visit_runs(keys, n, 0, n, 0, store);
    }
};
// Tasks count the runs that begin in their part, then store them.
struct Tasks {
    template <class B, class Store>
    static u64 runs(const B* keys, std::size_t n, std::vector<u64>& counts, const Store& store) {
        const std::size_t parts = (n + grain - 1) / grain;
        counts.assign(parts + 1, 0);
        tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t part) {
            const std::size_t first = part * grain, last = std::min(n, first + grain);
            u64 count = first == 0 ? 1 : 0;
            for (std::size_t i = std::max<std::size_t>(1, first); i < last; ++i)
                count += keys[i] != keys[i - 1] ? 1 : 0;
            counts[part + 1] = count;
        });
        std::inclusive_scan(counts.begin(), counts.end(), counts.begin());
        tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t part) {
            visit_runs(keys, n, part * grain, std::min(n, (part + 1) * grain), counts[part], store);
        });
        return counts[parts];
    }
};

Call tbb_unique(Stream&, const Work& work, Views in, Views out) {
    return visit_bits(work.type(), [&]<class B>(detail::TypeTag<B>) -> Call {
        return
            [from = native_pointer<const B>(in[0]), to = native_pointer<B>(out[0]),
             count = native_pointer<u64>(out[1]), n = work.n, counts = std::make_shared<std::vector<u64>>()] {
                *count = Tasks::runs(from, n, *counts,
                                     [=](u64 run, std::size_t begin, std::size_t) { to[run] = from[begin]; });
            };
    });
}

template <class By>
Call encode_runs(Stream&, const Work& work, Views in, Views out) {
    return visit_bits(work.type(), [&]<class B>(detail::TypeTag<B>) -> Call {
        return [from = native_pointer<const B>(in[0]), to = native_pointer<B>(out[0]),
                lengths = native_pointer<u64>(out[1]), count = native_pointer<u64>(out[2]), n = work.n,
                counts = std::make_shared<std::vector<u64>>()] {
            *count = By::runs(from, n, *counts, [=](u64 run, std::size_t begin, std::size_t end) {
                to[run] = from[begin];
                lengths[run] = end - begin;
            });
        };
    });
}

template <class By>
Call sum_runs(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return
            [keys = native_pointer<const u32>(in[1]), from = native_pointer<const T>(in[0]),
             to_keys = native_pointer<u32>(out[0]), to = native_pointer<T>(out[1]),
             count = native_pointer<u64>(out[2]), n = work.n, counts = std::make_shared<std::vector<u64>>()] {
                *count = By::runs(keys, n, *counts, [=](u64 run, std::size_t begin, std::size_t end) {
                    T sum{};
                    for (std::size_t i = begin; i < end; ++i)
                        sum = Sum{}(sum, from[i]);
                    to_keys[run] = keys[begin];
                    to[run] = sum;
                });
            };
    });
}

// Bodies of the loops on oneTBB. They are functions, because in a lambda g++ ignores __restrict and does not vectorise.
template <class T, class F>
[[gnu::noinline]] void map_range(const T* __restrict from, T* __restrict to, std::size_t n, F f) {
    for (std::size_t i = 0; i < n; ++i)
        to[i] = f(from[i]);
}

template <class T>
[[gnu::noinline]] void add_range(const T* __restrict a, const T* __restrict b, T* __restrict to,
                                 std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        to[i] = static_cast<T>(a[i] + b[i]);
}

// Four independent vector accumulators hide the operator's latency.
template <class T, class Op>
[[gnu::noinline]] T reduce_range(const T* from, std::size_t n, T result, Op op) {
    constexpr std::size_t width = 64 / sizeof(T), step = 4 * width;
    typedef T Vector __attribute__((vector_size(64)));
    const std::size_t whole = n / step * step;
    if (whole != 0) {
        Vector sums[4];
        std::memcpy(sums, from, sizeof sums);
        for (std::size_t i = step; i < whole; i += step) {
            Vector x[4];
            std::memcpy(x, from + i, sizeof x);
            for (int k = 0; k < 4; ++k)
                sums[k] = op(sums[k], x[k]);
        }
        const Vector all = op(op(sums[0], sums[1]), op(sums[2], sums[3]));
        for (std::size_t k = 0; k < width; ++k)
            result = op(result, static_cast<T>(all[k]));
    }
    for (std::size_t i = whole; i < n; ++i)
        result = op(result, from[i]);
    return result;
}

using Block = tbb::blocked_range<std::size_t>;

Call tbb_map(Stream&, const Work& work, Views in, Views out) {
    return visit_map(work, [&]<class T>(detail::TypeTag<T>, auto f) -> Call {
        return [f, from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]), n = work.n] {
            tbb::parallel_for(Block(0, n, grain), [=](const Block& block) {
                map_range(from + block.begin(), to + block.begin(), block.size(), f);
            });
        };
    });
}

Call tbb_add(Stream&, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [a = native_pointer<const T>(in[0]), b = native_pointer<const T>(in[1]),
                to = native_pointer<T>(out[0]), n = work.n] {
            tbb::parallel_for(Block(0, n, grain), [=](const Block& block) {
                add_range(a + block.begin(), b + block.begin(), to + block.begin(), block.size());
            });
        };
    });
}

Call tbb_reduce(Stream&, const Work& work, Views in, Views out) {
    return visit_reduce(work, [&]<class T>(detail::TypeTag<T>, auto op) -> Call {
        return [op, from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]), n = work.n] {
            *to = tbb::parallel_reduce(
                Block(0, n, grain), decltype(op)::template identity<T>,
                [=](const Block& block, T result) {
                    return reduce_range(from + block.begin(), block.size(), result, op);
                },
                op);
        };
    });
}

Call tbb_scan(Stream&, const Work& work, Views in, Views out) {
    return visit_scan(work, [&]<class T>(detail::TypeTag<T>, auto op, bool exclusive) -> Call {
        return [op, exclusive, from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]),
                n = work.n] {
            tbb::parallel_scan(
                Block(0, n, grain), decltype(op)::template identity<T>,
                [=](const Block& block, T sum, bool final) {
                    if (!final) return reduce_range(from + block.begin(), block.size(), sum, op);
                    for (std::size_t i = block.begin(); i < block.end(); ++i) {
                        const T before = sum;
                        sum = op(sum, from[i]);
                        to[i] = exclusive ? before : sum;
                    }
                    return sum;
                },
                op);
        };
    });
}

// Calls f(TypeTag<T>) for the sample type of histogram: f32 or u32.
template <class F>
Call visit_samples(const Work& work, F&& f) {
    return work.type() == Type::f32 ? f(detail::TypeTag<f32>{}) : f(detail::TypeTag<u32>{});
}

Call std_histogram(Stream&, const Work& work, Views in, Views out) {
    return visit_samples(work, [&]<class T>(detail::TypeTag<T>) -> Call {
        return [bin = EvenBin<T>{static_cast<u32>(work.outputs[0].count)},
                from = native_pointer<const T>(in[0]), to = native_pointer<u32>(out[0]), n = work.n] {
            std::fill_n(to, bin.bins, 0U);
            for (std::size_t i = 0; i < n; ++i) {
                const u32 b = bin(from[i]);
                if (b < bin.bins) ++to[b];
            }
        };
    });
}

// Each thread rotates over four tables, so that equal samples do not wait for the same counter.
template <class T>
[[gnu::noinline]] void count_range(const T* from, std::size_t n, u32* tables, EvenBin<T> bin) {
    const std::size_t stride = bin.bins + 1;  // the last counter takes samples outside the range
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (std::size_t k = 0; k < 4; ++k)
            ++tables[k * stride + bin(from[i + k])];
    }
    for (; i < n; ++i)
        ++tables[bin(from[i])];
}

Call tbb_histogram(Stream&, const Work& work, Views in, Views out) {
    return visit_samples(work, [&]<class T>(detail::TypeTag<T>) -> Call {
        return [bin = EvenBin<T>{static_cast<u32>(work.outputs[0].count)},
                from = native_pointer<const T>(in[0]), to = native_pointer<u32>(out[0]), n = work.n] {
            const std::size_t stride = bin.bins + 1;
            tbb::combinable<std::vector<u32>> all([=] { return std::vector<u32>(4 * stride); });
            tbb::parallel_for(Block(0, n, grain), [&](const Block& block) {
                count_range(from + block.begin(), block.size(), all.local().data(), bin);
            });
            std::fill_n(to, bin.bins, 0U);
            all.combine_each([=](const std::vector<u32>& tables) {
                for (std::size_t k = 0; k < 4; ++k) {
                    for (u32 b = 0; b < bin.bins; ++b)
                        to[b] += tables[k * stride + b];
                }
            });
        };
    });
}

// Plain loops over a block of 32 x 32 elements.
template <class T>
[[gnu::noinline]] void transpose_block(const T* __restrict from, T* __restrict to, std::size_t rows,
                                       std::size_t columns, const tbb::blocked_range2d<std::size_t>& block) {
    for (std::size_t r = block.rows().begin(); r < block.rows().end(); ++r) {
        for (std::size_t c = block.cols().begin(); c < block.cols().end(); ++c)
            to[c * rows + r] = from[r * columns + c];
    }
}

Call tbb_transpose(Stream&, const Work& work, Views in, Views out) {
    return visit_bits(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]), rows = work.shape[0],
                columns = work.shape[1]] {
            constexpr std::size_t side = 32;
            tbb::parallel_for(
                tbb::blocked_range2d<std::size_t>(0, rows, side, 0, columns, side),
                [=](const auto& block) { transpose_block(from, to, rows, columns, block); },
                tbb::simple_partitioner());
        };
    });
}

// Computes columns [begin, end) of a row whose mask stays inside the image. `from` is the first pixel under the mask.
// The compiler unrolls the taps and vectorises along the row.
template <class T, std::size_t Side>
[[gnu::noinline]] void convolve_row(const T* __restrict from, std::size_t pitch, const T* __restrict mask,
                                    T* __restrict to, std::size_t begin, std::size_t end) {
    for (std::size_t x = begin; x < end; ++x) {
        T sum = 0;
        for (std::size_t j = 0; j < Side; ++j) {
            for (std::size_t i = 0; i < Side; ++i)
                sum = std::fma(mask[j * Side + i], from[j * pitch + x - begin + i], sum);
        }
        to[x] = sum;
    }
}

// A result whose mask reaches over the border.
template <class T>
T convolve_cell(const T* from, std::size_t rows, std::size_t columns, const T* mask, std::size_t side,
                std::size_t y, std::size_t x) {
    T sum = 0;
    for (std::size_t k = 0; k < side * side; ++k) {
        const std::size_t r = y + k / side - side / 2, c = x + k % side - side / 2;  // large if negative
        sum = std::fma(mask[k], r < rows && c < columns ? from[r * columns + c] : T(0), sum);
    }
    return sum;
}

template <class T, std::size_t Side>
void convolve_rows(const T* from, const T* mask, T* to, std::size_t rows, std::size_t columns) {
    tbb::parallel_for(Block(0, rows, 16), [=](const Block& block) {
        constexpr std::size_t half = Side / 2;
        for (std::size_t y = block.begin(); y < block.end(); ++y) {
            T* const row = to + y * columns;
            const bool inside = y >= half && y + half < rows && columns >= Side;
            const std::size_t begin = inside ? half : columns, end = inside ? columns - half : columns;
            for (std::size_t x = 0; x < begin; ++x)
                row[x] = convolve_cell(from, rows, columns, mask, Side, y, x);
            if (inside) convolve_row<T, Side>(from + (y - half) * columns, columns, mask, row, begin, end);
            for (std::size_t x = end; x < columns; ++x)
                row[x] = convolve_cell(from, rows, columns, mask, Side, y, x);
        }
    });
}

Call tbb_convolve(Stream&, const Work& work, Views in, Views out) {
    auto call = [&]<class T>(detail::TypeTag<T>) -> Call {
        const u64 side = work.shape[2];
        auto* const loop = side == 3   ? convolve_rows<T, 3>
                           : side == 5 ? convolve_rows<T, 5>
                           : side == 7 ? convolve_rows<T, 7>
                                       : convolve_rows<T, 15>;
        return [loop, from = native_pointer<const T>(in[0]), mask = native_pointer<const T>(in[1]),
                to = native_pointer<T>(out[0]), rows = work.shape[0],
                columns = work.shape[1]] { loop(from, mask, to, rows, columns); };
    };
    return detail::visit_float(work.type(), call);
}

const char* std_map_name(const Work& work) {
    return work.title == "copy" ? "std::copy(seq)" : "std::transform(seq)";
}
const char* std_par_map_name(const Work& work) {
    return work.title == "copy" ? "std::copy(par_unseq)" : "std::transform(par_unseq)";
}
const char* std_scan_name(const Work& work) {
    return work.title.rfind("exclusive", 0) == 0 ? "std::exclusive_scan(seq)" : "std::inclusive_scan(seq)";
}
const char* std_par_scan_name(const Work& work) {
    return work.title.rfind("exclusive", 0) == 0 ? "std::exclusive_scan(par_unseq)"
                                                 : "std::inclusive_scan(par_unseq)";
}

// Whether this CPU supports the instruction sets that the file is compiled for (-march=native by default).
bool runs_here() {
#if defined(__AVX512F__)
    if (!__builtin_cpu_supports("avx512f")) return false;
#endif
#if defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2")) return false;
#endif
    return true;
}

void host(std::vector<Baseline>& list) {
    if (!runs_here()) {
        detail::log_warn(
            "baselines: no CPU baselines, because they were compiled for another CPU; build them here");
        return;
    }
    // Never deleted, because it must not be destroyed after oneTBB's own globals.
    static const auto* const threads =
        new tbb::global_control(tbb::global_control::max_allowed_parallelism, host_threads());
    static_cast<void>(threads);
    const std::string library = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE);
    const std::string tbb = std::string("oneTBB ") + TBB_runtime_version();
    const std::string libc = std::string("glibc ") + gnu_get_libc_version();
    append(list, {"memcpy", libc, "tbb"}, {{"map", {"copy"}, any_type, copy_bytes, "memcpy"}});
    append(list, {"std", library, "tbb"},
           {{"map", map_titles, any_type, std_map<Serial>, std_map_name},
            {"add", {"sum"}, any_type, std_add<Serial>, "std::transform(seq)"},
            {"reduce", reduce_titles, any_type, std_reduce<Serial>, "std::reduce(seq)"},
            {"scan", scan_titles, any_type, std_scan<Serial>, std_scan_name},
            {"histogram", histogram_titles, histogram_types, std_histogram, "a loop on one thread"},
            {"compact", compact_titles, any_type, std_compact<Serial>, "std::copy_if(seq)"},
            {"unique", run_titles, any_type, std_unique, "std::unique_copy"}});
    append(list, {"std_par", library + " PSTL, " + tbb, "tbb"},
           {{"map", map_titles, any_type, std_map<Parallel>, std_par_map_name},
            {"add", {"sum"}, any_type, std_add<Parallel>, "std::transform(par_unseq)"},
            {"reduce", reduce_titles, any_type, std_reduce<Parallel>, "std::reduce(par_unseq)"},
            {"scan", scan_titles, any_type, std_scan<Parallel>, std_par_scan_name},
            {"compact", compact_titles, any_type, std_compact<Parallel>, "std::copy_if(par_unseq)"}});
    append(list, {"std", library, "tbb"}, std_sorts());
    append(list, {"std_stable", library, "tbb"}, std_stable_sorts());
    append(list, {"std_par", library + " PSTL, " + tbb, "tbb"}, std_par_sorts());
    append(list, {"tbb", tbb, "tbb"}, tbb_sorts());
    append(list, {"tbb", tbb + ", plain loops", "tbb"}, tbb_stencils());
    append(list, {"tbb_tiled", tbb + ", tiles of rows", "tbb"}, tbb_tiled_stencils());
    append(
        list, {"loop", library, "tbb"},
        {{"compact", compact_titles, any_type, loop_compact, "a branch-free loop on one thread"},
         {"unique", run_titles, any_type, loop_unique, "a branch-free loop on one thread"},
         {"run_length_encode", run_titles, any_type, encode_runs<Loop>, "a loop on one thread"},
         {"segmented_reduce", segmented_sum_titles, any_type, loop_segmented_reduce, "a loop on one thread"},
         {"segmented_sort", segmented_sort_titles, any_type, loop_segmented_sort, "std::sort on one thread"},
         {"reduce_by_key", run_sum_titles, any_type, sum_runs<Loop>, "a loop on one thread"},
         {"segmented_scan", segmented_scan_titles, any_type, loop_segmented_scan, "a loop on one thread"},
         {"scan_by_key", run_scan_titles, any_type, loop_scan_by_key, "a loop on one thread"}});
    append(list, {"tbb", tbb, "tbb"},
           {{"map", map_titles, any_type, tbb_map, "tbb::parallel_for"},
            {"add", {"sum"}, any_type, tbb_add, "tbb::parallel_for"},
            {"reduce", reduce_titles, any_type, tbb_reduce, "tbb::parallel_reduce"},
            {"segmented_reduce", segmented_sum_titles, any_type, tbb_segmented_reduce, "tbb::parallel_for"},
            {"segmented_sort", segmented_sort_titles, any_type, tbb_segmented_sort,
             "tbb::parallel_for and std::sort"},
            {"reduce_by_key", run_sum_titles, any_type, sum_runs<Tasks>, "tbb::parallel_for"},
            {"segmented_scan", segmented_scan_titles, any_type, tbb_segmented_scan, "tbb::parallel_for"},
            {"unique", run_titles, any_type, tbb_unique, "tbb::parallel_for"},
            {"run_length_encode", run_titles, any_type, encode_runs<Tasks>, "tbb::parallel_for"},
            {"scan", scan_titles, any_type, tbb_scan, "tbb::parallel_scan"},
            {"histogram", histogram_titles, histogram_types, tbb_histogram,
             "tbb::parallel_for with tbb::combinable"},
            {"transpose", transpose_titles, any_type, tbb_transpose, "tbb::parallel_for"},
            {"convolve", convolve_titles, float_types, tbb_convolve, "tbb::parallel_for"}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::host)
