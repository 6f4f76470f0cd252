// Calls of reduce.
#include "../api.hpp"

namespace concord::fuzz {

FUZZ_CALLS(reduce) {
    const Type type = any_type();
    fill(type);
    const ReduceOp op = any_op(type);
    const View in = range(type, elements(type, 7000)), out = range(type, choices_.one_in(32) ? 2 : 1);
    if (out.count != 1) outcome_ = Outcome::refused;
    no_overlap(in, out);
    const Options asked = options(reduce_algorithm);
    verify(
        type, [&] { concord::reduce(stream(), in, out, op, asked); },
        [&]<class T>(Bytes& to, T) {
            T result = identity_of<T>(op);
            for (u64 i = 0; i < in.count; ++i)
                result = wrapped(op, result, load<T>(before(), in, i));
            store(to, out, 0, result);
        });
}

}  // namespace concord::fuzz
