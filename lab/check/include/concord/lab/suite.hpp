#pragma once
/// @file
/// Suites: the test cases, measured workloads and studies of one algorithm or kernel. Checks, benchmarks, tuning and
/// studies iterate over the same suites. A new algorithm adds suites/NAME.cpp, which defines `Suite NAME_suite()`, and
/// CMake finds it by its name. A new variant adds nothing, because every case runs on every variant of the algorithm.

#include <concord/lab/work.hpp>

#include <algorithm>
#include <span>

namespace concord::lab {

/// Positions of the operands in their buffers: offsets in elements.
struct Placement {
    u64 a = 0;              ///< offset of the first input, the third, and so on
    u64 b = 0;              ///< offset of the second input, the fourth, and so on
    u64 out = 0;            ///< offset of the outputs
    bool in_place = false;  ///< whether the first output is the first input

    /// Whether all offsets are 0.
    bool aligned() const { return a == 0 && b == 0 && out == 0; }
    /// Compares all members.
    bool operator==(const Placement&) const = default;
    /// "offsets 0, 1, 3 in place".
    std::string name() const;
};

/// Sizes, patterns and placements of the test cases.
class Plan {
  public:
    /// How many cases the plan has.
    enum class Extent {
        compile,  ///< for devices that only compile: few cases, which together use every kernel
        normal,   ///< sizes up to 2^23 + 12345
        full      ///< normal, and sizes up to 2^32 + 1
    };
    /// A plan with these sizes, or with the extent's own sizes if the list is empty.
    Plan(Extent extent, u64 seed, std::vector<u64> sizes)
        : extent_(extent), seed_(seed), only_(std::move(sizes)) {}
    /// Limits the plan to these patterns. Empty: all.
    void restrict_to(std::vector<Pattern> patterns) { patterns_ = std::move(patterns); }

    /// Seed of the generated inputs.
    u64 seed() const { return seed_; }
    /// Whether the plan includes cases that mostly repeat others, such as the same kernels with another operator.
    bool full() const { return extent_ == Extent::full; }
    /// Whether kernels are only compiled.
    bool compiles_only() const { return extent_ == Extent::compile; }
    /// Whether the plan includes the pattern.
    bool allows(Pattern pattern) const { return patterns_.empty() || is_asked_for(pattern); }
    /// Whether the user named the pattern.
    bool is_asked_for(Pattern pattern) const {
        return std::find(patterns_.begin(), patterns_.end(), pattern) != patterns_.end();
    }
    /// How thoroughly a function or operator is tested. Operators of one algorithm share its kernels, so only the first
    /// one needs the largest sizes.
    enum class Depth {
        huge,  ///< all sizes, and sizes past 2^32 in a full plan
        all,   ///< all sizes
        some,  ///< some sizes
        few    ///< up to 16385 elements, unless the plan is full
    };
    /// Element counts for a type.
    std::vector<u64> sizes(Type type, Depth depth) const;
    /// The user's sizes, or `otherwise` if the user gave none.
    std::vector<u64> sizes_or(const std::vector<u64>& otherwise) const;

    /// A pattern and the placements to test it with.
    struct Shape {
        Pattern pattern;                    ///< the pattern
        std::size_t index;                  ///< its position in the list of patterns
        std::vector<Placement> placements;  ///< the placements
    };
    /// Which combinations of pattern and placement a size is tested with.
    enum class Coverage {
        rotating,  ///< some; over all sizes every pattern meets every placement
        every      ///< all up to 2^24 elements
    };
    /// Patterns to test at the `index`-th size n, each with some placements. Sizes or patterns that the user gave are
    /// tested with every combination.
    std::vector<Shape> shapes(std::size_t index, u64 n, const std::vector<Pattern>& patterns,
                              Coverage coverage = Coverage::rotating) const;

  private:
    Extent extent_;
    u64 seed_;
    std::vector<u64> only_;
    std::vector<Pattern> patterns_;
};

/// Receives a test case: work, and the placements to run it with.
using CaseSink = std::function<void(const Work&, const std::vector<Placement>&)>;

/// Work that benchmarks measure: an operator or function on data of one kind.
struct Workload {
    std::string name;  ///< "sum"
    /// Makes the work. Returns nothing if the workload does not support the type.
    std::function<std::optional<Work>(Type type, u64 n, u64 seed)> make;
};

/// Element counts of a quick run and of a full run.
struct Sizes {
    std::vector<u64> quick = {};  ///< with --quick
    std::vector<u64> full = {};   ///< otherwise
    /// The quick sizes or the full ones.
    const std::vector<u64>& of(bool is_quick) const { return is_quick ? quick : full; }
};

/// The powers 2^first, 2^(first + step), ..., up to 2^last.
std::vector<u64> powers_of_two(int first, int last, int step);

/// What `concord tune` measures of an algorithm.
struct TuningSubject {
    std::vector<std::string> workloads = {};  ///< names; empty: the suite's first workload
    std::vector<Type> types = {Type::f32};    ///< element types
    std::size_t quick_workloads = 1;          ///< how many of the workloads a quick run measures
    std::size_t quick_types = 1;              ///< how many of the types a quick run measures
    /// Workloads with other data that use the same table rows. A new row must not slow them down. A name that begins
    /// with '_' is a suffix of the tuned workload's name.
    std::vector<std::string> guards = {};
};

/// Work that represents an algorithm next to peer libraries: what the study `headline` measures.
struct Headline {
    std::vector<std::string> workloads = {};  ///< names; empty: the suite's first workload
    std::vector<Type> types = {Type::f32};    ///< element types
    /// Element counts on devices with many work-items per group.
    Sizes sizes = {powers_of_two(16, 20, 4), {1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28}};
    /// Element counts on CPUs.
    Sizes cpu_sizes = {powers_of_two(10, 16, 6), {1 << 10, 1 << 16, 1 << 20, 1 << 24}};
};

/// The study NAME-steps: the variants of an algorithm, from the textbook kernel to the library's best.
struct StepsStudy {
    std::string name;         ///< without "-steps"
    std::string question;     ///< what the study answers
    std::string explanation;  ///< what the steps are
    Sizes sizes;              ///< element counts
    /// What the rate counts.
    enum class Rate {
        bytes,       ///< bytes per second
        operations,  ///< arithmetic operations per second
        items        ///< elements per second
    };
    Rate rate = Rate::bytes;                      ///< what the rate counts
    std::vector<Type> types = {Type::f32};        ///< element types
    std::vector<std::string> workloads = {};      ///< names; empty: the suite's first workload
    std::vector<std::string> variants = {"all"};  ///< names of variants, or "all"
};

/// A study of all variants over a number that the names of workloads contain, such as the bins of "even256".
struct ParameterStudy {
    /// Workloads that one figure shows.
    struct Group {
        std::string title;                   ///< what the workloads have in common: "random samples"
        std::vector<std::string> workloads;  ///< names
    };
    std::string name;           ///< "histogram-bins"
    std::string title;          ///< heading in the report
    std::string question;       ///< what the study answers
    std::string explanation;    ///< how to read the figures
    std::string parameter;      ///< the number in the names: "bins"
    Sizes sizes;                ///< element counts
    std::vector<Group> groups;  ///< a figure for each
    /// Sizes that only some of the workloads are measured at.
    Sizes more_sizes = {};
    std::vector<std::string> more_sizes_workloads = {};  ///< names
};

/// A variant that refuses all work on some devices, although it is implemented in their language.
struct Refusal {
    std::string_view algorithm = {};                 ///< empty: every algorithm
    std::string_view variant = {};                   ///< empty: every variant
    bool (*applies)(const DeviceTraits&) = nullptr;  ///< whether it refuses on a device with these traits
    std::string_view reason = {};                    ///< part of the message of the refusal
    /// Whether the variant may also run there. Otherwise a passing case means that the entry is wrong.
    bool is_possible_only = false;
};

/// Every refusal of Concord's own variants, with its reason.
std::span<const Refusal> refusals();

/// Test cases, measured workloads and studies of an algorithm or of a user's kernel.
struct Suite {
    std::string name;                      ///< of the algorithm or kernel
    std::string summary;                   ///< what it computes
    std::vector<const Variant*> variants;  ///< its variants
    /// Variants of calls that have their own, such as those over an axis; see Work::variant.
    std::vector<const Variant*> more_variants = {};
    /// Emits every case whose first input has that type.
    std::function<void(const Plan& plan, Type type, const CaseSink& emit)> cases;
    bool supports_storage = false;  ///< whether there are cases and workloads for storage types
    /// Whether every variant must have a passing case on every device in whose language it is implemented, except for
    /// the entries of `refusals`. Checks that are limited to some sizes, patterns or placements, or to types without
    /// f32, do not judge this.
    bool must_run = false;
    std::span<const Refusal> refusals = {};  ///< exceptions of must_run
    /// What benchmarks measure. Default: the first.
    std::vector<Workload> workloads;
    /// Whether variants that are very slow on a device skip large sizes there.
    bool skips_slow_variants = true;

    /// What `concord bench` measures by default. Without a named algorithm it measures the last of these sizes.
    std::vector<u64> bench_sizes = {1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 26};
    /// Sizes in studies that compare all algorithms.
    Sizes study_sizes = {.quick = {1 << 20}, .full = {1 << 26}};
    /// Whether the study `primitives` measures every variant from one element up.
    bool in_primitives_study = false;
    /// Sizes in the study `scaling`. Empty: the study leaves the algorithm out.
    Sizes scaling_sizes = {};
    TuningSubject tuning = {};                 ///< for `concord tune`
    std::vector<Headline> headlines = {{}};    ///< for the study `headline`
    std::optional<StepsStudy> steps = {};      ///< the study of its variants
    std::vector<ParameterStudy> studies = {};  ///< more studies
    /// Whether `concord doctor` runs it on every device.
    bool is_trial = false;
};

/// Suites of Concord's own algorithms, in the order of algorithms().
std::vector<Suite> suites();

/// Whether `list` is empty or {"all"}, or contains `name`.
bool asked_for(const std::vector<std::string>& list, std::string_view name);

/// Patterns that expose errors of elementwise work and reductions in a type.
std::vector<Pattern> patterns_of(Type type);

/// Calls make(n, pattern) for the plan's sizes and patterns of a type, and emits the work.
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
