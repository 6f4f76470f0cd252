#include "cuda_compiler.hpp"

#include <concord/backend/program_cache.hpp>
#include <concord/error.hpp>
#include <concord/internal/compile_options.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/includes.hpp>
#include <concord/internal/kernel_body.hpp>
#include <concord/log.hpp>

#include <algorithm>

#include "cuda_cubin.hpp"
#include "cuda_headers.hpp"

namespace concord::cuda {
namespace {

// For bitwise identical results: no contraction, IEEE divide and square root, denormals kept.
constexpr const char* common_options[] = {"--std=c++17",     "--fmad=false",
                                          "--prec-div=true", "--prec-sqrt=true",
                                          "--ftz=false",     "--device-as-default-execution-space"};

std::string_view name_of_flag(std::string_view flag) {
    flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
    return flag.substr(0, flag.find('='));
}

// Whether the user's flags set an option of Concord, which then is left out. --use_fast_math sets the options of
// arithmetic, but only those that are not given.
bool is_set(const std::vector<std::string>& flags, std::string_view option) {
    const bool arithmetic = option.find("fmad") != std::string_view::npos ||
                            option.find("prec-") != std::string_view::npos ||
                            option.find("ftz") != std::string_view::npos;
    return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
        const std::string_view name = name_of_flag(flag);
        return name == name_of_flag(option) || (arithmetic && name == "use_fast_math");
    });
}

constexpr std::size_t longest_log = 8192;

// NVRTC searches headers in the folder of the source's name, which without one is that of the process. This one has no
// files.
constexpr std::string_view no_folder = "/dev/null/";

std::string without_folder(std::string log) {
    for (std::size_t at = log.find(no_folder); at != std::string::npos; at = log.find(no_folder, at))
        log.erase(at, no_folder.size());
    return log;
}

constexpr u32 registers_of_group = 65536;  // per multiprocessor, in every architecture that NVRTC supports
constexpr u32 registers_per_item = 255;

// Without a bound the compiler may use so many registers per work-item that a group of max_group_size does not fit.
std::optional<u32> register_bound(u32 max_group_size) {
    if (max_group_size == 0) return std::nullopt;
    const u32 bound = registers_of_group / max_group_size / 8 * 8;  // the hardware allocates multiples of 8
    if (bound >= registers_per_item || bound == 0) return std::nullopt;
    return bound;
}

// Begins every kernel since sm_90, so that CudaKernel may launch it while the kernel in front of it ends. Nothing
// touches memory before the wait, which returns when that kernel has ended and its stores are visible. That kernel has
// waited for the one in front of it, and so on. No kernel calls griddepcontrol.launch_dependents: on an H200 recorded
// chains of maps of 2^20 elements are then 3 to 20 % slower.
constexpr std::string_view prologue = " asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");";
constexpr u32 first_architecture_that_waits = 90;

// Whether a compiled kernel has the wait. The source alone does not prove it: the preprocessor may have skipped the
// definition that was found. PTX counts as a kernel without it.
bool has_wait(const Program& program) {
    const std::optional<Cubin> cubin = Cubin::read(program.image);
    const std::optional<CubinKernel> kernel = cubin ? cubin->kernel(program.entry) : std::nullopt;
    return kernel && kernel->waits;
}

std::string shorten(const std::string& log) {
    if (log.size() <= longest_log) return log;
    std::size_t end = log.rfind('\n', longest_log);
    if (end == std::string::npos) end = longest_log;
    return log.substr(0, end) + "\n... (" + std::to_string(log.size() - end) + " more bytes)";
}

}  // namespace

std::string no_such_kernel(const std::string& entry) {
    return "the source has no kernel with that name; expected extern \"C\" __global__ void " + entry +
           "(...), or '::" + entry + "' as the entry of a kernel without extern \"C\"";
}

struct Compiler::Job {
    Nvrtc::Input input;
    std::string key;
    bool cached = true;   // whether it may be in the disk cache
    bool waits = false;   // whether the prologue was inserted
    std::string folders;  // where headers are searched, for messages
};

Compiler::Compiler(u32 architecture) : nvrtc_(Nvrtc::get()), architecture_(architecture) {
    const std::vector<u32>& known = nvrtc_.architectures();
    const auto after = std::upper_bound(known.begin(), known.end(), architecture);
    if (after == known.begin())
        throw Error(ErrorCode::unavailable, "open_device",
                    "architecture not supported by " + nvrtc_.title() + " (" + nvrtc_.path() + "), got sm_" +
                        std::to_string(architecture) + "; it supports " + nvrtc_.architecture_list());
    const bool exact = *(after - 1) == architecture;
    output_ = exact ? Nvrtc::Output::cubin : Nvrtc::Output::ptx;
    target_ = (exact ? "sm_" : "compute_") + std::to_string(*(after - 1));
}

Compiler::Job Compiler::job(const KernelSpec& spec) const {
    const CompileOptions& own = spec.source->options(Dialect::cuda);
    Job job;
    std::vector<std::string>& options = job.input.options;
    for (const char* option : common_options) {
        if (!is_set(own.flags, option)) options.emplace_back(option);
    }
    options.push_back("-arch=" + target_);
    const auto bound = register_bound(spec.max_group_size);
    if (bound && !is_set(own.flags, "--maxrregcount"))
        options.push_back("--maxrregcount=" + std::to_string(*bound));
    options.insert(options.end(), own.flags.begin(), own.flags.end());

    job.input.name = spec.source->name();
    if (detail::names_instance(spec.entry)) job.input.expression = spec.entry;
    job.input.text = assemble(spec, Dialect::cuda);
    if (architecture_ >= first_architecture_that_waits && nvrtc_.major() >= 12 &&
        detail::environment_variable("CONCORD_LAUNCH_OVERLAP") != "off") {
        const auto bodies = detail::kernel_bodies(job.input.text, detail::plain_entry(spec.entry));
        for (auto at = bodies.rbegin(); at != bodies.rend(); ++at)
            job.input.text.insert(*at, prologue);
        job.waits = !bodies.empty();
    }
    const detail::Includes includes = detail::includes_of(job.input.text, *spec.source, Dialect::cuda);
    job.cached = !spec.fresh && includes.known;
    std::string headers;
    if (includes.any) {
        job.input.text.insert(0, includes.line());
        const ToolkitHeaders& toolkit = ToolkitHeaders::get();
        job.input.name.insert(0, no_folder);
        // libcu++ defines macros such as UINT_MAX again, with the same values.
        if (nvrtc_.major() >= 12) options.emplace_back("--diag-suppress=47");
        for (const std::string& folder : own.include_folders)
            options.push_back("-I" + folder);
        for (const std::string& folder : toolkit.folders())
            options.push_back("-I" + folder);
        job.input.headers = toolkit.memory_headers(own.include_folders);
        headers = toolkit.fingerprint() + "\n";
        job.folders = toolkit.searched(own.include_folders);
    }

    job.key = "cuda | " + target_ + " | ";
    job.key.append(spec.source->name()).append(" ").append(spec.entry).append("\n");
    job.key.append(nvrtc_.fingerprint()).append("\n").append(headers);
    for (const std::string& option : options)
        job.key.append(option).append(" ");
    job.key.append("\n").append(job.input.text);
    return job;
}

// An entry of the disk cache is the image, after the kernel's name and a zero if an expression names the kernel.
void Compiler::build(const KernelSpec& spec, const std::function<std::string(const Program&)>& load) const {
    const Job work = job(spec);
    const bool named = !work.input.expression.empty();
    if (work.cached) {
        if (std::optional<std::string> cached = backend::load_program(work.key)) {
            Program program{
                .image = std::move(*cached), .entry = std::string(spec.entry), .from_cache = true};
            if (named) {
                const std::size_t end = std::min(program.image.find('\0'), program.image.size() - 1);
                program.entry = program.image.substr(0, end);
                program.image.erase(0, end + 1);
            }
            program.waits = work.waits && has_wait(program);
            const std::string problem = load(program);
            if (problem.empty()) return;
            detail::log_warn("cached kernel " + std::string(spec.entry) + ": " + problem +
                             "; compiling the source");
        }
    }
    Program program = compile(spec, work);
    program.waits = work.waits && has_wait(program);
    load(program);
    if (work.cached)
        backend::store_program(work.key, named ? program.entry + '\0' + program.image : program.image);
}

Program Compiler::compile(const KernelSpec& spec, const Job& job) const {
    Nvrtc::Result result = nvrtc_.compile(job.input, output_);
    if (!result.error.empty()) {
        result.log = without_folder(std::move(result.log));
        if (result.log.find("open source file") != std::string::npos) result.log += "\n" + job.folders;
        fail(spec, result.log, result.error);
    }
    if (!result.log.empty())
        detail::log_debug(std::string(spec.entry) + " for " + target_ + ":\n" + shorten(result.log));
    return {.image = std::move(result.image),
            .entry = result.entry.empty() ? std::string(spec.entry) : std::move(result.entry)};
}

void Compiler::fail(const KernelSpec& spec, const std::string& problem, const std::string& native) const {
    std::string message = "kernel " + std::string(spec.entry) + " of " + std::string(spec.source->name()) +
                          " does not compile for " + target_ + " with " + nvrtc_.title();
    if (!spec.constants.empty()) {
        message += " (";
        for (const Constant& constant : spec.constants)
            message.append(&constant == spec.constants.begin() ? "" : ", ")
                .append(constant.name())
                .append("=")
                .append(constant.value());
        message += ")";
    }
    throw Error(ErrorCode::compile_failed, "Device::compile", message + ":\n" + shorten(problem), native);
}

}  // namespace concord::cuda
