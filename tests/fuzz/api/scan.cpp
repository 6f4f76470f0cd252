// Calls of scan.
#include "../api.hpp"

namespace concord::fuzz {

FUZZ_CALLS(scan) {
    const Type type = any_type();
    fill(type);
    const ReduceOp op = any_op(type);
    const ScanKind kind = choices_.one_in(2) ? ScanKind::exclusive : ScanKind::inclusive;
    const View in = range(type, elements(type, 3200)), out = output(in, type, in.count % 65536);
    if (in.count != out.count) outcome_ = Outcome::refused;
    in_place(in, out);
    const Options asked = options(scan_algorithm);
    verify(
        type, [&] { concord::scan(stream(), in, out, op, kind, asked); },
        [&]<class T>(Bytes& to, T) {
            T result = identity_of<T>(op);
            for (u64 i = 0; i < in.count; ++i) {
                const T next = wrapped(op, result, load<T>(before(), in, i));
                store(to, out, i, kind == ScanKind::exclusive ? result : next);
                result = next;
            }
        });
}

}  // namespace concord::fuzz
