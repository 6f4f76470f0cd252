// Calls of reduce.
#include "../api.hpp"

namespace concord::fuzz {
namespace {

class ReduceCall : public Call {
  public:
    using Call::Call;

    void run() {
        const Type type = any_type();
        fill(type);
        const ReduceOp op = any_op(type);
        const View in = range(type, elements(type, 7000)), out = range(type, choices_.one_in(32) ? 2 : 1);
        if (out.count != 1) outcome_ = Outcome::refused;
        no_overlap(in, out);
        const Options asked = options(reduce_algorithm);
        machine_.run(
            outcome_, [&] { concord::reduce(stream(), in, out, op, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    T result = identity_of<T>(op);
                    for (u64 i = 0; i < in.count; ++i)
                        result = wrapped(op, result, load<T>(before(), in, i));
                    store(to, out, 0, result);
                });
            });
    }
};

}  // namespace

void call_reduce(Choices& choices) {
    ReduceCall(choices).run();
}

}  // namespace concord::fuzz
