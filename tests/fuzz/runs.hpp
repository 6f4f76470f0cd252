#pragma once
// What the calls of the fuzzer api on runs of equal neighbours share.

#include "api.hpp"

#include <utility>

namespace concord::fuzz {

// Calls f(run, first position, position behind it) for the runs of the keys before the call, in order. Returns how many
// there are.
template <class F>
u64 for_each_run(const Bytes& bytes, const View& keys, const F& f) {
    u64 runs = 0, first = 0;
    with_type(keys.type, [&]<class K>(K) {
        for (u64 i = 1; i <= keys.count; ++i) {
            if (i < keys.count) {
                const K a = load<K>(bytes, keys, i - 1), b = load<K>(bytes, keys, i);
                u64 bits[2] = {};
                std::memcpy(&bits[0], &a, sizeof a);
                std::memcpy(&bits[1], &b, sizeof b);
                if (bits[0] == bits[1] && a == b) continue;
            }
            f(runs++, first, i);
            first = i;
        }
    });
    return runs;
}

// Copies elements over their neighbours, so that there are longer runs.
inline void lengthen_runs(Machine& machine, Choices& choices, const View& keys) {
    with_type(keys.type, [&]<class K>(K) {
        for (u64 i = 1; i < keys.count; ++i) {
            if (choices.one_in(2)) machine.put(keys, i, load<K>(machine.before(), keys, i - 1));
        }
    });
}

}  // namespace concord::fuzz
