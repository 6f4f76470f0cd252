#include "opencl_program.hpp"

#include "opencl_device.hpp"
#include "opencl_pocl.hpp"

#include <concord/backend/program_cache.hpp>
#include <concord/internal/compile_options.hpp>
#include <concord/internal/includes.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <optional>
#include <sstream>
#include <vector>

namespace concord::opencl {
namespace {

constexpr const char* compile_call = "Device::compile";

cl_int build(const ProgramHandle& program, cl_device_id device, const std::string& options) {
    return cl().clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
}

// The compiler's log. A long log is cut at the end, because the first error matters most.
std::string build_log(cl_program program, cl_device_id device) {
    constexpr std::size_t most = 8192;
    std::size_t size = 0;
    if (cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS)
        return {};
    std::string text(size, '\0');
    if (cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr) !=
        CL_SUCCESS)
        return {};
    text.resize(std::strlen(text.c_str()));
    if (text.size() > most) {
        const std::size_t left_out = text.size() - most;
        text.resize(most);
        text += "\n... (" + std::to_string(left_out) + " more bytes)";
    }
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

cl_program program_of(cl_kernel kernel) {
    cl_program program = nullptr;
    check(cl().clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr), compile_call,
          "clGetKernelInfo");
    return program;
}

// The options that the kernel was compiled with.
std::string options_of(cl_kernel kernel, cl_device_id device) {
    cl_program program = program_of(kernel);
    std::size_t size = 0;
    check(cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, 0, nullptr, &size),
          compile_call, "clGetProgramBuildInfo");
    std::string options(size, '\0');
    check(
        cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, size, options.data(), nullptr),
        compile_call, "clGetProgramBuildInfo");
    options.resize(std::strlen(options.c_str()));
    return options;
}

// The kernel from a cached program. Empty if the driver rejects the program.
KernelHandle from_binary(const OpenClDevice& device, const std::string& entry, const std::string& options,
                         const std::string& binary) {
    const cl_device_id id = device.id();
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int status = CL_SUCCESS, loaded = CL_SUCCESS;
    const ProgramHandle program(
        cl().clCreateProgramWithBinary(device.context(), 1, &id, &size, &bytes, &loaded, &status));
    if (status == CL_SUCCESS) status = loaded;
    if (status == CL_SUCCESS) status = build(program, id, options);
    if (status == CL_SUCCESS) {
        KernelHandle kernel(cl().clCreateKernel(program.get(), entry.c_str(), &status));
        if (status == CL_SUCCESS) return kernel;
    }
    detail::log_info("the driver rejects the cached program of kernel " + entry + " (" + status_text(status) +
                     "); compiling the source");
    return {};
}

// A program of a context with several devices has a binary for each; those of the others are empty.
std::optional<std::string> binary_of(cl_program program, cl_device_id device) {
    const auto& get = cl().clGetProgramInfo;
    cl_uint count = 0;
    if (get(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) != CL_SUCCESS)
        return std::nullopt;
    std::vector<cl_device_id> devices(count);
    std::vector<std::size_t> sizes(count);
    if (get(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), devices.data(), nullptr) !=
            CL_SUCCESS ||
        get(program, CL_PROGRAM_BINARY_SIZES, count * sizeof(std::size_t), sizes.data(), nullptr) !=
            CL_SUCCESS)
        return std::nullopt;
    const auto place =
        static_cast<std::size_t>(std::find(devices.begin(), devices.end(), device) - devices.begin());
    if (place == count || sizes[place] == 0) return std::nullopt;
    std::string binary(sizes[place], '\0');
    std::vector<char*> where(count, nullptr);  // null: not asked for
    where[place] = binary.data();
    if (get(program, CL_PROGRAM_BINARIES, count * sizeof(char*), where.data(), nullptr) != CL_SUCCESS)
        return std::nullopt;
    return binary;
}

// A line of a source, with the file and number that #line directives give it.
struct SourceLine {
    std::string file = "text";
    unsigned long number = 1;
    std::string_view row;
};

// Calls visit for each line, until it returns true.
void visit_lines(std::string_view text, const std::function<bool(const SourceLine&)>& visit) {
    SourceLine line;
    while (!text.empty()) {
        line.row = text.substr(0, text.find('\n'));
        if (visit(line)) return;
        text.remove_prefix(std::min(text.size(), line.row.size() + 1));
        ++line.number;
        char name[256];
        unsigned long next = 0;
        if (line.row.starts_with("#line ") &&
            std::sscanf(std::string(line.row).c_str(), "#line %lu \"%255[^\"]\"", &next, name) == 2) {
            line.file = name;
            line.number = next;
        }
    }
}

// The file and line of line `line` of a source: "map.kernel:12".
std::string origin(std::string_view text, unsigned long line) {
    std::string place;
    unsigned long at = 0;
    visit_lines(text, [&](const SourceLine& found) {
        place = found.file + ":" + std::to_string(found.number);
        return ++at == line;
    });
    return place;
}

// A place that a line of a compiler's log names: "error: map.kernel:12:5: ...".
struct LogPlace {
    std::string_view file;
    unsigned long line = 0, column = 0;
};

LogPlace place_in(std::string_view line) {
    for (const std::string_view kind : {"error: ", "warning: "}) {
        if (line.starts_with(kind)) line.remove_prefix(kind.size());
    }
    for (std::size_t end = line.find(": "); end != std::string_view::npos; end = line.find(": ", end + 1)) {
        LogPlace place;
        const std::size_t second = line.rfind(':', end - 1);
        if (end == 0 || second == std::string_view::npos || second == 0) continue;
        const std::size_t first = line.rfind(':', second - 1);
        if (first == std::string_view::npos) continue;
        const char* const text = line.data();
        if (std::from_chars(text + first + 1, text + second, place.line).ptr == text + second &&
            std::from_chars(text + second + 1, text + end, place.column).ptr == text + end) {
            place.file = line.substr(0, first);
            return place;
        }
    }
    return {};
}

// NVIDIA's compiler ignores #line in its log: "<kernel>:28:56" counts from the top of the whole source.
std::string with_origins(std::string log, std::string_view text) {
    constexpr std::string_view mark = "<kernel>:";
    for (std::size_t at = log.find(mark); at != std::string::npos; at = log.find(mark, at + 1)) {
        const std::size_t digits = at + mark.size();
        const std::size_t end = log.find_first_not_of("0123456789", digits);
        if (end == digits || end == std::string::npos) continue;
        log.replace(at, end - at, origin(text, std::stoul(log.substr(digits, end - digits))));
    }
    return log;
}

// Adds 60 characters around the column to each "FILE:LINE:COLUMN: " of a log without excerpts, such as PoCL's. The body
// of a macro is one line.
std::string with_excerpts(const std::string& log, std::string_view text) {
    if (log.find("^\n") != std::string::npos || log.ends_with('^')) return log;
    constexpr std::size_t before = 30, shown = 60;
    std::string result;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        result.append(result.empty() ? "" : "\n").append(line);
        const LogPlace place = place_in(line);
        visit_lines(text, [&](const SourceLine& source) {
            if (place.column == 0 || source.number != place.line || source.file != place.file ||
                source.row.size() < place.column)
                return place.column == 0;
            const std::size_t at = place.column - 1, first = at > before ? at - before : 0;
            result.append("\n    ").append(source.row.substr(first, shown));
            result.append("\n    ").append(at - first, ' ').append("^");
            return true;
        });
    }
    return result;
}

ProgramHandle from_text(const OpenClDevice& device, const std::string& entry, const std::string& options,
                        const std::string& text) {
    const char* string = text.c_str();
    const std::size_t length = text.size();
    cl_int status = CL_SUCCESS;
    ProgramHandle program;
    std::string words;
    if (is_pocl_cpu(device.id())) check_pocl(compile_call);
    // PoCL's cache has a race: if several processes build one source at the same time, some fail without an error in
    // the log.
    for (int attempt = 0; attempt < 4; ++attempt) {
        program =
            ProgramHandle(cl().clCreateProgramWithSource(device.context(), 1, &string, &length, &status));
        check(status, compile_call, "clCreateProgramWithSource");
        status = build(program, device.id(), options);
        words = with_excerpts(with_origins(build_log(program.get(), device.id()), text), text);
        if (status != CL_BUILD_PROGRAM_FAILURE || words.find("error:") != std::string::npos) break;
    }
    // A function of the vocabulary that the device lacks has this attribute of clang.
    const bool is_unsupported = words.find(" is unavailable: ") != std::string::npos;
    if (status != CL_SUCCESS)
        throw Error(
            is_unsupported ? ErrorCode::unsupported : ErrorCode::compile_failed, compile_call,
            "kernel " + entry + " does not compile for " + device.info().selector + ":\n" + words + "\n",
            status_text(status));
    if (!words.empty()) detail::log_debug("compiler's log of " + entry + ":\n" + words);
    return program;
}

KernelHandle create_kernel(const OpenClDevice& device, ProgramHandle& program, const std::string& entry,
                           const std::string& options, const std::string& text) {
    cl_int status = CL_SUCCESS;
    KernelHandle kernel(cl().clCreateKernel(program.get(), entry.c_str(), &status));
    if (status == CL_INVALID_KERNEL_NAME && is_pocl_cpu(device.id()) &&
        text.find(entry) != std::string::npos) {
        // An empty file in PoCL's cache is a program without kernels. Other options have another entry.
        program = from_text(device, entry, options + " -DCONCORD_COMPILED_AGAIN", text);
        kernel = KernelHandle(cl().clCreateKernel(program.get(), entry.c_str(), &status));
        if (status == CL_SUCCESS)
            detail::log_warn("PoCL's cache of kernels is damaged, " +
                             detail::quoted(pocl_cache_folder().string()) + "; kernel " + entry +
                             " is compiled again; delete the folder");
    }
    if (status == CL_INVALID_KERNEL_NAME)
        throw Error(ErrorCode::compile_failed, compile_call,
                    "the source has no kernel with that name, got '" + entry + "'", status_text(status));
    check(status, compile_call, "clCreateKernel");
    return kernel;
}

// Everything that the program depends on.
std::string cache_key(const OpenClDevice& device, const std::string& entry, const std::string& options,
                      const std::string& text) {
    const DeviceInfo& info = device.info();
    return "opencl | " + info.name + " | " + entry + "\n" + info.driver + "\n" + options + "\n" + text;
}

// PoCL compiles a kernel for its group size at the launch and caches the result on disk. A query for a program's binary
// first compiles every kernel for any group size. If a kernel of equal source runs at that time, PoCL 3.1 confuses the
// two when that kernel ends and aborts ("ref_count > 0").
bool has_disk_cache(const OpenClDevice& device) {
    return is_pocl_cpu(device.id());
}

}  // namespace

KernelHandle compile_kernel(const OpenClDevice& device, const KernelSpec& spec) {
    const std::string entry(detail::plain_entry(spec.entry));
    const CompileOptions& own = spec.source->options(Dialect::opencl);
    std::string options = device.compiler_setup().options;
    for (const std::string& folder : own.include_folders)
        options.append(" -I ").append(folder);
    for (const std::string& flag : own.flags)
        options.append(" ").append(flag);
    const std::string assembled = assemble(spec, Dialect::opencl);
    const detail::Includes includes = detail::includes_of(assembled, *spec.source, Dialect::opencl);
    const std::string text = device.compiler_setup().prelude + includes.line() + assembled;
    const std::string key = cache_key(device, entry, options, text);
    const bool cached = !spec.fresh && includes.known && !has_disk_cache(device);
    if (const std::optional<std::string> binary = cached ? backend::load_program(key) : std::nullopt) {
        if (KernelHandle kernel = from_binary(device, entry, options, *binary)) return kernel;
    }

    ProgramHandle program = from_text(device, entry, options, text);
    KernelHandle kernel = create_kernel(device, program, entry, options, text);
    // A fresh kernel measures compile time. The query makes PoCL compile the kernel now.
    if (cached || spec.fresh) {
        const std::optional<std::string> result = binary_of(program.get(), device.id());
        if (result && cached) backend::store_program(key, *result);
    }
    return kernel;
}

std::string text_of(cl_kernel kernel) {
    cl_program program = program_of(kernel);
    std::size_t size = 0;
    check(cl().clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size), compile_call,
          "clGetProgramInfo");
    std::string text(size, '\0');
    check(cl().clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text.data(), nullptr), compile_call,
          "clGetProgramInfo");
    text.resize(std::strlen(text.c_str()));
    return text;
}

KernelHandle compile_copy(const OpenClDevice& device, cl_kernel kernel, const std::string& entry,
                          std::size_t number) {
    const std::string options = options_of(kernel, device.id()) + " -DCONCORD_COPY=" + std::to_string(number);
    detail::log_debug("copy " + std::to_string(number) + " of " + entry + " for " + device.info().selector);
    const std::string text = text_of(kernel);
    ProgramHandle program = from_text(device, entry, options, text);
    return create_kernel(device, program, entry, options, text);
}

}  // namespace concord::opencl
