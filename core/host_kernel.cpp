#include <concord/detail/host_vector.hpp>
#include <concord/error.hpp>
#include <concord/host_kernel.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <string>
#include <thread>

namespace concord {
namespace {

HostIsa best_isa() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return HostIsa::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return HostIsa::avx2;
#endif
    return HostIsa::baseline;
}

}  // namespace

void detail::host::yield(const Group& group) {
    if (group.launch->cancelled.load(std::memory_order_relaxed)) throw Cancelled{};
    std::this_thread::yield();
}

std::string_view name_of(HostIsa isa) {
    return isa == HostIsa::avx512 ? "avx512" : isa == HostIsa::avx2 ? "avx2" : "baseline";
}

HostIsa machine_isa() {
    static const HostIsa best = best_isa();
    return best;
}

HostIsa host_isa() {
    static const HostIsa chosen = [] {
        const HostIsa most = machine_isa();
        const std::string_view name = detail::environment_variable("CONCORD_HOST_ISA");
        if (name.empty()) return most;
        HostIsa isa = most;
        if (name == "baseline") {
            isa = HostIsa::baseline;
        } else if (name == "avx2") {
            isa = HostIsa::avx2;
        } else if (name != "avx512") {
            detail::log_warn("CONCORD_HOST_ISA: " +
                             detail::error_message("unknown instruction set", detail::quoted(name),
                                                   "expected baseline, avx2 or avx512"));
        }
        return isa < most ? isa : most;
    }();
    return chosen;
}

}  // namespace concord
