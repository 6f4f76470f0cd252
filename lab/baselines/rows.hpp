#pragma once
// Tables of baselines: each library's file ends with a table of rows, and append() registers them. To add an
// algorithm, add a function and a row to the file of each library that implements it.

#include <concord/lab/baseline.hpp>

#include <concord/device.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace concord::baselines {

using lab::Baseline;
using lab::Work;
using Call = std::function<void()>;
using Views = std::span<const View>;

inline const std::vector<Type> any_type(all_types.begin(), all_types.end());
inline const std::vector<Type> float_types = {Type::f32, Type::f64};

// Workloads of transpose without padding. Work::shape is {rows, columns}.
inline const std::vector<std::string_view> transpose_titles = {"square", "oblong",    "rows64", "columns3",
                                                               "rows3",  "columns65", "rows1"};

// Workloads of convolve without padding, with a border of zeros. Work::shape is {rows, columns, mask rows, mask
// columns}. The second input is the mask.
inline const std::vector<std::string_view> convolve_titles = {"5x5", "3x3", "7x7", "15x15"};
// Workloads of matmul without padding, with alpha 1 and beta 0. Work::shape is {m, n, k, whether A is transposed,
// whether B is transposed, batch}.
inline const std::vector<std::string_view> matmul_titles = {
    "square", "square, A and B transposed", "tall", "wide", "deep", "batch"};
inline detail::Support matmul_support(const Device&, const Work& work) {
    if (work.operations > 0) return {};
    return detail::Support::no("the product is empty");
}

// Name of the library's function that a row calls: one for all works, or by the work. In names of BLAS functions, '?'
// stands for the letter of the type.
class CallName {
  public:
    CallName() = default;
    CallName(const char* name) : name_(name) {}
    CallName(const char* (*of)(const Work&)) : of_(of) {}

    std::string operator()(const Work& work) const { return of_ != nullptr ? of_(work) : name_; }

  private:
    const char* name_ = "";
    const char* (*of_)(const Work&) = nullptr;
};

// One algorithm of a library.
struct Row {
    std::string_view algorithm;
    std::vector<std::string_view> titles;  // supported workloads
    std::vector<Type> types;               // supported types of the first input
    Call (*prepare)(Stream&, const Work&, Views in, Views out);
    CallName call;
    detail::Support (*also)(const Device&, const Work&) = nullptr;  // further conditions
    bool blocking = false;                                          // as in Baseline; on the host always
    std::string_view contract = {};                                 // as in Baseline
};
inline constexpr bool enqueues = false, waits = true;  // for Row::blocking

struct Library {
    std::string name;     // "cub"
    std::string version;  // "CUB 3.0.1"
    std::string backend;  // of the devices that it runs on
    u64 most = ~u64{0};   // largest supported n
};

// Number of threads of the CPU baselines: that of the tbb device (CONCORD_THREADS). Throws unavailable if there is no
// tbb device.
inline u32 host_threads() {
    return open_device("tbb")->traits().units;
}

inline detail::Support supports(const Library& library, const Row& row, const Device& device,
                                const Work& work) {
    auto has = [](const auto& list, auto item) {
        return std::find(list.begin(), list.end(), item) != list.end();
    };
    if (work.algorithm != row.algorithm) return detail::Support::no("implements {} only", row.algorithm);
    if (device.info().backend != library.backend)
        return detail::Support::no("runs on {} devices", library.backend);
    if (!device.traits().runs) return detail::Support::no("the device only compiles");
    if (!has(row.titles, work.title))
        return detail::Support::no("does not support the workload '{}'", work.title);
    if (!has(row.types, work.type())) return detail::Support::no("does not support {}", name_of(work.type()));
    if (work.type() == Type::f64 && !device.traits().fp64)
        return detail::Support::no("the device does not support f64");
    // Results for empty input differ between libraries, and some reject it.
    if (work.n == 0) return detail::Support::no("supports one element or more");
    if (work.n > library.most) return detail::Support::no("supports at most {} elements", library.most);
    return row.also != nullptr ? row.also(device, work) : detail::Support{};
}

inline void append(std::vector<Baseline>& list, const Library& library, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        Baseline baseline;
        baseline.algorithm = row.algorithm;
        baseline.name = library.name;
        baseline.library = library.version;
        baseline.backend = library.backend;
        baseline.call = row.call;
        baseline.supports = [library, row](const Device& device, const Work& work) {
            return supports(library, row, device, work);
        };
        baseline.prepare = row.prepare;
        baseline.blocking = row.blocking || library.backend == "tbb";
        baseline.contract = row.contract;
        list.push_back(std::move(baseline));
    }
}

}  // namespace concord::baselines
