#include "cuda_nvrtc.hpp"

#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/modules.hpp>

#include <algorithm>
#include <filesystem>

#include "cuda_driver.hpp"

namespace concord::cuda {
namespace {

namespace fs = std::filesystem;

// A driver loads machine code of its own major version and of older ones, so that the NVRTC of the driver's version
// comes first. Later releases of 11.x kept the name of 11.2.
std::vector<std::string> library_names() {
    std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    try {
        if (const int major = Driver::library().version() / 1000; major >= 12) {
            const std::string own = "libnvrtc.so." + std::to_string(major);
            std::erase(names, own);
            names.insert(names.begin(), own);
        }
    } catch (const Error&) {
        // No driver: compiling works without one.
    }
    return names;
}

// Subfolders of CONCORD_NVRTC that are searched: the folder itself, the lib folders of a toolkit, and those of the PyPI
// wheels relative to their nvidia folder and to site-packages.
constexpr const char* below[] = {
    "", "lib64", "lib", "cuda_nvrtc/lib", "cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib"};

// The folders where a build or an installation puts a bundled NVRTC. All are absolute and independent of the current
// directory.
std::vector<fs::path> own_folders() {
    std::vector<fs::path> folders;
    const fs::path file = detail::file_of(reinterpret_cast<const void*>(&own_folders));
    const fs::path folder = file.parent_path();
#if defined(CONCORD_INSTALLED_LIB)
    // The backend is part of the library or of a program: an installed one, one in the build folder, or a user's
    // program anywhere. The folder of a program may be one for downloads and is not searched.
    if (!file.empty())
        folders = {folder / "concord", (folder / CONCORD_BIN_TO_LIB / "concord").lexically_normal(),
                   folder.parent_path() / "lib" / "concord"};
    folders.emplace_back(fs::path(CONCORD_INSTALLED_LIB) / "concord");
#else
    if (!file.empty()) folders = {folder, folder / "concord"};
#endif
    std::error_code error;
    std::erase_if(folders, [&](const fs::path& path) {
        return fs::exists(path, error) && !detail::why_untrusted(path).empty();
    });
    return folders;
}

std::vector<fs::path> folders_of_environment() {
    std::vector<fs::path> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const std::string_view value = detail::environment_variable(variable);
        if (!value.starts_with('/')) continue;
        folders.push_back(fs::path(value) / "lib64");
        folders.push_back(fs::path(value) / "lib");
    }
    folders.emplace_back("/usr/local/cuda/lib64");
    return folders;
}

std::string join(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text.append(text.empty() ? "" : ", ").append(word);
    return text;
}

}  // namespace

// Searches only CONCORD_NVRTC if it is set. Otherwise searches for each name in turn, starting with the driver's
// version: the bundled NVRTC, the system's loader, CUDA_HOME, CUDA_PATH and /usr/local/cuda.
void Nvrtc::search() {
    const std::vector<std::string> names = library_names();
    std::string why;
    auto try_file = [&](const fs::path& file) {
        std::error_code error;
        if (!fs::exists(file, error)) return false;
        if (library_.open(file.string())) return true;
        why = library_.error();
        return false;
    };

    if (const std::string forced(detail::environment_variable("CONCORD_NVRTC")); !forced.empty()) {
        std::error_code error;
        if (!fs::is_directory(forced, error)) {
            if (library_.open(forced)) return;
            throw Error(ErrorCode::unavailable, "CONCORD_NVRTC",
                        detail::error_message("cannot load the library", detail::quoted(forced),
                                              "expected libnvrtc.so or a folder that contains it"),
                        library_.error());
        }
        for (const std::string& name : names) {
            for (const char* folder : below) {
                if (try_file(fs::path(forced) / folder / name)) return;
            }
        }
        throw Error(ErrorCode::unavailable, "CONCORD_NVRTC",
                    detail::error_message("folder without NVRTC", detail::quoted(forced),
                                          "expected one of " + join(names)),
                    why);
    }

    const std::vector<fs::path> own = own_folders(), folders = folders_of_environment();
    for (const std::string& name : names) {
        for (const fs::path& folder : own) {
            if (try_file(folder / name)) return;
        }
        if (library_.open(name)) return;
        if (library_.error().find("No such file") == std::string::npos) why = library_.error();
        for (const fs::path& folder : folders) {
            if (try_file(folder / name)) return;
        }
    }
    std::string message = "NVRTC, the CUDA compiler library, not found; searched for " + join(names) +
                          " on the loader's path and in";
    for (const std::vector<fs::path>& searched : {own, folders}) {
        for (const fs::path& folder : searched)
            message += " " + folder.string();
    }
    throw Error(ErrorCode::unavailable, "NVRTC", message + "; set CONCORD_NVRTC to the file or its folder",
                why);
}

Nvrtc::Nvrtc() {
    search();
#define CONCORD_NVRTC_LOAD(name, function)                               \
    name = reinterpret_cast<decltype(name)>(library_.symbol(#function)); \
    if (name == nullptr)                                                 \
        throw Error(ErrorCode::unavailable, "NVRTC",                     \
                    path() + " lacks " #function "; install NVRTC 11.2 or later");
    CONCORD_NVRTC_FUNCTIONS(CONCORD_NVRTC_LOAD)
#undef CONCORD_NVRTC_LOAD

    int minor = 0, count = 0;
    version_(&major_, &minor);
    title_ = "NVRTC " + std::to_string(major_) + "." + std::to_string(minor);
    std::vector<int> list;
    if (get_num_supported_archs_(&count) == NVRTC_SUCCESS && count > 0) {
        list.resize(static_cast<std::size_t>(count));
        if (get_supported_archs_(list.data()) != NVRTC_SUCCESS) list.clear();
    }
    architectures_.assign(list.begin(), list.end());
    std::sort(architectures_.begin(), architectures_.end());

    // An update may keep the version but changes the file.
    std::error_code error;
    const fs::path file = fs::canonical(path(), error);
    fingerprint_ = title_ + " " + file.filename().string() + " " + std::to_string(fs::file_size(file, error));
}

const Nvrtc& Nvrtc::get() {
    // After an exception the next caller searches again. Never destroyed, like the driver.
    static const Nvrtc& nvrtc = *new Nvrtc;
    return nvrtc;
}

std::string Nvrtc::architecture_list() const {
    std::vector<std::string> names;
    for (const u32 architecture : architectures_)
        names.push_back("sm_" + std::to_string(architecture));
    return join(names);
}

Nvrtc::Result Nvrtc::compile(const Input& input, Output output) const {
    Result result;
    nvrtcProgram program = nullptr;
    auto failed = [&](nvrtcResult code) {
        if (code != NVRTC_SUCCESS && result.error.empty()) result.error = get_error_string_(code);
        return code != NVRTC_SUCCESS;
    };
    std::vector<const char*> names, texts;
    for (const MemoryHeader& header : input.headers) {
        names.push_back(header.name.c_str());
        texts.push_back(header.text.c_str());
    }
    if (failed(create_program_(&program, input.text.c_str(), input.name.c_str(),
                               static_cast<int>(names.size()), texts.data(), names.data())))
        return result;
    struct Destroy {
        const Nvrtc& nvrtc;
        nvrtcProgram& program;
        ~Destroy() { nvrtc.destroy_program_(&program); }
    } destroy{*this, program};

    if (!input.expression.empty() && failed(add_name_expression_(program, input.expression.c_str())))
        return result;
    std::vector<const char*> pointers;
    pointers.reserve(input.options.size());
    for (const std::string& option : input.options)
        pointers.push_back(option.c_str());
    failed(compile_program_(program, static_cast<int>(pointers.size()), pointers.data()));

    std::size_t size = 0;
    if (get_program_log_size_(program, &size) == NVRTC_SUCCESS && size > 1) {
        result.log.resize(size);
        if (get_program_log_(program, result.log.data()) != NVRTC_SUCCESS) result.log.clear();
        while (!result.log.empty() && (result.log.back() == '\0' || result.log.back() == '\n'))
            result.log.pop_back();
    }
    if (!result.error.empty()) return result;
    if (!input.expression.empty()) {
        const char* lowered = nullptr;
        if (failed(get_lowered_name_(program, input.expression.c_str(), &lowered))) return result;
        result.entry = lowered;
    }

    const bool cubin = output == Output::cubin;
    if (failed((cubin ? get_cubin_size_ : get_ptx_size_)(program, &size))) return result;
    result.image.resize(size);
    failed((cubin ? get_cubin_ : get_ptx_)(program, result.image.data()));
    return result;
}

}  // namespace concord::cuda
