// An NVTX tool: prints the names of the ranges in the domain "concord" to the file LISTENER_FILE.
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::FILE* file;
int depth;

nvtxDomainHandle_t create(const char* name) {
    // A handle is opaque to the program.
    return std::strcmp(name, "concord") == 0 ? reinterpret_cast<nvtxDomainHandle_t>(&depth) : nullptr;
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    if (domain != reinterpret_cast<nvtxDomainHandle_t>(&depth)) return -1;
    std::fprintf(file, "%s\n", event->message.ascii);
    std::fflush(file);
    return depth++;
}

int pop(nvtxDomainHandle_t) {
    return --depth;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t tables) {
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable slots = nullptr;
    unsigned count = 0;
    const char* path = std::getenv("LISTENER_FILE");
    if (callbacks == nullptr || path == nullptr ||
        callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &slots, &count) != 1 ||
        count < NVTX_CBID_CORE2_SIZE)
        return 0;
    file = std::fopen(path, "w");
    if (file == nullptr) return 0;
    *slots[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create);
    *slots[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
    *slots[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
    return 1;
}
