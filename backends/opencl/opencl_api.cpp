#include "opencl_api.hpp"

#include <concord/internal/environment.hpp>
#include <concord/internal/modules.hpp>
#include <concord/internal/readable_memory.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace concord::opencl {
namespace {

struct Loader {
    void* library = nullptr;
    Api api;
};

// The loader that a package such as the Python wheel brings, for systems without one: opencl/libOpenCL.so.1 next to the
// backend's module. Empty if there is none that only trusted users can change. The folder of a program with the backend
// in it may be one for downloads and is not searched.
std::string bundled_loader() {
    const std::filesystem::path module = detail::file_of(reinterpret_cast<const void*>(&bundled_loader));
    if (!module.filename().string().starts_with("concord-backend-")) return {};
    const std::filesystem::path file = module.parent_path() / "opencl" / "libOpenCL.so.1";
    std::error_code error;
    return std::filesystem::exists(file, error) && detail::why_untrusted(file).empty() ? file.string() : "";
}

// Never closed, because drivers keep threads that run the loader's code until the process ends.
Loader open_loader() {
    detail::refuse_privileged("opencl", "the OpenCL ICD loader");
    Loader loader;
    std::string tried;
    const std::string forced(detail::environment_variable("CONCORD_OPENCL"));
    std::vector<std::string> names = {forced};
    if (forced.empty()) {
        names = {"libOpenCL.so.1", "libOpenCL.so"};
        if (std::string bundled = bundled_loader(); !bundled.empty()) names.push_back(std::move(bundled));
    }
    for (const std::string& name : names) {
        loader.library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (loader.library != nullptr) break;
        const char* why = dlerror();
        tried.append(tried.empty() ? "" : "; ")
            .append(name)
            .append(": ")
            .append(why != nullptr ? why : "unknown");
    }
    if (loader.library == nullptr)
        throw Error(ErrorCode::unavailable, "opencl",
                    "cannot load the OpenCL ICD loader: " + tried +
                        (forced.empty() ? "; install libOpenCL.so.1" : "; CONCORD_OPENCL names this file"));

    auto find = [&](auto& function, const char* name) {
        function.set(name, dlsym(loader.library, name));
        if (function.address() == nullptr)
            throw Error(ErrorCode::unavailable, "opencl",
                        std::string("the OpenCL ICD loader lacks ") + name +
                            "; install a loader for OpenCL 1.2 or later");
    };
#define CONCORD_OPENCL_FIND(name) find(loader.api.name, #name);
    CONCORD_OPENCL_FUNCTIONS(CONCORD_OPENCL_FIND)
#undef CONCORD_OPENCL_FIND
    return loader;
}

const Loader& loader() {
    static const Loader instance = open_loader();
    return instance;
}

// Every clGet...Info function has the form get(object, question, size, where, size_needed).
template <class Get, class Object>
std::optional<std::string> ask_by(Get get, Object object, cl_uint question) {
    std::size_t size = 0;
    if (get(object, question, 0, nullptr, &size) != CL_SUCCESS) return std::nullopt;
    std::string bytes(size, '\0');
    if (size > 0 && get(object, question, size, bytes.data(), nullptr) != CL_SUCCESS) return std::nullopt;
    return bytes;
}

std::string as_text(std::string bytes) {
    bytes.resize(std::strlen(bytes.c_str()));  // the terminator is part of the answer
    const std::size_t first = bytes.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    return bytes.substr(first, bytes.find_last_not_of(' ') - first + 1);
}

const void* first_word(const void* object) {
    const void* word = nullptr;
    std::memcpy(&word, object, sizeof word);
    return word;
}

// How the objects of the drivers begin.
struct Beginnings {
    std::vector<const void*> known;
    bool all_known = true;  // false: a driver without cl_khr_icd, which was loaded without a loader
};

Beginnings find_beginnings() {
    Beginnings found;
    cl_uint count = 0;
    if (cl().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return found;
    std::vector<cl_platform_id> platforms(count);
    if (cl().clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return found;
    for (cl_platform_id platform : platforms) {
        cl_uint devices = 0;
        cl_device_id device = nullptr;
        if (cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &devices) != CL_SUCCESS) continue;
        if (first_word(platform) == first_word(device))
            found.known.push_back(first_word(device));
        else
            found.all_known = false;
    }
    return found;
}

}  // namespace

const Api& cl() {
    return loader().api;
}

std::string handle_text(const void* handle) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(handle));
    return text;
}

bool is_object(const void* handle) {
    if (!detail::is_readable(handle)) return false;
    static const Beginnings beginnings = find_beginnings();
    return !beginnings.all_known || std::find(beginnings.known.begin(), beginnings.known.end(),
                                              first_word(handle)) != beginnings.known.end();
}

namespace {

// The first loss. Written once, before is_lost.
struct Loss {
    std::mutex mutex;
    std::atomic<bool> is_lost = false;
    const char* function = "";
    bool of_memory = false;
    char what[256] = {};
};
constinit Loss loss;

}  // namespace

bool lost() noexcept {
    return loss.is_lost.load(std::memory_order_acquire);
}

void note_lost(const char* function) noexcept {
    const std::lock_guard lock(loss.mutex);
    if (loss.is_lost) return;
    loss.function = function;
    try {
        throw;
    } catch (const std::bad_alloc&) {
        loss.of_memory = true;
    } catch (const std::exception& error) {
        std::snprintf(loss.what, sizeof loss.what, "%s", error.what());
    } catch (...) {
    }
    loss.is_lost.store(true, std::memory_order_release);
}

void note_lost_for_memory(const char* function) noexcept {
    const std::lock_guard lock(loss.mutex);
    if (loss.is_lost) return;
    loss.function = function;
    loss.of_memory = true;
    loss.is_lost.store(true, std::memory_order_release);
}

void refuse_lost() {
    throw Error(loss.of_memory ? ErrorCode::out_of_memory : ErrorCode::device_failed, loss.function,
                std::string("the OpenCL driver ") +
                    (loss.of_memory ? "ran out of host memory" : "threw an exception") +
                    " and accepts no more calls; restart the process",
                loss.what);
}

std::string loader_path() {
    return detail::file_of(cl().clGetPlatformIDs.address()).string();
}

std::string loader_version() {
    // Debian's and Khronos' loaders both have this function, but their headers do not both declare it.
    using LoaderInfo = cl_int (*)(int question, std::size_t size, void* where, std::size_t* size_needed);
    constexpr int opencl_version = 1, version = 2, name = 3;
    const auto extension =
        reinterpret_cast<void* (*)(const char*)>(dlsym(loader().library, "clGetExtensionFunctionAddress"));
    if (extension == nullptr) return {};
    const auto get = reinterpret_cast<LoaderInfo>(extension("clGetICDLoaderInfoOCLICD"));
    if (get == nullptr) return {};
    auto line = [&](int question) {
        std::size_t size = 0;
        if (get(question, 0, nullptr, &size) != CL_SUCCESS) return std::string();
        std::string bytes(size, '\0');
        return get(question, size, bytes.data(), nullptr) == CL_SUCCESS ? as_text(std::move(bytes))
                                                                        : std::string();
    };
    return line(name) + " " + line(version) + ", " + line(opencl_version);
}

std::optional<std::string> ask(cl_device_id device, cl_device_info question) {
    return ask_by(cl().clGetDeviceInfo, device, question);
}
std::optional<std::string> ask(cl_platform_id platform, cl_platform_info question) {
    return ask_by(cl().clGetPlatformInfo, platform, question);
}
std::string ask_text(cl_device_id device, cl_device_info question) {
    return as_text(ask(device, question).value_or(""));
}
std::string ask_text(cl_platform_id platform, cl_platform_info question) {
    return as_text(ask(platform, question).value_or(""));
}

bool has_word(std::string_view list, std::string_view word) {
    for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
    }
    return false;
}

}  // namespace concord::opencl
