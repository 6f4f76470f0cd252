// Memory allocations that fail. Every public call runs with its first allocation failing, then its second, and so on,
// and a second time with all allocations from that one on failing. Each run must throw or give the right result. The
// next run on the same stream must give the right result, and no device memory may leak. Child processes run the calls,
// so that one that crashes or hangs does not end the test.
//
//     concord-allocation-failures DEVICE [--every N] [--first-use N] [--case TEXT] [--at N] [--verbose]
//
// --every N: only every N-th allocation. --first-use N: before that, a process of its own for every N-th allocation,
// with those of the search for devices and of the first use of a kernel. --at N: only the N-th allocation.
#include "failing_allocator.hpp"

#include <concord/concord.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>

using namespace concord;

namespace {

CONCORD_FUNCTION(u32, next_of_failing, (u32 x), return x + 1;)
CONCORD_FUNCTION(u32, mix_of_failing, (u32 a, u32 b), return a + b;)
CONCORD_FUNCTION(u32, less_of_failing, (u32 a, u32 b), return a < b;)
CONCORD_FUNCTION(u32, odd_of_failing, (u32 x), return x & 1;)
CONCORD_FUNCTION(u64, bin_of_failing, (u32 x), return x % 100;)

using Bytes = std::vector<std::byte>;

// A program: returns its result. Throws unsupported if the device cannot run it.
struct Case {
    std::string name;
    std::function<Bytes(Stream&)> run;
};

// --- The calls ----------------------------------------------------------------------------------------------------

template <class T>
std::vector<T> values(u64 n) {
    std::vector<T> result(n);
    u64 x = 1;
    for (T& value : result) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        value = static_cast<T>(x >> 44);
    }
    return result;
}

// An array whose contents no result has.
template <class T>
Array<T> poisoned(Stream& stream, u64 n) {
    Array<T> array(stream, n);
    const u8 poison = 0xA5;
    stream.fill(*array.buffer(), 0, n * sizeof(T), &poison, 1);
    return array;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}
template <class T>
Bytes result_of(Stream& stream, const Array<T>& array) {
    return bytes_of(array.to_host(stream));
}

// Programs with an array x of `count` elements, and a poisoned array y, their result: call(stream, x, y, options).
template <class In, class Out = In, class F>
auto output(u64 count, u64 out_count, F call) {
    return [=](Stream& stream, const Options& options = {}) {
        const Array<In> x(stream, values<In>(count));
        const auto y = poisoned<Out>(stream, out_count);
        call(stream, x, y, options);
        return result_of(stream, y);
    };
}

// A program that runs a pipeline whose segments are much shorter than its input.
template <class T, class F>
auto piped(u64 room, F pipeline) {
    return [=](Stream& stream) {
        std::vector<T> out(room, T(77));
        HostSink sink(out);
        const PipelineOptions options{.segment = 8192, .depth = 2};
        pipeline(stream.device(), sink, options);
        return bytes_of(out);
    };
}

std::vector<std::shared_ptr<Device>> twice(Stream& stream) {
    return {stream.device().shared_from_this(), stream.device().shared_from_this()};
}

// A program that runs f on two ranks, and returns what rank 0 returns.
template <class F>
auto on_two_ranks(F f) {
    return [=](Stream& stream) {
        Bytes result;
        run_on_devices(twice(stream), [&](Communicator& ranks, Stream& own) {
            Bytes bytes = f(ranks, own);
            if (ranks.rank() == 0) result = std::move(bytes);
        });
        return result;
    };
}

constexpr u64 n = 40007;

class Cases {
  public:
    Cases() {
        add_memory_and_streams();
        add_elementwise();
        add_reductions();
        add_orderings();
        add_matrices();
        add_pipelines();
        add_ranks();
    }
    std::vector<Case> list;

  private:
    void add(std::string name, std::function<Bytes(Stream&)> run) {
        list.push_back({std::move(name), std::move(run)});
    }
    // One case per variant, and one for `auto`.
    void add_variants(const Algorithm& algorithm, const std::string& what,
                      const std::function<Bytes(Stream&, const Options&)>& run) {
        const std::string name = std::string(algorithm.name) + (what.empty() ? "" : " " + what);
        for (const Variant* variant : algorithm.variants) {
            add(name + " " + std::string(variant->name),
                [=](Stream& stream) { return run(stream, {.variant = std::string(variant->name)}); });
        }
        add(name + " auto", [=](Stream& stream) { return run(stream, {}); });
    }

    void add_memory_and_streams() {
        add("write, copy and read", [](Stream& stream) {
            const Array<u32> x(stream, values<u32>(n));
            const auto y = poisoned<u32>(stream, n);
            stream.copy(*y.buffer(), 0, *x.buffer(), 0, n * 4);
            return result_of(stream, y);
        });
        add("page-locked memory", [](Stream& stream) {
            const auto host = stream.device().allocate_host(n * 4);
            std::memcpy(host->host_pointer(), values<u32>(n).data(), n * 4);
            const auto x = poisoned<u32>(stream, n);
            stream.copy(*x.buffer(), 0, *host, 0, n * 4);
            return result_of(stream, x);
        });
        add("stream", [](Stream& stream) {
            const auto other = stream.device().create_stream(Priority::high);
            const Array<u32> x(*other, values<u32>(n));
            return result_of(*other, x);
        });
        add("events", [](Stream& stream) {
            const auto other = stream.device().create_stream();
            const auto begin = stream.device().create_event(), end = stream.device().create_event();
            stream.record(*begin);
            const Array<u32> x(stream, values<u32>(n));
            add_to(stream, x);
            stream.record(*end);
            other->wait(*end);
            Bytes result = result_of(*other, x);
            if (end->milliseconds_since(*begin) < 0) result.clear();
            return result;
        });
        add("callback", [](Stream& stream) {
            const auto called = std::make_shared<std::vector<u32>>(1, 0);
            const Array<u32> x(stream, values<u32>(n));
            stream.callback([called] { called->front() = 5; });
            add_to(stream, x);
            stream.synchronize();
            return bytes_of(*called);
        });
        add("recording", [](Stream& stream) {
            const Array<u32> x(stream, values<u32>(n));
            const auto y = poisoned<u32>(stream, n), sum = poisoned<u32>(stream, 1);
            stream.begin_recording();
            add_to(stream, x);
            scan(stream, x, y);
            reduce(stream, y, sum);
            stream.copy(*y.buffer(), 0, *x.buffer(), 0, n * 4);
            const u32 mark = 7;
            stream.fill(*y.buffer(), 0, 4, &mark, 4);
            const auto recording = stream.end_recording();
            recording->replay(stream);
            recording->replay(stream);
            Bytes result = result_of(stream, y), last = result_of(stream, sum);
            result.insert(result.end(), last.begin(), last.end());
            return result;
        });
        add("trace", [](Stream& stream) {
            const Array<u32> x(stream, values<u32>(n));
            Trace trace;
            add_to(stream, x);
            trace.finish();
            const std::string text = trace.json();
            return result_of(stream, x);
        });
        add("properties and trim", [](Stream& stream) {
            stream.device().trim();
            (void)stream.device().properties();
            (void)device_selectors("all");
            (void)backends();
            return Bytes{};
        });
    }

    static void add_to(Stream& stream, const Array<u32>& x) { map(stream, x, x, next_of_failing); }

    void add_elementwise() {
        add_variants(map_algorithm, "", output<f32>(n, n, [](auto& stream, auto& x, auto& y, auto& options) {
                         map(stream, x, y, MapFunction::negate, options);
                     }));
        add("map by a user's function", output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                map(stream, x, x, y, mix_of_failing);
            }));
        add("map by a text", output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                map(stream, x.view(), y.view(), operator_from_text("u32 f(u32 x) { return x + 3; }"));
            }));
        add_variants(add_algorithm, "", output<i16>(n, n, [](auto& stream, auto& x, auto& y, auto& options) {
                         concord::add(stream, x, x, y, options);
                     }));
    }

    void add_reductions() {
        add_variants(reduce_algorithm, "",
                     output<f32>(n, 1, [](auto& stream, auto& x, auto& y, auto& options) {
                         reduce(stream, x, y, ReduceOp::sum, options);
                     }));
        add("reduce to a future", [](Stream& stream) {
            const Array<u32> x(stream, values<u32>(n));
            return bytes_of(std::vector{sum(stream, x).get()});
        });
        add("reduce over an axis", output<f32>(n, n / 7, [](auto& stream, auto& x, auto& y, auto&) {
                reduce(stream, NdSpan(x, {n / 7, 7}), y.span().part(0, n / 7), ReduceOp::sum, 1);
            }));
        add("reduce an expression over axes", output<f32>(n, 7, [](auto& stream, auto& x, auto& y, auto&) {
                const NdSpan t(x, {7, n / 7});
                reduce(stream, transform(BinaryFunction::multiply, t, t), y, ReduceOp::sum, 1);
            }));
        add("variance over an axis", output<f32>(n, 7, [](auto& stream, auto& x, auto& y, auto&) {
                variance(stream, NdSpan(x, {n / 7, 7}), y, 0);
            }));
        add("scan over an axis", output<f32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                scan(stream, NdSpan(x, {n / 7, 7}), NdSpan(y, {n / 7, 7}), ReduceOp::sum, 0);
            }));
        add("sort over an axis", output<f32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                sort(stream, NdSpan(x, {n / 7, 7}), NdSpan(y, {n / 7, 7}), 0);
            }));
        add("argmin with elements over an axis", output<f32>(n, 7, [](auto& stream, auto& x, auto& y, auto&) {
                const auto at = poisoned<u64>(stream, 7);
                argmin(stream, NdSpan(x, {n / 7, 7}), at, y, 0);
            }));
        add("all over an axis", output<f32, u8>(n, 7, [](auto& stream, auto& x, auto& y, auto&) {
                const Array<bool> truths = all(stream, NdSpan(x, {n / 7, 7}), 0);
                evaluate(stream, convert<u8>(truths), y);
            }));
        add("sort of pairs over an axis", output<f32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                const Array<u32> v(stream, values<u32>(n));
                const auto w = poisoned<u32>(stream, n);
                const NdExtents extents{7, n / 7};
                sort_pairs(stream, NdSpan(x, extents), NdSpan(v, extents), NdSpan(y, extents),
                           NdSpan(w, extents), 1);
            }));
        add("argsort over an axis", output<f32, u64>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                argsort(stream, NdSpan(x, {n / 7, 7}), NdSpan(y, {n / 7, 7}), 0);
            }));
        add("functions of array views that broadcast",
            output<f32>(n, n / 7 * 7, [](auto& stream, auto& x, auto& y, auto&) {
                const NdSpan t(x, {n / 7, 7});
                const auto row = x.span().part(0, 7);
                evaluate(stream,
                         where(transform(BinaryPredicate::less, t, row),
                               transform(BinaryFunction::subtract, t, row), clip(t, 1.0f, 9.0f)),
                         y);
            }));
        add("reduce by a user's operator", output<u32>(n, 1, [](auto& stream, auto& x, auto& y, auto&) {
                reduce(stream, x, y, mix_of_failing, 0);
            }));
        add_variants(scan_algorithm, "", output<f32>(n, n, [](auto& stream, auto& x, auto& y, auto& options) {
                         scan(stream, x, y, ReduceOp::sum, ScanKind::exclusive, options);
                     }));
        add("scan by a user's operator", output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                scan(stream, x, y, mix_of_failing, 0);
            }));
        add_variants(histogram_algorithm, "",
                     output<f32, u32>(n, 300, [](auto& stream, auto& x, auto& y, auto& options) {
                         histogram(stream, x, y, HistogramBins::even(0, 1 << 20), options);
                     }));
        add_variants(histogram_algorithm, "with many bins",
                     output<u32, u64>(n, 100000, [](auto& stream, auto& x, auto& y, auto& options) {
                         histogram(stream, x, y, HistogramBins::modulo(), options);
                     }));
        add("histogram by exact bins", output<f32, u32>(n, 300, [](auto& stream, auto& x, auto& y, auto&) {
                histogram(stream, x, y, HistogramBins::exact(0.5, 1e6));
            }));
        add("histogram by edges", output<u32, u32>(n, 3, [](auto& stream, auto& x, auto& y, auto&) {
                histogram(stream, x, y, HistogramBins::edges(std::vector<u32>{0, 10, 1000, 100000}));
            }));
        add("histogram by a user's function",
            output<u32, u64>(n, 100, [](auto& stream, auto& x, auto& y, auto&) {
                histogram(stream, x, y, bin_of_failing);
            }));
    }

    void add_orderings() {
        add("compact an expression", output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                const auto count = poisoned<u64>(stream, 1);
                compact(stream, transform(ReduceOp::sum, x, reversed(x)), y, count, KeepRule::even);
            }));
        add("partition by flags", output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                const auto count = poisoned<u64>(stream, 1);
                partition(stream, x, transform(BinaryPredicate::less, x, reversed(x)), y, count);
            }));
        add("scan an expression", output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                scan(stream, transform(ReduceOp::sum, x, reversed(x)), y);
            }));
        add_variants(compact_algorithm, "",
                     output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto& options) {
                         const auto count = poisoned<u64>(stream, 1);
                         compact(stream, x, y, count, KeepRule::even, options);
                     }));
        add_variants(compact_algorithm, "as partition",
                     output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto& options) {
                         const auto count = poisoned<u64>(stream, 1);
                         partition(stream, x, y, count, odd_of_failing, options);
                     }));
        // Sort's variants for little and for much data differ.
        for (const u64 length : {u64{3001}, u64{70001}})
            add_variants(sort_algorithm, std::to_string(length) + " keys",
                         output<u32>(length, length, [](auto& stream, auto& x, auto& y, auto& options) {
                             sort(stream, x, y, {}, options);
                         }));
        add_variants(sort_algorithm, "pairs",
                     output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto& options) {
                         const Array<u32> v(stream, values<u32>(n));
                         const auto w = poisoned<u32>(stream, n);
                         sort_pairs(stream, x, v, y, w, {.order = SortOrder::descending}, options);
                     }));
        add("sort by a user's comparator", output<u32>(n, n, [](auto& stream, auto& x, auto& y, auto&) {
                sort(stream, x, y, less_of_failing);
            }));
    }

    void add_matrices() {
        add_variants(transpose_algorithm, "",
                     output<f32>(150 * 170, 150 * 170, [](auto& stream, auto& x, auto& y, auto& options) {
                         transpose(stream, Matrix(x, 150, 170), Matrix(y, 170, 150), options);
                     }));
        add_variants(matmul_algorithm, "",
                     output<f32>(70 * 50, 70 * 90, [](auto& stream, auto& x, auto& y, auto& options) {
                         const Array<f32> b(stream, values<f32>(50 * 90));
                         matmul(stream, Matrix(x, 70, 50), Matrix(b, 50, 90), Matrix(y, 70, 90), {}, options);
                     }));
        add("matmul with a long k",
            output<f32>(7 * 2200, 7 * 9, [](auto& stream, auto& x, auto& y, auto& options) {
                const Array<f32> b(stream, values<f32>(2200 * 9));
                matmul(stream, Matrix(x, 7, 2200), Matrix(b, 2200, 9), Matrix(y, 7, 9), {}, options);
            }));
        add_variants(convolve_algorithm, "",
                     output<f32>(120 * 130, 120 * 130, [](auto& stream, auto& x, auto& y, auto& options) {
                         convolve(stream, Matrix(x, 120, 130), ConvolveMask(std::vector<f32>(15, 0.5F), 3, 5),
                                  Matrix(y, 120, 130), ConvolveBorder::zero, options);
                     }));
        constexpr u64 points = 30 * 20 * 25;
        add_variants(
            stencil_algorithm, "",
            output<f32>(points, points, [](auto& stream, auto& x, auto& y, auto& options) {
                stencil(stream, Volume(x, 30, 20, 25), {0.5, 0.1, 0.05}, Volume(y, 30, 20, 25), 5, options);
            }));
        add("stencil of a box", output<f32>(points, points, [](auto& stream, auto& x, auto& y, auto&) {
                stencil_box(stream, Volume(x, 30, 20, 25), {0.5, 0.1}, Volume(y, 30, 20, 25),
                            {.z_begin = 3, .z_end = 9, .y_begin = 2, .y_end = 18});
            }));
    }

    void add_pipelines() {
        static const std::vector<u32> input = values<u32>(n);
        add("pipeline map", piped<u32>(n, [](auto& device, auto& sink, auto& options) {
                pipeline_map(device, HostSource(input), sink, next_of_failing, options);
            }));
        add("pipeline reduce", piped<u32>(1, [](auto& device, auto& sink, auto& options) {
                pipeline_reduce(device, HostSource(input), sink, ReduceOp::sum, options);
            }));
        add("pipeline scan", piped<u32>(n, [](auto& device, auto& sink, auto& options) {
                pipeline_scan(device, HostSource(input), sink, ReduceOp::sum, ScanKind::inclusive, options);
            }));
        add("pipeline histogram", piped<u64>(64, [](auto& device, auto& sink, auto& options) {
                pipeline_histogram(device, HostSource(input), sink, HistogramBins::modulo(), options);
            }));
        add("pipeline compact", piped<u32>(n, [](auto& device, auto& sink, auto& options) {
                pipeline_compact(device, HostSource(input), sink, KeepRule::even, options);
            }));
        add("pipeline map on two devices", piped<u32>(n, [](auto& device, auto& sink, auto& options) {
                if (device.info().backend == "tbb")
                    throw Error(ErrorCode::unsupported, "test", "a device cannot be listed twice");
                pipeline_map({device, *open_device("tbb")}, HostSource(input), sink, next_of_failing,
                             options);
            }));
    }

    void add_ranks() {
        static const std::vector<u32> input = values<u32>(n);
        static const std::vector<f32> floats = values<f32>(n);
        auto part_on = [](Stream& stream, Communicator& ranks, const auto& all) {
            using T = std::decay_t<decltype(all[0])>;
            const Part part = part_of(n, ranks);
            return Array<T>(stream, std::span(all).subspan(part.first, part.count));
        };
        add("ranks: reduce", on_two_ranks([=](Communicator& ranks, Stream& own) {
                const auto sum = poisoned<f32>(own, 1);
                distributed_reduce(ranks, own, part_on(own, ranks, floats), sum);
                return result_of(own, sum);
            }));
        add("ranks: scan", on_two_ranks([=](Communicator& ranks, Stream& own) {
                const auto x = part_on(own, ranks, floats);
                const auto y = poisoned<f32>(own, x.size());
                distributed_scan(ranks, own, x, y);
                return result_of(own, y);
            }));
        add("ranks: histogram", on_two_ranks([=](Communicator& ranks, Stream& own) {
                const auto counters = poisoned<u32>(own, 64);
                distributed_histogram(ranks, own, part_on(own, ranks, input), counters,
                                      HistogramBins::modulo());
                return result_of(own, counters);
            }));
        add("ranks: sort", on_two_ranks([=](Communicator& ranks, Stream& own) {
                const auto x = part_on(own, ranks, input);
                const auto y = poisoned<u32>(own, x.size());
                distributed_sort(ranks, own, x, y);
                return result_of(own, y);
            }));
        add("ranks: stencil", on_two_ranks([](Communicator& ranks, Stream& own) {
                DistributedStencil stencil(ranks, own, Type::f32, {.depth = 20, .rows = 12, .columns = 9},
                                           {0.5, 0.1});
                const StencilBox box = stencil.holding();
                const u64 count = box.points(9);
                const Array<f32> x(own, std::span(floats).first(count));
                const auto y = poisoned<f32>(own, count);
                stencil.load(x.view());
                stencil.run(3);
                stencil.store(y.view());
                return result_of(own, y);
            }));
    }
};

// --- Runs ---------------------------------------------------------------------------------------------------------

using test::AllocatorFailures;

constexpr u64 for_good = ~u64{0};

u64 checksum(const Bytes& bytes) {  // FNV-1a
    u64 sum = 14695981039346656037U;
    for (const std::byte byte : bytes)
        sum = (sum ^ std::to_integer<u64>(byte)) * 1099511628211U;
    return sum;
}

// What a child process tells its parent, in shared memory.
struct Progress {
    u64 step = 0;  // changes with every run
    u64 case_index = 0;
    AllocatorFailures failures = {};
    bool is_supported = true;
    u64 calls = 0, threw = 0, right = 0;
    u64 result = 0;  // checksum of the result at first use
    char problem[400] = {};
};

struct Settings {
    std::string device;
    u64 every = 1, first_use = 0, at = 0;
    std::string only;
    bool verbose = false;
};

// Why a failed allocation must not lead to that exception; empty if it may.
std::string objection_to(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    if (known == nullptr) return {};  // std::bad_alloc, std::system_error
    for (const ErrorCode code :
         {ErrorCode::invalid_argument, ErrorCode::wrong_device, ErrorCode::unsupported}) {
        if (known->code() == code) return std::string("misleading error: ") + known->what();
    }
    return {};
}

class Run {
  public:
    Run(const Case& tested, Stream& stream, Progress& progress)
        : case_(tested), stream_(stream), progress_(progress) {}

    // The result without failures. Empty, if the device does not support the case.
    std::optional<Bytes> expected() {
        try {
            case_.run(stream_);  // compiles kernels
            test::concord_test_start_failing({});
            Bytes result = case_.run(stream_);
            progress_.calls = test::concord_test_stop_failing();
            return result;
        } catch (const Error& error) {
            test::concord_test_stop_failing();
            if (error.code() != ErrorCode::unsupported) throw;
            return std::nullopt;
        }
    }
    // Runs the case with failures, and once more without. Returns whether an allocation failed.
    bool fail(AllocatorFailures failures, const Bytes& expected) {
        progress_.failures = failures;
        ++progress_.step;
        const u64 in_use = stream_.device().memory_use().in_use;
        Bytes result;
        bool threw = false;
        std::string objection;
        test::concord_test_start_failing(failures);
        try {
            result = case_.run(stream_);
            test::concord_test_stop_failing();
        } catch (const std::exception& error) {
            test::concord_test_stop_failing();
            threw = true;
            objection = objection_to(error);
        }
        const bool failed = test::concord_test_failed_calls() > 0;
        if (threw && !failed) objection = "throws although no allocation failed";
        if (!threw && result != expected) objection = "gives a wrong result without an error";
        if (!objection.empty()) return report(objection), failed;
        ++(threw ? progress_.threw : progress_.right);
        try {
            if (stream_.is_recording()) stream_.end_recording();
            stream_.synchronize();
        } catch (const std::exception&) {  // a failure of the run's queued work
        }
        try {
            if (case_.run(stream_) != expected) report("the next run gives a wrong result");
        } catch (const std::exception& error) {
            report(std::string("the next run throws: ") + error.what());
        }
        if (stream_.device().memory_use().in_use > in_use) report("device memory leaks");
        return failed;
    }

  private:
    void report(const std::string& problem) {
        std::snprintf(progress_.problem, sizeof progress_.problem, "%s", problem.c_str());
        ::_exit(1);
    }

    const Case& case_;
    Stream& stream_;
    Progress& progress_;
};

class Harness {
  public:
    explicit Harness(Settings settings) : settings_(std::move(settings)) {
        void* shared =
            ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        progress_ = new (shared) Progress;
    }

    int run() {
        for (u64 i = 0; settings_.first_use > 0 && i < cases_.list.size() && problems_ < max_problems; ++i) {
            if (is_selected(i)) run_first_use(i);
        }
        if (settings_.first_use > 0)
            std::printf("%s: first use: %lu runs with failures, %lu problems\n", settings_.device.c_str(),
                        first_uses_, problems_);
        u64 calls = 0, runs = 0, threw = 0, skipped = 0;
        for (u64 i = 0; i < cases_.list.size() && problems_ < max_problems; ++i) {
            if (!is_selected(i)) continue;
            *progress_ = Progress{.case_index = i};
            for (AllocatorFailures from = {first_tried(i), first_tried(i)}; problems_ < max_problems;
                 from = after(progress_->failures)) {
                if (in_child([&] { run_case(i, from); })) break;
                report(i);
                if (progress_->failures.first == 0) break;  // the case fails without failures
            }
            if (!progress_->is_supported) {
                ++skipped;
                continue;
            }
            if (settings_.verbose)
                std::printf("%-40s %4lu allocations, %5lu runs threw, %5lu gave the result\n",
                            cases_.list[i].name.c_str(), progress_->calls, progress_->threw,
                            progress_->right);
            calls += progress_->calls;
            runs += progress_->threw + progress_->right;
            threw += progress_->threw;
        }
        std::printf(
            "%s: %zu cases (%lu not supported) with %lu allocations: %lu runs with failures, %lu threw, "
            "%lu gave the result, %lu problems\n",
            settings_.device.c_str(), cases_.list.size(), skipped, calls, runs, threw, runs - threw,
            problems_);
        return problems_ == 0 ? 0 : 1;
    }

  private:
    bool is_selected(u64 i) const { return cases_.list[i].name.find(settings_.only) != std::string::npos; }

    // The stride begins elsewhere for each case.
    u64 first_tried(u64 i) const { return settings_.at > 0 ? settings_.at : 1 + 7 * i % settings_.every; }
    // The next failures to try: a single one, then all from one on.
    AllocatorFailures after(AllocatorFailures failures) const {
        const u64 first = failures.first + settings_.every;
        return {first, failures.last == for_good ? for_good : first};
    }

    // In a child process: all failures of a case from those on.
    void run_case(u64 i, AllocatorFailures from) {
        const auto device = open_device(settings_.device);
        const auto stream = device->create_stream();
        Run run(cases_.list[i], *stream, *progress_);
        const auto expected = run.expected();
        progress_->is_supported = expected.has_value();
        if (expected) {
            for (const bool sticky : {from.last == for_good, true}) {
                while (run.fail({from.first, sticky ? for_good : from.first}, *expected) && settings_.at == 0)
                    from.first += settings_.every;
                from.first = first_tried(i);
                if (from.last == for_good) break;
            }
        }
    }

    // A process per allocation of a case, from the search for devices on. The stride begins elsewhere for each case.
    void run_first_use(u64 i) {
        *progress_ = Progress{.case_index = i};
        if (!in_child([&] { run_first_use(i, {}, nullptr); })) return report(i);
        if (!progress_->is_supported) return;
        const u64 calls = progress_->calls, result = progress_->result;
        for (const bool sticky : {false, true}) {
            const u64 begin = settings_.at > 0 ? settings_.at : 1 + 7 * i % settings_.first_use;
            const u64 end = settings_.at > 0 ? settings_.at : calls;
            for (u64 first = begin; first <= end && problems_ < max_problems; first += settings_.first_use) {
                progress_->failures = {first, sticky ? for_good : first};
                if (!in_child([&] { run_first_use(i, progress_->failures, &result); })) report(i);
                ++first_uses_;
            }
        }
    }
    // In a child process: the case with failures, and once more without.
    void run_first_use(u64 i, AllocatorFailures failures, const u64* expected) {
        auto run = [&] {
            return checksum(cases_.list[i].run(*open_device(settings_.device)->create_stream()));
        };
        std::optional<u64> result;
        test::concord_test_start_failing(failures);
        try {
            result = run();
            progress_->calls = test::concord_test_stop_failing();
        } catch (const Error& error) {
            test::concord_test_stop_failing();
            progress_->is_supported = expected != nullptr || error.code() != ErrorCode::unsupported;
        } catch (const std::exception&) {
            test::concord_test_stop_failing();
        }
        if (expected == nullptr) {
            progress_->result = result.value_or(0);
            return;
        }
        if (result && *result != *expected) give_up("gives a wrong result without an error");
        try {
            if (run() != *expected) give_up("the next run gives a wrong result");
        } catch (const Error& error) {
            // oneTBB starts once per process; tbb_device.cpp.
            if (std::string_view(error.what()).find("and restart it") == std::string_view::npos) throw;
        }
    }
    [[noreturn]] void give_up(const char* problem) {
        std::snprintf(progress_->problem, sizeof progress_->problem, "first use: %s", problem);
        ::_exit(1);
    }

    // Runs f in a child process. Returns whether it ended well. Ends it if it makes no progress.
    template <class F>
    bool in_child(F&& f) {
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                f();
            } catch (const std::exception& error) {
                std::snprintf(progress_->problem, sizeof progress_->problem, "without failures: %s",
                              error.what());
                ::_exit(1);
            }
            ::_exit(0);
        }
        using Clock = std::chrono::steady_clock;
        auto last = Clock::now();
        u64 seen = progress_->step;
        int status = 0;
        while (::waitpid(child, &status, WNOHANG) == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            const u64 step = reinterpret_cast<volatile u64&>(progress_->step);
            if (step != seen) {
                seen = step;
                last = Clock::now();
            } else if (Clock::now() - last > std::chrono::seconds(60)) {
                ::kill(child, SIGKILL);
                std::snprintf(progress_->problem, sizeof progress_->problem, "hangs");
            }
        }
        if (WIFSIGNALED(status) && progress_->problem[0] == '\0')
            std::snprintf(progress_->problem, sizeof progress_->problem, "signal %d (%s)", WTERMSIG(status),
                          ::strsignal(WTERMSIG(status)));
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

    void report(u64 i) {
        ++problems_;
        std::printf("%s: %s, allocation %lu%s: %s\n", settings_.device.c_str(),
                    i < cases_.list.size() ? cases_.list[i].name.c_str() : "first use",
                    progress_->failures.first,
                    progress_->failures.last == for_good ? " and all later ones" : "", progress_->problem);
        progress_->problem[0] = '\0';
    }

    static constexpr u64 max_problems = 20;
    const Settings settings_;
    const Cases cases_;
    Progress* progress_;
    u64 problems_ = 0, first_uses_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const bool has_value = i + 1 < argc;
        if (word == "--verbose") {
            settings.verbose = true;
        } else if (word == "--every" && has_value) {
            settings.every = std::strtoull(argv[++i], nullptr, 10);
        } else if (word == "--first-use" && has_value) {
            settings.first_use = std::strtoull(argv[++i], nullptr, 10);
        } else if (word == "--at" && has_value) {
            settings.at = std::strtoull(argv[++i], nullptr, 10);
        } else if (word == "--case" && has_value) {
            settings.only = argv[++i];
        } else {
            settings.device = word;
        }
    }
    if (settings.device.empty() || settings.every == 0) {
        std::fprintf(stderr,
                     "usage: concord-allocation-failures DEVICE [--every N] [--first-use N] [--case TEXT] "
                     "[--verbose]\n");
        return 2;
    }
    return Harness(settings).run();
}
