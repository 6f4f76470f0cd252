#pragma once
// The processor that host kernels run on, and the share of it that this process may use.

#include <concord/types.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace concord::detail {

// The chip by the identification that it reports, for example "AuthenticAMD family 25 model 17" (CPUID) or
// "implementer 0x41 part 0xd40" (Arm's MIDR). Model names do not distinguish generations: a Zen 4 and a Zen 5 both say
// "AMD EPYC".
const std::string& processor_key();

// The processors' worth of time that the control groups of this process grant, rounded up. Nothing without a limit.
// The smallest limit on the path from the process's own group to the root counts. `groups`: the content of
// /proc/self/cgroup. `root`: where control groups are mounted.
std::optional<u32> processor_quota(std::string_view groups,
                                   const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace concord::detail
