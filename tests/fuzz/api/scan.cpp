// Calls of scan.
#include "../api.hpp"

namespace concord::fuzz {
namespace {

class ScanCall : public Call {
  public:
    using Call::Call;

    void run() {
        const Type type = any_type();
        fill(type);
        const ReduceOp op = any_op(type);
        const ScanKind kind = choices_.one_in(2) ? ScanKind::exclusive : ScanKind::inclusive;
        const View in = range(type, elements(type, 3200)), out = output(in, type, in.count % 65536);
        if (in.count != out.count) outcome_ = Outcome::refused;
        in_place(in, out);
        const Options asked = options(scan_algorithm);
        machine_.run(
            outcome_, [&] { concord::scan(stream(), in, out, op, kind, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    T result = identity_of<T>(op);
                    for (u64 i = 0; i < in.count; ++i) {
                        const T next = wrapped(op, result, load<T>(before(), in, i));
                        store(to, out, i, kind == ScanKind::exclusive ? result : next);
                        result = next;
                    }
                });
            });
    }
};

}  // namespace

void call_scan(Choices& choices) {
    ScanCall(choices).run();
}

}  // namespace concord::fuzz
