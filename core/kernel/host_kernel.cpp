#include <concord/detail/host_vector.hpp>
#include <concord/error.hpp>
#include <concord/host_kernel.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <thread>

namespace concord {
namespace {

#if defined(__x86_64__)
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}
#else
bool has_avx2() {
    return false;
}
bool has_avx512() {
    return false;
}
#endif

struct InstructionSet {
    HostIsa isa;
    std::string_view name, title;
    bool (*is_available)();
};
constexpr InstructionSet instruction_sets[] = {
    {.isa = HostIsa::baseline, .name = "baseline", .title = "baseline", .is_available = [] { return true; }},
    {.isa = HostIsa::avx2, .name = "avx2", .title = "AVX2", .is_available = has_avx2},
    {.isa = HostIsa::avx512, .name = "avx512", .title = "AVX-512", .is_available = has_avx512}};
static_assert(std::ranges::equal(instruction_sets, all_host_isas, {}, &InstructionSet::isa));

const InstructionSet& row_of(HostIsa isa) {
    return instruction_sets[static_cast<std::size_t>(isa)];
}

HostIsa best_isa() {
    HostIsa best = HostIsa::baseline;
    for (const HostIsa isa : all_host_isas) {
        if (!row_of(isa).is_available()) break;
        best = isa;
    }
    return best;
}

}  // namespace

void detail::host::yield(const Group& group) {
    if (group.launch->cancelled.load(std::memory_order_relaxed)) throw Cancelled{};
    std::this_thread::yield();
}

std::string_view name_of(HostIsa isa) {
    return row_of(isa).name;
}

std::string_view title_of(HostIsa isa) {
    return row_of(isa).title;
}

std::string detail::host_isa_names(std::string_view prefix) {
    std::string names;
    for (const HostIsa isa : all_host_isas) {
        if (isa != all_host_isas[0]) names += isa == std::end(all_host_isas)[-1] ? " or " : ", ";
        names.append(prefix).append(name_of(isa));
    }
    return names;
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
        for (const HostIsa isa : all_host_isas) {
            if (name == name_of(isa)) return std::min(isa, most);
        }
        detail::log_warn("CONCORD_HOST_ISA: " +
                         detail::error_message("unknown instruction set", detail::quoted(name),
                                               "expected " + detail::host_isa_names("")));
        return most;
    }();
    return chosen;
}

}  // namespace concord
