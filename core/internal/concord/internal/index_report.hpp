#pragma once
// Indices that kernels find out of range. Stream::synchronize() reports the first one.
//
// A kernel that reads indices takes a word for each of them. It replaces an index that is out of range, and calls
// report_index(word, position): prelude.cu, prelude.cl, and for the CPU detail/index_word.hpp. The word keeps the least
// position.

#include <concord/detail/index_word.hpp>
#include <concord/stream.hpp>

#include <cstddef>
#include <span>

namespace concord::detail {

// What a word is about.
struct IndexCheck {
    const char* call;      // a literal: "gather"
    const char* what;      // likewise: "index"
    u64 bound;             // indices in [0, bound) are in range
    bool ascends = false;  // whether each must be at least the one before it
    bool single = false;   // one number of elements, not a list
};

// The word of a launch at this place among its arguments, which launch_reporting() sets: a buffer of one u32.
struct IndexWord {
    std::size_t argument;
    IndexCheck check;
};

// Stream::launch() with words. The next synchronize() of the stream throws invalid_argument if kernels reported
// positions in them, and names the least position of the first such launch. A recording has words of its own, which
// synchronize() reads after a replay. While the owner of a native stream captures it, nothing is reported. The words of
// a stream that is destroyed are not read.
void launch_reporting(Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                      std::span<KernelArgument> arguments, std::span<const IndexWord> words);

}  // namespace concord::detail
