// Calls of compact.
#include "../api.hpp"

namespace concord::fuzz {
namespace {

class CompactCall : public Call {
  public:
    using Call::Call;

    void run() {
        const Type type = any_type();
        fill();
        const KeepRule rule = choices_.any(all_keep_rules);
        const bool partition = choices_.one_in(2);
        const View in = range(type, elements(type, 3200)),
                   out = output(in, type, in.count % 65536 + choices_.below(2)), count = range(Type::u64, 1);
        if (out.count < in.count || count.count != 1) outcome_ = Outcome::refused;
        if ((rule == KeepRule::even || rule == KeepRule::odd) && is_float(type)) outcome_ = Outcome::refused;
        if (in_place(in, out)) partition ? void(outcome_ = Outcome::refused) : may_fail();
        no_overlap(in, count);
        no_overlap(out, count);
        const Options asked = options(compact_algorithm);
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            const T limit = static_cast<T>(7);
            const Keep keep = detail::has_operand(rule) ? Keep(rule, limit) : Keep(rule);
            machine_.run(
                outcome_,
                [&] {
                    partition ? concord::partition(stream(), in, out, count, keep, asked)
                              : concord::compact(stream(), in, out, count, keep, asked);
                },
                [&](Bytes& to) {
                    u64 kept = 0;
                    for (const bool wanted : {true, false}) {
                        for (u64 i = 0; i < in.count && (wanted || partition); ++i) {
                            const T x = load<T>(before(), in, i);
                            if (keeps(rule, x, limit) == wanted) store(to, out, kept++, x);
                        }
                        if (wanted) store(to, count, 0, kept);
                    }
                });
        });
    }
    template <class T>
    static bool keeps(KeepRule rule, T x, T limit) {
        switch (rule) {
            case KeepRule::nonzero:
                return x != T{};
            case KeepRule::positive:
                return x > T{};
            case KeepRule::greater:
                return x > limit;
            case KeepRule::less:
                return x < limit;
            default:
                if constexpr (std::is_integral_v<T>) return (x % 2 == 0) == (rule == KeepRule::even);
                return false;
        }
    }
};

}  // namespace

void call_compact(Choices& choices) {
    CompactCall(choices).run();
}

}  // namespace concord::fuzz
