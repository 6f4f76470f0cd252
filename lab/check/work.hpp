#pragma once
/// One call of an algorithm, or of a user's kernel, on generated inputs, and how its outputs are verified.
/// Knows no device: checks and measurements run the same work.

#include <concord/lab/input.hpp>

#include <concord/variant.hpp>

#include <functional>
#include <optional>
#include <string>

namespace concord::lab {

/// An element of the output that is not what it should be.
struct Difference {
    u64 index = 0;
    std::string expected, got;
    double ulps = -1;    ///< how many floats lie between them; -1: does not apply
    double ratio = -1;   ///< error / bound; -1: does not apply
    bool alarm = false;  ///< the bound is the alarm's, see ErrorBounds
};

/// What judging found so far.
struct Verdict {
    std::optional<Difference> difference;  ///< the first one
    double ratio = -1;                     ///< the worst error / bound of what was held to a bound
    double alarm = -1;                     ///< the worst error / alarm bound of what was held to one
    bool bits = true;                      ///< everything was held to equal bits
    bool no_bound = false;                 ///< something was held to nothing: no bound is known for it

    void differ(Difference found) {
        if (!difference || found.index < difference->index) difference = std::move(found);
    }
    void merge(Verdict other) {
        if (other.difference) differ(std::move(*other.difference));
        ratio = std::max(ratio, other.ratio);
        alarm = std::max(alarm, other.alarm);
        bits = bits && other.bits;
        no_bound = no_bound || other.no_bound;
    }
};

/// An output of a call.
struct Output {
    Type type = Type::u8;
    u64 count = 0;
    /// How many elements the call writes, from the first on, where that depends on the data; those behind must stay
    /// as they were and are not verified. Nothing: all are written.
    std::function<u64()> written = nullptr;
    /// Of a matrix with gaps: elements of a row, and from one row to the next; those between must stay as they were. 0:
    /// no gaps.
    u64 row = 0, pitch = 0;

    u64 bytes() const { return count * size_of(type); }
};

/// What one call computes. Copies are cheap.
struct Work {
    std::string algorithm;
    std::string title;  ///< the operator or function: "sum", "saxpy"
    u64 n = 0;          ///< the size, as the algorithm counts it
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::vector<u64> shape;  ///< of the first input, where its length does not tell: rows and columns
    u64 traffic = 0;         ///< bytes that must move between device and memory, by the algorithm's own model
    u64 operations = 0;      ///< floating-point or integer operations, by the same; 0: not what bounds it
    bool in_place = true;    ///< whether the first output may be the first input
    /// One more operator for a text that has been checked with another. Where a device emulates_barriers, only the preferred variant
    /// is compiled for it unless all is asked for.
    bool minor = false;

    std::function<Enqueued(Stream&, std::span<const View> in, std::span<const View> out, const Options&)>
        call;
    /// Compares elements [first, ...) of an output that `variant` gave; from several threads at once.
    std::function<void(const Variant& variant, std::size_t output, u64 first, std::span<const std::byte> got,
                       Verdict&)>
        verify;

    Type type() const { return inputs.empty() ? outputs.front().type : inputs.front().type; }
    Pattern pattern() const { return inputs.empty() ? Pattern::random : inputs.front().pattern; }
    u64 bytes() const;  ///< of all inputs and outputs
};

}  // namespace concord::lab
