// NVTX without its headers: where NVIDIA's tools listen, they name a library in NVTX_INJECTION64_PATH, which is handed
// the addresses of function pointers to fill in. The layout is NVTX 3's (nvtxDetail/nvtxTypes.h of the CUDA toolkit).

#include "operation.hpp"

#include <concord/log.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace concord::detail {
namespace {

using Function = void (*)();
using ExportTable = const void* (*)(u32 id);

constexpr u32 etid_callbacks = 1, etid_version = 3;
constexpr int module_core = 1, module_core2 = 5;
constexpr std::size_t core_range_push = 9, core_range_pop = 11;  // nvtxRangePushA, nvtxRangePop
constexpr std::size_t core_size = 16, core2_size = 16;

// What the tool fills in, and where it finds it. The first and the last entry of a table are null.
Function core[core_size], core2[core2_size];
Function* core_slots[core_size + 1];
Function* core2_slots[core2_size + 1];

struct Callbacks {
    std::size_t size;
    int (*module_table)(int module, Function*** table, unsigned* size);
};
struct Version {
    std::size_t size;
    u32 version;
    u32 reserved;
    void (*set_tool_version)(u32 version);
};

int module_table(int module, Function*** table, unsigned* size) {
    if (module != module_core && module != module_core2) return 0;
    const bool first = module == module_core;
    if (size != nullptr) *size = first ? core_size : core2_size;
    if (table != nullptr) *table = first ? core_slots : core2_slots;
    return 1;
}

const void* export_table(u32 id) {
    static const Callbacks callbacks{sizeof(Callbacks), module_table};
    static const Version version{sizeof(Version), 3, 0, [](u32) {}};
    return id == etid_callbacks ? static_cast<const void*>(&callbacks)
           : id == etid_version ? &version
                                : nullptr;
}

void load_tool() {
    const char* path = std::getenv("NVTX_INJECTION64_PATH");
    if (path == nullptr || *path == '\0') return;
    void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    const auto initialize =
        library == nullptr
            ? nullptr
            : reinterpret_cast<int (*)(ExportTable)>(dlsym(library, "InitializeInjectionNvtx2"));
    if (initialize == nullptr) {
        log::info("NVTX_INJECTION64_PATH names '" + std::string(path) + "', which is no tool that listens");
        return;
    }
    for (std::size_t i = 1; i < core_size; ++i)
        core_slots[i] = &core[i];
    for (std::size_t i = 1; i < core2_size; ++i)
        core2_slots[i] = &core2[i];
    if (initialize(export_table) != 0 && core[core_range_push] != nullptr && core[core_range_pop] != nullptr)
        listeners |= listener_nvtx;
}

}  // namespace

void find_nvtx_tool() {
    static std::once_flag once;
    std::call_once(once, load_tool);
}

NvtxRange::NvtxRange(std::string_view name) {
    if ((listeners & listener_nvtx) == 0) return;
    reinterpret_cast<int (*)(const char*)>(core[core_range_push])(std::string(name).c_str());
}

NvtxRange::~NvtxRange() {
    // A tool that listens does so until the process ends.
    if ((listeners & listener_nvtx) != 0) reinterpret_cast<int (*)()>(core[core_range_pop])();
}

}  // namespace concord::detail
