#include "cuda_driver.hpp"

#include <concord/internal/environment.hpp>

#include <filesystem>
#include <fstream>

namespace concord::cuda {
namespace {

// The loader's search comes first, then the paths that containers and WSL use without configuring the loader.
constexpr const char* names[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
                                 "/usr/local/nvidia/lib64/libcuda.so.1"};

// Explanations for common failures of cuInit.
std::string advice(CUresult result) {
    switch (result) {
        case CUDA_ERROR_NO_DEVICE: {
            const std::string_view visible = detail::environment_variable("CUDA_VISIBLE_DEVICES");
            std::string text = "the NVIDIA driver is installed, but it finds no GPU";
            if (!visible.empty())
                text += "; check CUDA_VISIBLE_DEVICES, which is '" + std::string(visible) + "'";
            return text;
        }
        case CUDA_ERROR_STUB_LIBRARY:
            return "this libcuda.so.1 is the CUDA toolkit's link library, not a driver; install the NVIDIA "
                   "driver";
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
            return "libcuda.so.1 and the kernel module have different versions; restart after an update";
        case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
            return "this libcuda.so.1 belongs to a compatibility package that the device does not support";
        case CUDA_ERROR_SYSTEM_NOT_READY:
            return "a service that the device needs is not running; start nvidia-fabricmanager";
        case CUDA_ERROR_UNKNOWN:
        case CUDA_ERROR_OPERATING_SYSTEM:
            return "the NVIDIA driver does not start; check that the kernel modules are loaded and that "
                   "/dev/nvidia* "
                   "is accessible";
        default:
            return "the NVIDIA driver does not start";
    }
}

// After these errors, every call of this process fails with the same error.
bool is_final(CUresult result) {
    switch (result) {
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
            return true;
        default:
            return false;
    }
}

}  // namespace

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Driver::Driver() {
    detail::refuse_privileged("cuda", "NVIDIA's driver");
    std::string why;
    for (const char* name : names) {
        if (library_.open(name)) break;
        if (why.empty()) why = library_.error();  // keeps the error for the usual name
    }
    path_ = library_.path();
    if (path_.empty())
        throw Error(ErrorCode::unavailable, "cuda", "no NVIDIA driver found; install NVIDIA's driver", why);

    const char* missing = nullptr;
#define CONCORD_CUDA_LOAD(name, function, symbol_name)                     \
    name = reinterpret_cast<decltype(name)>(library_.symbol(symbol_name)); \
    if (name == nullptr && missing == nullptr) missing = symbol_name;
    CONCORD_CUDA_FUNCTIONS(CONCORD_CUDA_LOAD)
#undef CONCORD_CUDA_LOAD
#define CONCORD_CUDA_LOAD_OPTIONAL(name, function, symbol_name)            \
    name = reinterpret_cast<decltype(name)>(library_.symbol(symbol_name)); \
    has_graphs_ = has_graphs_ && name != nullptr;
    CONCORD_CUDA_OPTIONAL_FUNCTIONS(CONCORD_CUDA_LOAD_OPTIONAL)
#undef CONCORD_CUDA_LOAD_OPTIONAL
    func_get_param_info =
        reinterpret_cast<decltype(func_get_param_info)>(library_.symbol("cuFuncGetParamInfo"));
    launch_kernel_ex = reinterpret_cast<decltype(launch_kernel_ex)>(library_.symbol("cuLaunchKernelEx"));
    if (driver_get_version != nullptr) driver_get_version(&version_);
    if (missing != nullptr)
        throw Error(ErrorCode::unavailable, "cuda",
                    "NVIDIA driver too old, got CUDA " + version_text(version_) + " (" + path_ +
                        ") without " + missing + "; update the driver");
}

const Driver& Driver::library() {
    // Never destroyed, because static objects of the program may free buffers later.
    static const Driver& driver = *new Driver;
    return driver;
}

const Driver& Driver::get() {
    const Driver& driver = library();
    // After an exception the next caller tries again.
    [[maybe_unused]] static const bool ready = [&] {
        const CUresult result = driver.init(0);
        if (result != CUDA_SUCCESS)
            throw Error(ErrorCode::unavailable, "cuInit", advice(result) + " (" + driver.path() + ")",
                        driver.describe(result));
        return true;
    }();
    return driver;
}

std::string Driver::release() const {
    // The real name of the library ends with it: libcuda.so.580.159.03.
    std::error_code error;
    const std::string file = std::filesystem::canonical(path_, error).filename().string();
    constexpr std::string_view stem = "libcuda.so.";
    if (!error && file.rfind(stem, 0) == 0 && file.find('.', stem.size()) != std::string::npos)
        return file.substr(stem.size());
    // Containers may have renamed the file. The kernel module has the same number.
    std::ifstream proc("/proc/driver/nvidia/version");
    for (std::string word; proc >> word;) {
        if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos)
            return word;
    }
    return {};
}

std::string Driver::describe(CUresult result) const {
    const char* name = nullptr;
    const char* text = nullptr;
    std::string description =
        get_error_name(result, &name) == CUDA_SUCCESS && name != nullptr ? name : "CUresult";
    description += " (" + std::to_string(static_cast<int>(result)) + ")";
    if (get_error_string(result, &text) == CUDA_SUCCESS && text != nullptr)
        description.append(": ").append(text);
    return description;
}

void Driver::fail(CUresult result, std::string_view call, std::string_view native) const {
    std::string message(native);
    message += " failed";
    if (is_final(result)) message += ": a kernel failed; restart the process to use the device again";
    throw Error(result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::device_failed,
                call, message, describe(result));
}

}  // namespace concord::cuda
