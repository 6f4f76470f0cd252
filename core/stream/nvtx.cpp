// NVTX ranges with NVIDIA's header-only library, which loads the tool in NVTX_INJECTION64_PATH.

#include "stream/operation.hpp"

#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/once.hpp>
#include <concord/log.hpp>

#include <nvtx3/nvToolsExt.h>

namespace concord {

bool has_nvtx() noexcept {
    return true;
}

namespace detail {
namespace {

nvtxDomainHandle_t domain;  // null without a tool

}  // namespace

void find_nvtx_tool() {
    static Once once;
    once.call([] {
        if (is_privileged()) return;  // the header loads the library that the variable names
        domain = nvtxDomainCreateA("concord");
        if (domain != nullptr) {
            listeners |= listener_nvtx;
        } else if (const std::string_view path = environment_variable("NVTX_INJECTION64_PATH");
                   !path.empty()) {
            log_info("NVTX_INJECTION64_PATH: " + error_message("not an NVTX tool", quoted(path)));
        }
    });
}

NvtxRange::NvtxRange(std::string_view name) {
    if ((listeners & listener_nvtx) == 0) return;
    const std::string text(name);
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text.c_str();
    nvtxDomainRangePushEx(domain, &event);
}

NvtxRange::~NvtxRange() {
    // A tool listens until the process ends.
    if ((listeners & listener_nvtx) != 0) nvtxDomainRangePop(domain);
}

}  // namespace detail
}  // namespace concord
