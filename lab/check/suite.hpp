#pragma once
/// The one list of cases that checks, measurements and tests go through. A new algorithm adds a file
/// suites/NAME.cpp that defines `Suite NAME_suite()`; CMake finds it by the name. A new variant of an algorithm adds
/// nothing: every case runs on every variant of the algorithm's table.

#include <concord/lab/work.hpp>

#include <algorithm>

namespace concord::lab {

/// Where in their buffers the operands lie: offsets in elements.
struct Placement {
    u64 a = 0, b = 0, out = 0;
    bool in_place = false;

    bool aligned() const { return a == 0 && b == 0 && out == 0; }
    bool operator==(const Placement&) const = default;
    std::string name() const;
};

/// Which sizes, patterns and placements the cases go through.
class Plan {
  public:
    enum class Extent {
        compile,  ///< devices that only compile: every kernel, few cases
        normal,
        full  ///< normal, and sizes up to 2^32 + 1
    };
    Plan(Extent extent, u64 seed, std::vector<u64> sizes)
        : extent_(extent), seed_(seed), only_(std::move(sizes)) {}
    /// Only these patterns; empty: all.
    void restrict_to(std::vector<Pattern> patterns) { patterns_ = std::move(patterns); }

    u64 seed() const { return seed_; }
    /// Whether cases are welcome that mostly repeat others, such as the same kernels compiled for another operator.
    bool full() const { return extent_ == Extent::full; }
    /// Whether kernels are only compiled: few cases, chosen so that each kernel is met.
    bool compiles_only() const { return extent_ == Extent::compile; }
    /// Whether cases with that pattern are welcome, and whether it was asked for by name.
    bool allows(Pattern pattern) const { return patterns_.empty() || is_asked_for(pattern); }
    bool is_asked_for(Pattern pattern) const {
        return std::find(patterns_.begin(), patterns_.end(), pattern) != patterns_.end();
    }
    /// How thoroughly a function or operator is to be tried: the first of an algorithm fully, which is past
    /// 2^32 elements where `full` asks for it; the others share its kernels but for the operator.
    enum class Depth { huge, all, some };
    std::vector<u64> sizes(Type type, Depth depth) const;
    /// The sizes that were asked for, else these.
    std::vector<u64> sizes_or(const std::vector<u64>& otherwise) const;

    struct Shape {
        Pattern pattern;
        std::size_t index;  ///< of the pattern in the list
        std::vector<Placement> placements;
    };
    /// The patterns to try at the `index`-th size n, each with some placements, so that over all sizes every
    /// pattern meets every placement; with sizes of the caller's choice, or if `every`, all of them.
    std::vector<Shape> shapes(std::size_t index, u64 n, const std::vector<Pattern>& patterns,
                              bool every = false) const;

  private:
    Extent extent_;
    u64 seed_;
    std::vector<u64> only_;
    std::vector<Pattern> patterns_;
};

/// Takes a piece of work to run at each of the placements.
using CaseSink = std::function<void(const Work&, const std::vector<Placement>&)>;

/// Work that is measured: an operator or a function, and what its data look like.
struct Workload {
    std::string name;  ///< "sum"
    /// Nothing if the workload has no such type.
    std::function<std::optional<Work>(Type type, u64 n, u64 seed)> make;
};

/// Element counts of a quick and of a full run.
struct Sizes {
    std::vector<u64> quick, full;
    const std::vector<u64>& of(bool is_quick) const { return is_quick ? quick : full; }
};

/// Every power 2^first, 2^(first + step) ... up to 2^last.
std::vector<u64> powers_of_two(int first, int last, int step);

/// What `concord tune` measures of an algorithm. A quick run takes the first of the workloads and types.
struct TuningSubject {
    std::vector<std::string> workloads = {};  ///< names; empty: the suite's first
    std::vector<Type> types = {Type::f32};
    std::size_t quick_workloads = 1, quick_types = 1;
    /// Workloads that use the same table rows with other data, which a new row must not slow down. A name that begins with
    /// '_' is appended to the name of the workload that is tuned.
    std::vector<std::string> guards = {};
};

/// The study NAME-steps: the variants of an algorithm, from the textbook's to the library's own.
struct StepsStudy {
    std::string name;  ///< without "-steps"
    std::string question, explanation;
    Sizes sizes;
    enum class Rate { bytes, operations, items } rate = Rate::bytes;
    std::vector<Type> types = {Type::f32};
    std::vector<std::string> workloads = {};  ///< names; empty: the suite's first
    std::vector<std::string> variants = {"all"};
};

/// How an algorithm, or a kernel of the user's own, is put to the test.
struct Suite {
    std::string name;
    std::string summary;
    std::vector<const Variant*> variants;
    /// Hands out every case whose first input is of that type.
    std::function<void(const Plan& plan, Type type, const CaseSink& emit)> cases;
    /// What is measured: the first one unless others are asked for.
    std::vector<Workload> workloads;
    /// Whether variants that are very slow on a device skip large sizes there.
    bool skips_slow_variants = true;

    /// What `concord bench` measures by default; where no algorithm is named, the last of them.
    std::vector<u64> bench_sizes = {1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 26};
    /// Of studies that compare all algorithms.
    Sizes study_sizes = {{1 << 20}, {1 << 26}};
    TuningSubject tuning = {};
    std::optional<StepsStudy> steps = {};
    /// Whether `concord doctor` tries it on every device.
    bool is_trial = false;
};

/// The suites of Concord's own algorithms, in the order of algorithms().
std::vector<Suite> suites();

/// Whether `list` is empty or ["all"], or holds `name`.
bool asked_for(const std::vector<std::string>& list, std::string_view name);

/// The patterns that bring out what element-wise work and reductions may get wrong in a type.
std::vector<Pattern> patterns_of(Type type);

/// Calls make(n, pattern) for the plan's sizes and patterns of a type, and hands the work on.
template <class Make>
void for_plan(const Plan& plan, Type type, Plan::Depth depth, const std::vector<Pattern>& patterns,
              const CaseSink& emit, Make&& make) {
    std::size_t index = 0;
    for (const u64 n : plan.sizes(type, depth)) {
        for (const Plan::Shape& shape : plan.shapes(index++, n, patterns))
            emit(make(n, shape.pattern), shape.placements);
    }
}

}  // namespace concord::lab
