#pragma once
// What the calls of the fuzzer api on segments share.

#include "api.hpp"

namespace concord::fuzz {

// Whether the offsets are those of segments of `count` elements.
inline bool are_right(const Bytes& bytes, const View& offsets, u64 count) {
    bool right = true;
    with_type(offsets.type, [&]<class O>(O) {
        u64 before = 0;
        for (u64 s = 0; s < offsets.count; ++s) {
            const auto offset = static_cast<u64>(load<O>(bytes, offsets, s));
            right = right && offset >= before && offset <= count;
            before = offset;
        }
    });
    return right;
}

// Right offsets of segments of `count` elements.
inline void put_offsets(Machine& machine, Choices& choices, const View& offsets, u64 count) {
    with_type(offsets.type, [&]<class O>(O) {
        u64 offset = choices.below(count + 1);
        for (u64 s = 0; s < offsets.count; ++s) {
            machine.put(offsets, s, static_cast<O>(offset));
            offset += choices.one_in(3) ? 0 : choices.below(count - offset + 1);
        }
    });
}

}  // namespace concord::fuzz
