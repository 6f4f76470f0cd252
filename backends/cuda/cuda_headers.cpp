#include "cuda_headers.hpp"

#include <concord/internal/environment.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace concord::cuda {
namespace {

namespace fs = std::filesystem;

// Declared by NVRTC itself: size_t, printf, assert, memcpy and the functions of math.h.
constexpr const char* empty_headers[] = {"stdio.h", "cstdio", "stdlib.h", "cstdlib", "string.h", "cstring",
                                         "math.h",  "cmath",  "assert.h", "cassert", "stddef.h", "cstddef"};

// The same types as libcu++ and the operating system's headers declare.
constexpr std::string_view stdint_text = R"(#pragma once
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed long long intptr_t;
typedef unsigned long long uintptr_t;
typedef signed long long intmax_t;
typedef unsigned long long uintmax_t;
)";
constexpr std::string_view cstdint_text = R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t; using ::intmax_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::uintmax_t;
}
)";

void define(std::string& text, std::string_view name, std::string_view value) {
    text.append("#ifndef ")
        .append(name)
        .append("\n#define ")
        .append(name)
        .append(" ")
        .append(value)
        .append("\n#endif\n");
}

// In addition to the constants that assemble() puts before every source.
std::string float_text() {
    std::string text = "#pragma once\n";
    define(text, "FLT_DIG", "6");
    define(text, "FLT_MANT_DIG", "24");
    define(text, "DBL_DIG", "15");
    define(text, "DBL_MANT_DIG", "53");
    return text;
}

std::string limits_text() {
    std::string text = "#pragma once\n";
    define(text, "CHAR_BIT", "8");
    define(text, "SCHAR_MAX", "127");
    define(text, "SCHAR_MIN", "(-128)");
    define(text, "UCHAR_MAX", "255");
    define(text, "SHRT_MAX", "32767");
    define(text, "SHRT_MIN", "(-32768)");
    define(text, "USHRT_MAX", "65535");
    define(text, "LLONG_MAX", "9223372036854775807LL");
    define(text, "LLONG_MIN", "(-LLONG_MAX - 1)");
    define(text, "ULLONG_MAX", "18446744073709551615ULL");
    return text;
}

bool is_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

// CUDART_VERSION of a folder, 13000 for 13.0. 0 without the header.
int version_of(const fs::path& folder) {
    std::ifstream file(folder / "cuda_runtime_api.h");
    for (std::string line; std::getline(file, line);) {
        constexpr std::string_view start = "#define CUDART_VERSION";
        if (!line.starts_with(start)) continue;
        const std::size_t digits = line.find_first_of("0123456789", start.size());
        int version = 0;
        if (digits != std::string::npos)
            std::from_chars(line.data() + digits, line.data() + line.size(), version);
        return version;
    }
    return 0;
}

}  // namespace

const ToolkitHeaders& ToolkitHeaders::get() {
    static const ToolkitHeaders& headers = *new ToolkitHeaders(Nvrtc::get());
    return headers;
}

ToolkitHeaders::ToolkitHeaders(const Nvrtc& nvrtc) : nvrtc_title_(nvrtc.title()) {
    for (const char* name : empty_headers)
        memory_headers_.push_back({name, "#pragma once\n"});
    memory_headers_.push_back({"stdint.h", std::string(stdint_text)});
    memory_headers_.push_back({"cstdint", std::string(cstdint_text)});
    memory_headers_.push_back({"float.h", float_text()});
    memory_headers_.push_back({"cfloat", "#include <float.h>\n"});
    memory_headers_.push_back({"limits.h", limits_text()});
    memory_headers_.push_back({"climits", "#include <limits.h>\n"});

    std::error_code error;
    const fs::path lib = fs::canonical(nvrtc.path(), error).parent_path();
    std::vector<fs::path> places;
    if (!lib.empty()) {
        places.push_back(lib.parent_path() / "include");                                 // a toolkit
        places.push_back(lib.parent_path().parent_path() / "cuda_runtime" / "include");  // wheels of CUDA 12
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const std::string_view value = detail::environment_variable(variable);
        if (value.starts_with('/')) places.push_back(fs::path(value) / "include");
    }
    places.emplace_back("/usr/local/cuda/include");
    places.emplace_back("/usr/include");

    for (const fs::path& place : places) {
        candidates_.push_back(place.string());
        if (!is_file(place / "cuda_fp16.h")) continue;
        const int version = version_of(place);
        if (version / 1000 != nvrtc.major()) {
            candidates_.back() += " (headers of CUDA " + std::to_string(version / 1000) + ")";
            continue;
        }
        fingerprint_ = "headers of CUDA " + std::to_string(version);
        add_folder(place.string(), "cuda_fp16.h");
        // libcu++, CUB and what mma.h includes are in the folder itself, below it, or in wheels next to it.
        const fs::path wheels = place.parent_path().parent_path();
        add_folder((place / "cccl").string(), "cuda/std/version");
        add_folder((wheels / "cuda_cccl" / "include").string(), "cuda/std/version");
        add_folder((wheels / "cuda_nvcc" / "include").string(), "crt/mma.h");
        add_folder((wheels / "curand" / "include").string(), "curand_kernel.h");
        find_cub();
        break;
    }
}

// Ignores a folder without the marker, which is a file of it.
void ToolkitHeaders::add_folder(const std::string& folder, const std::string& marker) {
    const fs::path file = fs::path(folder) / marker;
    if (!is_file(file)) return;
    std::error_code error;
    const auto written = fs::last_write_time(file, error).time_since_epoch().count();
    folders_.push_back(folder);
    fingerprint_.append(", ").append(folder).append(" ").append(std::to_string(written));
}

void ToolkitHeaders::find_cub() {
    for (const std::string& folder : folders_) {
        const fs::path cub = fs::path(folder) / "cub";
        if (!is_file(cub / "cub.cuh")) continue;
        std::vector<std::string> names;
        for (const char* part : {"warp", "block", "thread"}) {
            std::error_code error;
            for (const fs::directory_entry& entry : fs::directory_iterator(cub / part, error)) {
                if (entry.path().extension() == ".cuh")
                    names.push_back(std::string(part) + "/" + entry.path().filename().string());
            }
        }
        std::sort(names.begin(), names.end());
        std::string text = "#pragma once\n";
        for (const std::string& name : names)
            text.append("#include <cub/").append(name).append(">\n");
        memory_headers_.push_back({"cub/cub.cuh", std::move(text)});
        // CUB 2.8 includes these and uses nothing of them.
        for (const char* unused : {"iterator", "limits", "type_traits"})
            memory_headers_.push_back({unused, "#pragma once\n"});
        return;
    }
}

std::string ToolkitHeaders::searched(const std::vector<std::string>& own_folders) const {
    std::string text = "searched for headers in:";
    for (const std::vector<std::string>* list : {&own_folders, &folders_}) {
        for (const std::string& folder : *list)
            text.append("\n  ").append(folder);
    }
    if (folders_.empty()) {
        text += own_folders.empty() ? " no folder" : "";
        text += "\nheaders of CUDA's toolkit not found for " + nvrtc_title_ + " in:";
        for (const std::string& folder : candidates_)
            text.append("\n  ").append(folder);
        text += "\nset CUDA_HOME to a toolkit of that version";
    }
    return text + "\nadd folders of your own to CompileOptions::include_folders";
}

std::vector<MemoryHeader> ToolkitHeaders::memory_headers(const std::vector<std::string>& own_folders) const {
    std::vector<MemoryHeader> headers;
    for (const MemoryHeader& header : memory_headers_) {
        const bool own = std::any_of(own_folders.begin(), own_folders.end(), [&](const std::string& folder) {
            return is_file(fs::path(folder) / header.name);
        });
        if (!own) headers.push_back(header);
    }
    return headers;
}

}  // namespace concord::cuda
