#include "cuda_compiler.hpp"

#include <concord/backend/program_cache.hpp>
#include <concord/error.hpp>
#include <concord/log.hpp>

#include <algorithm>

namespace concord::cuda {
namespace {

// For bitwise identical results: no contraction, IEEE divide and square root, denormals kept.
constexpr const char* common_options[] = {"--std=c++17",     "--fmad=false",
                                          "--prec-div=true", "--prec-sqrt=true",
                                          "--ftz=false",     "--device-as-default-execution-space"};

constexpr std::size_t longest_log = 8192;

constexpr u32 registers_of_group = 65536;  // per multiprocessor, in every architecture that NVRTC supports
constexpr u32 registers_per_item = 255;

// Without a bound the compiler may use so many registers per work-item that a group of max_group_size does not fit.
std::optional<u32> register_bound(u32 max_group_size) {
    if (max_group_size == 0) return std::nullopt;
    const u32 bound = registers_of_group / max_group_size / 8 * 8;  // the hardware allocates multiples of 8
    if (bound >= registers_per_item || bound == 0) return std::nullopt;
    return bound;
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
           "(...)";
}

struct Compiler::Job {
    std::string text;
    std::vector<std::string> options;
    std::string key;
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
    Job job;
    job.text = assemble(spec, Dialect::cuda);
    job.options.assign(std::begin(common_options), std::end(common_options));
    job.options.push_back("-arch=" + target_);
    if (const auto bound = register_bound(spec.max_group_size))
        job.options.push_back("--maxrregcount=" + std::to_string(*bound));

    job.key = "cuda | " + target_ + " | ";
    job.key.append(spec.source->name()).append(" ").append(spec.entry).append("\n");
    job.key.append(nvrtc_.fingerprint()).append("\n");
    for (const std::string& option : job.options)
        job.key.append(option).append(" ");
    job.key.append("\n").append(job.text);
    return job;
}

void Compiler::build(const KernelSpec& spec, const std::function<std::string(const Program&)>& load) const {
    const Job work = job(spec);
    if (!spec.fresh) {
        if (std::optional<std::string> cached = backend::load_program(work.key)) {
            const std::string problem = load({.image = std::move(*cached), .from_cache = true});
            if (problem.empty()) return;
            detail::log_warn("cached kernel " + std::string(spec.entry) + ": " + problem +
                             "; compiling the source");
        }
    }
    const Program program{.image = compile(spec, work), .from_cache = false};
    load(program);
    if (!spec.fresh) backend::store_program(work.key, program.image);
}

std::string Compiler::compile(const KernelSpec& spec, const Job& job) const {
    Nvrtc::Result result = nvrtc_.compile(job.text, std::string(spec.source->name()), job.options, output_);
    if (!result.error.empty()) fail(spec, result.log, result.error);
    if (!result.log.empty())
        detail::log_debug(std::string(spec.entry) + " for " + target_ + ":\n" + shorten(result.log));
    return std::move(result.image);
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
