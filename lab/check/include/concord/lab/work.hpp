#pragma once
/// @file
/// One call of an algorithm, or of a user's kernel, on generated inputs, and how its outputs are verified. Checks and
/// benchmarks run the same work. It does not depend on a device.

#include <concord/lab/input.hpp>

#include <concord/variant.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

namespace concord::lab {

/// Output element that differs from the reference result.
struct Difference {
    u64 index = 0;         ///< element of the output
    std::string expected;  ///< value of the reference, as text
    std::string got;       ///< value of the output, as text
    double ulps = -1;      ///< distance in units in the last place; -1: does not apply
    double ratio = -1;     ///< error / bound; -1: does not apply
    bool alarm = false;    ///< the bound is the alarm bound, see ErrorBounds
};

/// Result of verifying outputs.
struct Verdict {
    std::optional<Difference> difference;  ///< first difference
    double ratio = -1;                     ///< largest error / bound; -1: nothing was compared with a bound
    double alarm = -1;                     ///< largest error / alarm bound; -1: nothing was compared with one
    bool bits = true;                      ///< every element was compared bitwise
    bool no_bound = false;     ///< some elements were not compared, because no error bound is available
    bool statistical = false;  ///< some elements are only within a statistical bound, see statistical_bound()
    u64 differences = 0;       ///< calls of differ(); verification may stop at the first
    bool damage = false;       ///< the call wrote memory that it must not write

    /// Keeps the difference with the lowest index.
    void differ(Difference found) {
        ++differences;
        if (!difference || found.index < difference->index) difference = std::move(found);
    }
    /// Combines two verdicts.
    void merge(Verdict other) {
        if (other.difference) {
            differ(std::move(*other.difference));
            differences += other.differences - 1;
        }
        ratio = (std::max)(ratio, other.ratio);
        alarm = (std::max)(alarm, other.alarm);
        bits = bits && other.bits;
        no_bound = no_bound || other.no_bound;
        statistical = statistical || other.statistical;
        damage = damage || other.damage;
    }
};

/// Output of a call.
struct Output {
    Type type = Type::u8;  ///< element type
    u64 count = 0;         ///< elements
    /// Number of leading elements that the call writes, if it depends on the data. The elements after them must stay
    /// unchanged and are not verified. Null: the call writes all elements.
    std::function<u64()> written = nullptr;
    u64 row = 0;    ///< elements per row of a padded matrix; 0: not padded
    u64 pitch = 0;  ///< elements from one row to the next. Elements between rows must stay unchanged.
    u64 item = 1;   ///< elements that are verified together, such as the members of a struct
    std::optional<Input> initial = {};  ///< the elements before the call; without a value they are poisoned

    /// Size in bytes.
    u64 bytes() const { return count * size_of(type); }
};

/// How two NaNs compare.
enum class NanComparison {
    bitwise,  ///< sign and payload must match
    any       ///< all NaNs are equal
};

/// Work of one call. Cheap to copy.
struct Work {
    std::string algorithm;        ///< name of the algorithm or suite
    std::string title;            ///< operator or function: "sum", "saxpy"
    u64 n = 0;                    ///< problem size, as the algorithm counts it
    std::vector<Input> inputs;    ///< generated inputs
    std::vector<Output> outputs;  ///< expected outputs
    std::vector<u64> shape;  ///< rows and columns of the first input, if its length does not determine them
    u64 traffic = 0;         ///< bytes that must move between device and memory in the algorithm's model
    u64 operations = 0;      ///< arithmetic operations in the algorithm's model; 0: not the bottleneck
    /// Whether an attainable rate bounds the call. A sort moves its elements in several passes, whose number depends on
    /// the variant, so its rate is elements per second.
    bool has_ceiling = true;
    bool product =
        false;  ///< whether the operations are those of a matrix product, which matrix units can do
    bool in_place = true;  ///< whether the first output may be the first input
    /// How the NaNs of two devices' outputs compare. Algorithms give the same NaN on every device, kernels of the
    /// user's own need not.
    NanComparison nans = NanComparison::bitwise;
    /// The work differs only in its operator from other work on the same kernel source. Devices that emulate barriers
    /// compile it for the preferred variant only, unless the user asks for a full check.
    bool minor = false;
    /// The only variant that supports the call, if it is not in the algorithm's descriptor: one of
    /// Suite::more_variants. Null: the call runs with each of Suite::variants.
    const Variant* variant = nullptr;

    /// Enqueues the call.
    std::function<Enqueued(Stream&, std::span<const View> in, std::span<const View> out, const Options&)>
        call;
    /// Compares the output elements [first, ...) of a variant with the reference. Several threads may call it at the
    /// same time.
    std::function<void(const Variant& variant, std::size_t output, u64 first, std::span<const std::byte> got,
                       Verdict&)>
        verify;

    /// Element type of the first input. Without inputs, that of the first output.
    Type type() const { return inputs.empty() ? outputs.front().type : inputs.front().type; }
    /// Pattern of the first input.
    Pattern pattern() const { return inputs.empty() ? Pattern::random : inputs.front().pattern; }
    /// Size of all inputs and outputs.
    u64 bytes() const;
};

}  // namespace concord::lab
