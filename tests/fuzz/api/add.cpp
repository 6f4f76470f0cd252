// Calls of add.
#include "../api.hpp"

namespace concord::fuzz {
namespace {

class AddCall : public Call {
  public:
    using Call::Call;

    void run() {
        const Type type = any_type();
        fill(type);
        const View a = range(type, elements(type, 1000)), b = output(a, type, a.count % 65536),
                   out = output(b, type, a.count % 65536);
        if (a.count != out.count || b.count != out.count) outcome_ = Outcome::refused;
        in_place(a, out);
        in_place(b, out);
        const Options asked = options(add_algorithm);
        machine_.run(
            outcome_, [&] { concord::add(stream(), a, b, out, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    for (u64 i = 0; i < a.count; ++i)
                        store(to, out, i,
                              wrapped(ReduceOp::sum, load<T>(before(), a, i), load<T>(before(), b, i)));
                });
            });
    }
};

}  // namespace

void call_add(Choices& choices) {
    AddCall(choices).run();
}

}  // namespace concord::fuzz
