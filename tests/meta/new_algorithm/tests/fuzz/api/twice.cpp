// Calls of twice.
#include "../api.hpp"

#include <concord/twice.hpp>

namespace concord::fuzz {
namespace {

class TwiceCall : public Call {
  public:
    using Call::Call;

    void run() {
        const Type type = any_float();
        fill(type);
        const View in = range(type, elements(type, 2400)), out = output(in, type, in.count % 65536);
        if (in.count != out.count) outcome_ = Outcome::refused;
        in_place(in, out);
        const Options asked = options(twice_algorithm);
        machine_.run(
            outcome_, [&] { concord::twice(stream(), in, out, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    for (u64 i = 0; i < in.count; ++i)
                        store(to, out, i, static_cast<T>(2 * load<T>(before(), in, i)));
                });
            });
    }
};

}  // namespace

void call_twice(Choices& choices) {
    TwiceCall(choices).run();
}

}  // namespace concord::fuzz
