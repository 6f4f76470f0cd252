// Calls of segmented_reduce, with wrong offsets too.
#include "../segments.hpp"

namespace concord::fuzz {
FUZZ_CALLS(segmented_reduce) {
    const Type type = any_type();
    fill(type);
    const ReduceOp op = any_op(type);
    const View in = range(type, elements(type, 3000));
    const u64 segments = choices_.below(40);
    const View offsets =
                   range(choices_.any(std::array{Type::u32, Type::u64, Type::i32, Type::i64}), segments + 1),
               out = range(type, choices_.one_in(32) ? segments + 1 : segments);
    if (out.count + 1 != offsets.count) outcome_ = Outcome::refused;
    no_overlap(in, out);
    no_overlap(offsets, out);
    const Options asked = options(segmented_reduce_algorithm);
    // Right offsets in half of the calls, else any bits.
    if (outcome_ != Outcome::refused && choices_.one_in(2))
        put_offsets(machine_, choices_, offsets, in.count);
    const bool right = outcome_ == Outcome::refused || are_right(before(), offsets, in.count);
    bool reported = false;
    verify(
        type,
        [&] {
            concord::segmented_reduce(stream(), in, offsets, out, op, asked);
            try {
                stream().synchronize();
            } catch (const Error& error) {
                if (error.code() != ErrorCode::invalid_argument) throw;
                reported = true;
            }
        },
        [&]<class T>(Bytes& to, T) {
            // Without elements or segments the offsets are not read.
            require(reported == (!right && in.count > 0 && segments > 0), "wrong offsets are reported");
            with_type(offsets.type, [&]<class O>(O) {
                for (u64 s = 0; s < segments; ++s) {
                    // With wrong offsets any result is right.
                    const bool any = !right && in.count > 0;
                    T result = any ? machine_.result<T>(out, s) : identity_of<T>(op);
                    const auto begin = static_cast<u64>(load<O>(before(), offsets, s)),
                               end = static_cast<u64>(load<O>(before(), offsets, s + 1));
                    for (u64 i = begin; right && i < end; ++i)
                        result = wrapped(op, result, load<T>(before(), in, i));
                    store(to, out, s, result);
                }
            });
        });
}

}  // namespace concord::fuzz
