#include <concord/backend/kernel.hpp>
#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/log.hpp>

#include <concord/internal/kernel_key.hpp>
#include <concord/internal/once.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace concord {
namespace {

// Constants of C's headers that CUDA C++ has only after an include, and names that OpenCL C lacks or defines otherwise.
constexpr std::string_view cuda_constants = R"(#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1p-1022
#define DBL_EPSILON 0x1p-52
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffu
#define M_E 0x1.5bf0a8b145769p1
#define M_LOG2E 0x1.71547652b82fep0
#define M_LOG10E 0x1.bcb7b1526e50ep-2
#define M_LN2 0x1.62e42fefa39efp-1
#define M_LN10 0x1.26bb1bbb55516p1
#define M_PI 0x1.921fb54442d18p1
#define M_PI_2 0x1.921fb54442d18p0
#define M_PI_4 0x1.921fb54442d18p-1
#define M_1_PI 0x1.45f306dc9c883p-2
#define M_2_PI 0x1.45f306dc9c883p-1
#define M_2_SQRTPI 0x1.20dd750429b6dp0
#define M_SQRT2 0x1.6a09e667f3bcdp0
#define M_SQRT1_2 0x1.6a09e667f3bcdp-1
)";
constexpr std::string_view opencl_constants = R"(#undef NAN
#define NAN as_float(0x7fc00000u)
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
)";

// The element types and the conversions of storage types.
std::string type_definitions(Dialect dialect) {
    const bool cuda = dialect == Dialect::cuda;
    std::string text = cuda ? "" : "#pragma OPENCL FP_CONTRACT OFF\n";
    for (const detail::TypeRow& row : detail::type_rows) {
        const std::string_view spelling = cuda ? row.cuda : row.opencl;
        // Without CONCORD_FP64, OpenCL C rejects even the name `double`.
        const bool guarded = !cuda && row.kind == TypeKind::floating_point && row.size == sizeof(f64);
        if (guarded) text += "#ifdef CONCORD_FP64\n";
        if (spelling.empty())
            text.append("typedef struct { ").append(name_of(row.bits)).append(" bits; } ");
        else
            text.append("typedef ").append(spelling).append(" ");
        text.append(row.name).append(";\n").append(cuda ? row.conversions.cuda : row.conversions.opencl);
        if (guarded) text += "#endif\n";
    }
    return text.append(cuda ? cuda_constants : opencl_constants);
}

// Before the operator's functions.
std::string_view function_qualifier(Dialect dialect) {
    return dialect == Dialect::cuda ? "static __device__ __forceinline__ " : "static inline ";
}

// Appends the operator's function, the struct of bound values, and apply().
void append_operator(std::string& text, const Operator& op, Dialect dialect) {
    const std::string_view qualifier = function_qualifier(dialect);
    std::vector<std::string_view> functions(op.helpers.size());
    std::transform(op.helpers.begin(), op.helpers.end(), functions.begin(),
                   [](const Operator::Helper& helper) { return std::string_view(helper.name); });
    const auto define = [&](const std::string& definition, const std::string& file, u32 line) {
        text.append("#line ").append(std::to_string(line)).append(" \"").append(file).append("\"\n");
        text.append(qualifier).append(detail::in_language(definition, dialect, functions)).append("\n");
    };
    for (const Operator::Helper& helper : op.helpers)
        define(helper.text, helper.file, helper.line);
    define(op.text, op.file, op.line);
    text.append("#line 1 \"operator\"\n");
    text += "typedef struct {";
    u64 bytes = 0;
    for (std::size_t i = 0; i < op.bound.size(); ++i) {
        const u64 size = size_of(op.bound[i]);
        bytes = (bytes + size - 1) / size * size + size;
        text.append(" ").append(name_of(op.bound[i])).append(" v").append(std::to_string(i)).append(";");
    }
    if (op.bound.empty()) text += " u32 unused;";
    // Rounds the size up to whole words, like detail::BoundLayout on the host.
    if (bytes % 4 != 0) text.append(" u8 padding[").append(std::to_string(4 - bytes % 4)).append("];");
    text += " } Op;\n";

    text.append(qualifier).append(name_of(op.result)).append(" apply(const Op op");
    for (std::size_t i = 0; i < op.arguments.size(); ++i)
        text.append(", ").append(name_of(op.arguments[i])).append(" a").append(std::to_string(i));
    text += ") { return concord_function(";
    const char* comma = "";
    for (std::size_t i = 0; i < op.arguments.size(); ++i, comma = ", ")
        text.append(comma).append("a").append(std::to_string(i));
    for (std::size_t i = 0; i < op.bound.size(); ++i, comma = ", ")
        text.append(comma).append("op.v").append(std::to_string(i));
    text += "); }\n";
}

// The content of the file with that name in the folder CONCORD_KERNELS, if there is one. Lines that include files of
// the source become empty, as in embedded files: these files precede it.
std::optional<std::string> text_from_folder(std::string_view name, const std::vector<SourceFile>& files) {
    namespace fs = std::filesystem;
    const std::string_view folder = detail::environment_variable("CONCORD_KERNELS");
    if (folder.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
    std::error_code problem;
    if (!fs::is_directory(folder, problem))
        throw Error(ErrorCode::io, "CONCORD_KERNELS",
                    detail::error_message("no such folder", detail::quoted(folder),
                                          "unset it or name a folder of kernel sources"));
    const fs::path path = fs::path(folder) / name;
    if (fs::status(path, problem).type() == fs::file_type::not_found) return std::nullopt;
    std::string text = detail::text_of_file(path, "CONCORD_KERNELS");
    for (const SourceFile& file : files) {
        const std::string line = "#include \"" + std::string(file.name) + "\"";
        if (const std::size_t at = text.find(line); at != std::string::npos) text.erase(at, line.size());
    }
    detail::log_info("CONCORD_KERNELS: " + std::string(name) + " is read from " + path.string());
    return text;
}

}  // namespace

KernelSource::KernelSource(std::string_view name, std::vector<SourceFile> cuda,
                           std::vector<SourceFile> opencl, CompileOptions cuda_options,
                           CompileOptions opencl_options)
    : name_(name),
      cuda_(std::move(cuda)),
      opencl_(std::move(opencl)),
      cuda_options_(std::move(cuda_options)),
      opencl_options_(std::move(opencl_options)) {
    // Each text follows its length, so that different lists of texts never give the same string.
    std::string all;
    auto add = [&](std::string_view text) {
        all.append(std::to_string(text.size())).append(":").append(text);
    };
    add(name_);
    for (const std::vector<SourceFile>* files : {&cuda_, &opencl_}) {
        all.append(std::to_string(files->size())).append(" files,");
        for (const SourceFile& file : *files) {
            add(file.name);
            add(file.text);
            all.append(std::to_string(file.line)).append(",");
        }
    }
    for (const CompileOptions* options : {&cuda_options_, &opencl_options_}) {
        for (const std::vector<std::string>* list : {&options->include_folders, &options->flags}) {
            all.append(std::to_string(list->size())).append(" options,");
            for (const std::string& option : *list)
                add(option);
        }
        all.append(options->allow_inexact ? "inexact," : "exact,");
    }
    content_ = detail::content_hash(all);
}

const std::vector<SourceFile>& KernelSource::files(Dialect dialect) const {
    if (dialect == Dialect::host)
        throw Error(ErrorCode::unsupported, "KernelSource::files",
                    "host kernels are functions and have no source; expected the CUDA or OpenCL dialect");
    return dialect == Dialect::cuda ? cuda_ : opencl_;
}

const CompileOptions& KernelSource::options(Dialect dialect) const {
    if (dialect == Dialect::host)
        throw Error(ErrorCode::unsupported, "KernelSource::options",
                    "host kernels are compiled ahead of time; expected the CUDA or OpenCL dialect");
    return dialect == Dialect::cuda ? cuda_options_ : opencl_options_;
}

bool KernelSpec::is_written_in(Dialect dialect) const {
    if (dialect == Dialect::host) return static_cast<bool>(host);
    return source != nullptr && !source->files(dialect).empty();
}

std::string Constant::value() const {
    if (is_text()) return std::string(text());
    return kind_ == signed_number ? std::to_string(static_cast<i64>(number_)) : std::to_string(number_);
}

Constants& Constants::operator=(const Constants& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other);
    return *this;
}

void Constants::refuse(const Constant& constant) {
    throw Error(ErrorCode::invalid_argument, "KernelSpec",
                "too many constants, got '" + std::string(constant.name()) + "' after " +
                    std::to_string(max_count) + "; define some of them in the source");
}

std::string assemble(const KernelSpec& spec, Dialect dialect) {
    const std::vector<SourceFile>& files = spec.source->files(dialect);
    std::string text;
    // Drivers have their own caches. A source that differs every time is in none of them.
    if (spec.fresh)
        text.append("#define CONCORD_FRESH ")
            .append(std::to_string(std::chrono::system_clock::now().time_since_epoch().count()))
            .append("\n");
    for (const Constant& constant : spec.constants)
        text.append("#define ").append(constant.name()).append(" ").append(constant.value()).append("\n");
    if (spec.op != nullptr) append_operator(text, *spec.op, dialect);
    for (const SourceFile& file : files) {
        const std::optional<std::string> other = text_from_folder(file.name, files);
        text.append("#line ")
            .append(std::to_string(other ? 1 : file.line))
            .append(" \"")
            .append(file.name)
            .append("\"\n")
            .append(other ? *other : file.text)
            .append("\n");
    }
    return type_definitions(dialect) + detail::vocabulary_for(text) + text;
}

struct Kernel::Attributes {
    detail::Once asked;
    KernelAttributes answer;
};

Kernel::Kernel(Device& device, std::string name, std::unique_ptr<backend::Kernel> kernel, double compile_ms)
    : device_(device),
      name_(std::move(name)),
      kernel_(std::move(kernel)),
      parameters_(kernel_->parameters()),
      compile_ms_(compile_ms),
      attributes_(std::make_unique<Attributes>()) {}

Kernel::~Kernel() = default;

const KernelAttributes& Kernel::attributes() const {
    attributes_->asked.call([this] { attributes_->answer = kernel_->attributes(); });
    return attributes_->answer;
}

}  // namespace concord
