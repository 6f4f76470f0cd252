#pragma once
/// What the baselines' files share: a library's table of rows, and how rows become baselines. A new algorithm
/// is a function and a row in the table at the end of each file whose library has it.

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

/// Work of transpose without gaps, whose Work::shape is {rows, columns}.
inline const std::vector<std::string_view> transpose_titles = {"square", "oblong",    "rows64", "columns3",
                                                               "rows3",  "columns65", "rows1"};

/// Work of convolve without gaps and with a border of zeros, whose Work::shape is {rows, columns, mask rows, mask columns} and
/// whose second input is the mask.
inline const std::vector<std::string_view> convolve_titles = {"5x5", "3x3", "7x7", "15x15"};
/// Work of matmul, whose Work::shape is {m, n, k, whether A is transposed, whether B is, batch}; without gaps, alpha 1, beta 0.
inline const std::vector<std::string_view> matmul_titles = {
    "square", "square, A and B transposed", "tall", "wide", "deep", "batch"};
inline detail::Support matmul_support(const Device&, const Work& work) {
    if (work.operations > 0) return {};
    return detail::Support::no("the product is empty");
}

/// One algorithm of a library.
struct Row {
    std::string_view algorithm;
    std::vector<std::string_view> titles;  ///< of the work that it does
    std::vector<Type> types;               ///< of the first input
    Call (*prepare)(Stream&, const Work&, Views in, Views out);
    bool blocking = false;                                          ///< as in Baseline
    u64 most = ~u64{0};                                             ///< the largest n
    detail::Support (*also)(const Device&, const Work&) = nullptr;  ///< what else it depends on
};

struct Library {
    std::string name;     ///< "cub"
    std::string version;  ///< "CUB 3.0.1"
    std::string backend;  ///< of the devices that it runs on
};

/// How many threads the CPU's baselines take: those of the tbb device (CONCORD_THREADS). Throws unavailable
/// without it.
inline u32 host_threads() {
    return open_device("tbb")->traits().units;
}

template <class List, class Name>
std::string joined(const List& list, Name name) {
    std::string all;
    for (const auto& item : list)
        all += (all.empty() ? "" : ", ") + std::string(name(item));
    return all;
}

inline detail::Support supports(const Library& library, const Row& row, const Device& device,
                                const Work& work) {
    auto has = [](const auto& list, auto item) {
        return std::find(list.begin(), list.end(), item) != list.end();
    };
    if (work.algorithm != row.algorithm) return detail::Support::no("does " + std::string(row.algorithm));
    if (device.info().backend != library.backend)
        return detail::Support::no("runs on " + library.backend + " devices");
    if (!device.traits().runs) return detail::Support::no("the device only compiles");
    if (!has(row.titles, work.title))
        return detail::Support::no("does " + joined(row.titles, [](auto title) { return title; }));
    if (!has(row.types, work.type()))
        return detail::Support::no("takes " + joined(row.types, [](Type type) { return name_of(type); }));
    if (work.type() == Type::f64 && !device.traits().fp64)
        return detail::Support::no("the device has no f64");
    // Identities of empty input differ between libraries, and some refuse it.
    if (work.n == 0) return detail::Support::no("takes one element at least");
    if (work.n > row.most)
        return detail::Support::no("takes " + std::to_string(row.most) + " elements at most");
    return row.also != nullptr ? row.also(device, work) : detail::Support{};
}

inline void append(std::vector<Baseline>& list, const Library& library, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        Baseline baseline;
        baseline.algorithm = row.algorithm;
        baseline.name = library.name;
        baseline.library = library.version;
        baseline.supports = [library, row](const Device& device, const Work& work) {
            return supports(library, row, device, work);
        };
        baseline.prepare = row.prepare;
        baseline.blocking = row.blocking;
        list.push_back(std::move(baseline));
    }
}

}  // namespace concord::baselines
