// speed DEVICE [--only CALL] [--plant | --compile]: compares the speed of Concord's public calls with that of plain
// loops and functions of the standard library, in one run, to notice a call that has become much slower.
//
// A ratio is the CPU time of the peer / that of Concord, the median of alternating pairs. Devices have one thread
// (CONCORD_THREADS, POCL_MAX_PTHREAD_COUNT). So the ratio depends little on other load. It compares kernels, not how
// work is shared among threads. A call fails if its ratio is below half of the normal one, twice. --plant measures each
// algorithm's textbook variant instead, which must fail. --compile makes each call once, so that later runs find
// compiled kernels.
//
// Ends with 0 if every call is fast enough, 1 if one is not, 2 if none was measured, 3 if the device is not available.

#include <concord/concord.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>

using namespace concord;

// Compiled for the instruction sets for which Concord's kernels are.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MULTI_VERSIONED [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), gnu::noinline]]
#else
#define MULTI_VERSIONED [[gnu::noinline]]
#endif

CONCORD_KERNEL(relaxed, (u64 i, f32* out, const f32* in, f32 weight, u64 n),
               const f32 left = in[i > 0 ? i - 1 : i];
               const f32 right = in[i + 1 < n ? i + 1 : i];
               out[i] = in[i] + weight * (left - 2.0f * in[i] + right);)

namespace {

// --- Peers ----------------------------------------------------------------------------------------------------------

MULTI_VERSIONED void add_loop(const f32* __restrict a, const f32* __restrict b, f32* __restrict out, u64 n) {
    for (u64 i = 0; i < n; ++i)
        out[i] = a[i] + b[i];
}

MULTI_VERSIONED f32 sum_loop(const f32* __restrict in, u64 n) {
    constexpr u64 width = 64;
    f32 sums[width] = {};
    for (u64 i = 0; i + width <= n; i += width) {
        for (u64 k = 0; k < width; ++k)
            sums[k] += in[i + k];
    }
    f32 sum = 0;
    for (const f32 x : sums)
        sum += x;
    return sum;
}

MULTI_VERSIONED void product_row(const f32* __restrict a, const f32* __restrict b, f32* __restrict c, u64 n) {
    for (u64 j = 0; j < n; ++j)
        c[j] = 0;
    for (u64 k = 0; k < n; ++k) {
        for (u64 j = 0; j < n; ++j)
            c[j] += a[k] * b[k * n + j];
    }
}

MULTI_VERSIONED void convolve_row(const f32* __restrict in, const f32* __restrict mask, f32* __restrict out,
                                  u64 columns) {
    for (u64 x = 2; x + 2 < columns; ++x) {
        f32 t = 0;
        for (u64 j = 0; j < 5; ++j) {
            for (u64 i = 0; i < 5; ++i)
                t += mask[5 * j + i] * in[j * columns + x + i - 2];
        }
        out[x] = t;
    }
}

MULTI_VERSIONED void stencil_row(const f32* __restrict in, f32* __restrict out, u64 columns, u64 plane) {
    for (u64 x = 1; x + 1 < columns; ++x) {
        const f32* p = in + x;
        out[x] = 0.4F * p[0] +
                 0.1F * ((*(p - 1) + p[1]) + (*(p - columns) + p[columns]) + (*(p - plane) + p[plane]));
    }
}

MULTI_VERSIONED void relax_loop(const f32* __restrict in, f32* __restrict out, f32 weight, u64 n) {
    for (u64 i = 1; i + 1 < n; ++i)
        out[i] = in[i] + weight * (in[i - 1] - 2.0F * in[i] + in[i + 1]);
}

void transpose_tiles(const f32* in, f32* out, u64 side) {
    constexpr u64 tile = 16;
    for (u64 y = 0; y < side; y += tile) {
        for (u64 x = 0; x < side; x += tile) {
            for (u64 i = 0; i < tile; ++i) {
                for (u64 k = 0; k < tile; ++k)
                    out[(x + i) * side + y + k] = in[(y + k) * side + x + i];
            }
        }
    }
}

// --- Calls ----------------------------------------------------------------------------------------------------------

// A call of Concord and the same work by other means. `textbook` is the variant that --plant measures.
struct Call {
    const char* name;
    const char* peer;
    double normal_tbb, normal_opencl;  // ratios; the lowest of the CPUs that were measured
    const char* textbook;
    std::function<void(const Options&)> ours;
    std::function<void()> theirs;
};

std::vector<f32> random_floats(u64 n, u32 seed) {
    std::mt19937 random(seed);
    std::vector<f32> values(n);
    for (f32& x : values)
        x = static_cast<f32>(random() >> 8) * 0x1p-23F - 1;
    return values;
}

std::vector<u32> random_words(u64 n) {
    std::mt19937 random(3);
    std::vector<u32> values(n);
    std::generate(values.begin(), values.end(), random);
    return values;
}

constexpr u64 n = u64{1} << 20, side = 1024, sorted = u64{1} << 17, factor = 512, cube = 96;

// Operands on the host and on the device.
struct Data {
    explicit Data(Stream& stream)
        : a(stream, x),
          b(stream, y),
          out(stream, n),
          words(stream, w),
          words_out(stream, n),
          count(stream, 1),
          bins(stream, 256) {}

    std::vector<f32> x = random_floats(n, 1), y = random_floats(n, 2), z = std::vector<f32>(n);
    std::vector<u32> w = random_words(n), v = std::vector<u32>(n);
    std::vector<f32> mask = random_floats(25, 3);
    std::vector<u64> counters = std::vector<u64>(256);
    f32 sum = 0;
    Array<f32> a, b, out;
    Array<u32> words, words_out;
    Array<u64> count, bins;
};

std::vector<Call> calls_on(Stream& s, Data& d) {
    const f32 *x = d.x.data(), *y = d.y.data();
    const u32* w = d.w.data();
    f32* z = d.z.data();
    u32* v = d.v.data();
    const auto scan_loop = [=] {
        u32 sum = 0;
        for (u64 i = 0; i < n; ++i)
            v[i] = sum += w[i];
    };
    return {
        {"copy f32", "memcpy", 1, 0.6, "serial",
         [&](const Options& o) { map(s, d.a, d.out, MapFunction::copy, o); },
         [=] { std::memcpy(z, x, n * sizeof *x); }},
        {"add f32", "plain loop", 1.1, 0.6, "serial", [&](const Options& o) { add(s, d.a, d.b, d.out, o); },
         [=] { add_loop(x, y, z, n); }},
        {"reduce sum f32", "plain loop", 0.75, 0.2, "serial",
         [&](const Options& o) { reduce(s, d.a, d.out.span().part(0, 1), ReduceOp::sum, o); },
         [=, sum = &d.sum] { *sum = sum_loop(x, n); }},
        {"scan sum u32", "plain loop", 0.72, 0.64, "serial",
         [&](const Options& o) { scan(s, d.words, d.words_out, ReduceOp::sum, ScanKind::inclusive, o); },
         scan_loop},
        {"histogram 256 u32", "plain loop", 0.8, 0.54, "serial",
         [&](const Options& o) { histogram(s, d.words, d.bins, HistogramBins::modulo(), o); },
         [=, c = d.counters.data()] {
             std::fill_n(c, 256, 0);
             for (u64 i = 0; i < n; ++i)
                 ++c[w[i] % 256];
         }},
        {"compact half f32", "std::copy_if", 2.7, 3, "serial",
         [&](const Options& o) { compact(s, d.a, d.out, d.count, Keep::less(0.0F), o); },
         [=] { std::copy_if(x, x + n, z, [](f32 value) { return value < 0; }); }},
        {"sort u32", "std::sort", 4.5, 2.1, "std_sort",
         [&](const Options& o) {
             sort(s, d.words.span().part(0, sorted), d.words_out.span().part(0, sorted), {}, o);
         },
         [=] {
             std::memcpy(v, w, sorted * sizeof *v);
             std::sort(v, v + sorted);
         }},
        {"transpose f32", "plain loops", 1.6, 1.6, "serial",
         [&](const Options& o) { transpose(s, Matrix(d.a, side, side), Matrix(d.out, side, side), o); },
         [=] { transpose_tiles(x, z, side); }},
        {"matmul f32", "plain loops", 3.1, 1.65, "serial",
         [&](const Options& o) {
             matmul(s, Matrix(d.a, factor, factor), Matrix(d.b, factor, factor),
                    Matrix(d.out, factor, factor), {}, o);
         },
         [=] {
             for (u64 i = 0; i < factor; ++i)
                 product_row(x + i * factor, y, z + i * factor, factor);
         }},
        {"convolve 5x5 f32", "plain loops", 1.2, 0.48, "serial",
         [&](const Options& o) {
             convolve(s, Matrix(d.a, side, side), ConvolveMask(d.mask, 5, 5), Matrix(d.out, side, side),
                      ConvolveBorder::zero, o);
         },
         [=, mask = d.mask.data()] {
             for (u64 r = 2; r + 2 < side; ++r)
                 convolve_row(x + (r - 2) * side, mask, z + r * side, side);
         }},
        {"stencil f32", "plain loops", 0.82, 0.6, "serial",
         [&](const Options& o) {
             stencil(s, Volume(d.a, cube, cube, cube), {0.4, 0.1}, Volume(d.out, cube, cube, cube), 1, o);
         },
         [=] {
             for (u64 row = cube; row < cube * (cube - 1); ++row)
                 stencil_row(x + row * cube, z + row * cube, cube, cube * cube);
         }},
        {"index kernel f32", "plain loop", 0.24, 0.16, nullptr,
         [&](const Options&) { relaxed(s, n, d.out, d.a, 0.1F, n); }, [=] { relax_loop(x, z, 0.1F, n); }}};
}

// --- Measurement ----------------------------------------------------------------------------------------------------

// CPU seconds of all threads.
double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& f, u64 count) {
    const double start = cpu_seconds();
    for (u64 k = 0; k < count; ++k)
        f();
    return (cpu_seconds() - start) / static_cast<double>(count);
}

struct Ratio {
    double median, low, high;
    double ours;  // seconds of the fastest measurement of Concord
};

// Batches of calls of at least two milliseconds, in alternating order.
Ratio compared(const std::function<void()>& ours, const std::function<void()>& theirs) {
    constexpr u64 pairs = 21;
    constexpr double least = 2e-3;
    for (const auto* f : {&ours, &theirs})
        (*f)();
    const auto count_of = [&](const std::function<void()>& f) {
        return static_cast<u64>(std::clamp(least / seconds_of(f, 2), 1.0, 1000.0));
    };
    const u64 our_count = count_of(ours), their_count = count_of(theirs);
    std::vector<double> ratios;
    double fastest = 1e9;
    for (u64 k = 0; k < pairs; ++k) {
        double our_time = 0, their_time = 0;
        for (const bool is_ours : {k % 2 == 0, k % 2 != 0}) {
            if (is_ours)
                our_time = seconds_of(ours, our_count);
            else
                their_time = seconds_of(theirs, their_count);
        }
        ratios.push_back(their_time / our_time);
        fastest = std::min(fastest, our_time);
    }
    std::sort(ratios.begin(), ratios.end());
    return {ratios[pairs / 2], ratios[pairs / 4], ratios[pairs - 1 - pairs / 4], fastest};
}

enum class Mode { measure, plant, compile };

int run(const std::string& selector, const std::string& only, Mode mode) {
    const auto device = open_device(selector);
    const auto stream = device->create_stream();
    Data data(*stream);
    const bool is_tbb = device->info().backend == "tbb";
    std::printf("%s (%s): CPU time of the peer / that of Concord, median and quartiles of 21 pairs\n",
                device->info().selector.c_str(), device->info().name.c_str());
    int slow = 0, measured = 0;
    for (const Call& call : calls_on(*stream, data)) {
        if (!only.empty() && only != call.name) continue;
        if (mode == Mode::plant && call.textbook == nullptr) continue;
        ++measured;
        Options options;
        if (mode == Mode::plant) options.variant = call.textbook;
        const auto ours = [&] {
            call.ours(options);
            stream->synchronize();
        };
        if (mode == Mode::compile) {
            ours();
            continue;
        }
        const double limit = (is_tbb ? call.normal_tbb : call.normal_opencl) / 2;
        Ratio ratio = compared(ours, call.theirs);
        const bool again = ratio.median < limit;
        if (again) ratio = compared(ours, call.theirs);
        const bool is_slow = ratio.median < limit;
        slow += is_slow ? 1 : 0;
        std::printf("%-18s %-13s %8.1f us %7.2fx (%.2f .. %.2f), at least %.2fx%s%s\n", call.name, call.peer,
                    ratio.ours * 1e6, ratio.median, ratio.low, ratio.high, limit, again ? ", second try" : "",
                    is_slow ? "  TOO SLOW" : "");
        std::fflush(stdout);
    }
    if (measured == 0) {
        std::fprintf(stderr, "speed: no call measured, got '%s'\n", only.c_str());
        return 2;
    }
    if (slow > 0) std::printf("%d calls are slower than half of their normal speed\n", slow);
    return slow > 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** words) try {
    std::string selector, only;
    Mode mode = Mode::measure;
    for (int k = 1; k < count; ++k) {
        const std::string word = words[k];
        if (word == "--plant")
            mode = Mode::plant;
        else if (word == "--compile")
            mode = Mode::compile;
        else if (word == "--only" && k + 1 < count)
            only = words[++k];
        else
            selector = word;
    }
    return run(selector, only, mode);
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.code() == ErrorCode::unavailable ? 3 : 4;
}
