// Calls of scan_by_key.
#include "../runs.hpp"

namespace concord::fuzz {

FUZZ_CALLS(scan_by_key) {
    const Type type = any_type(), key_type = any_type();
    fill(type);
    const ReduceOp op = any_op(type);
    const ScanKind kind = choices_.one_in(2) ? ScanKind::exclusive : ScanKind::inclusive;
    const u64 n = choices_.below(180);
    const View keys = range(key_type, n), values = range(type, choices_.one_in(32) ? n + 1 : n),
               out = output(values, type, n);
    if (values.count != keys.count || out.count != keys.count) outcome_ = Outcome::refused;
    in_place(values, out);
    no_overlap(keys, out);
    const Options asked = options(scan_by_key_algorithm);
    // Copies of values are small whole numbers as well.
    if (outcome_ != Outcome::refused && (key_type == type || !overlap(keys, values)))
        lengthen_runs(machine_, choices_, keys);
    verify(
        type, [&] { concord::scan_by_key(stream(), keys, values, out, op, kind, asked); },
        [&]<class T>(Bytes& to, T) {
            for_each_run(before(), keys, [&](u64, u64 first, u64 end) {
                T result = identity_of<T>(op);
                for (u64 i = first; i < end; ++i) {
                    const T next = wrapped(op, result, load<T>(before(), values, i));
                    store(to, out, i, kind == ScanKind::exclusive ? result : next);
                    result = next;
                }
            });
        });
}

}  // namespace concord::fuzz
