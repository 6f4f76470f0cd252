#pragma once
/// @file
/// Add: element-wise addition of two ranges. Integers wrap.
///
///     out[i] = a[i] + b[i]           for 0 <= i < n
///
/// Add is a map of two inputs. It has the variants, kernels and contract of map (concord/map.hpp).
/// - Shapes: all ranges have n elements. They may start at any element offset.
/// - Types: any element type, the same for a, b and out.
/// - In place: out may be exactly a or b. Any other overlap is an error.
/// - Memory traffic: two reads and one write per element.
/// - Order: elements are independent, so every variant is canonical. Results are bitwise identical on all devices.
/// - Asynchrony: enqueues on the stream and returns.
/// - Errors: as for map.

#include <concord/map.hpp>

namespace concord {

/// Descriptor of add.
extern const Algorithm add_algorithm;

/// Adds two views.
Enqueued add(Stream& stream, const View& a, const View& b, const View& out, const Options& options = {});

/// Adds two spans or arrays.
template <Range A, Range B, OutputRange Out>
Enqueued add(Stream& stream, const A& a, const B& b, const Out& out, const Options& options = {}) {
    static_assert(detail::same_elements<A, B, Out>, "add: a, b and out must have the same element type");
    return add(stream, View(a.view()), View(b.view()), View(out.view()), options);
}

/// Adds spans or arrays and returns the sums as a new array.
template <Range A, Range B>
[[nodiscard("the results are in a new array")]] auto add(Stream& stream, const A& a, const B& b,
                                                         const Options& options = {}) {
    Array<std::remove_const_t<typename A::Element>> out(stream, View(a.view()).count);
    add(stream, a, b, out, options);
    return out;
}

}  // namespace concord
