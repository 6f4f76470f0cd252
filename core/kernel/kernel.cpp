#include <concord/backend/kernel.hpp>
#include <concord/error.hpp>
#include <concord/internal/embedded_source.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/log.hpp>

#include <concord/internal/kernel_key.hpp>
#include <concord/internal/language.hpp>
#include <concord/internal/once.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace concord {
namespace {

// The element types and the conversions of storage types.
std::string type_definitions(const detail::Language& language) {
    std::string text(language.before);
    for (const detail::TypeRow& row : detail::type_rows) {
        if (row.kind == TypeKind::boolean) continue;
        const std::string_view spelling = row.*language.spelling;
        const bool guarded =
            !language.f64_macro.empty() && row.kind == TypeKind::floating_point && row.size == sizeof(f64);
        if (guarded) text.append("#ifdef ").append(language.f64_macro).append("\n");
        if (spelling.empty())
            text.append("typedef struct { ").append(name_of(row.bits)).append(" bits; } ");
        else
            text.append("typedef ").append(spelling).append(" ");
        text.append(row.name).append(";\n").append(row.conversions.*language.conversions);
        if (guarded) text += "#endif\n";
    }
    return text.append(language.constants);
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
        const std::string_view whole = file.name;
        for (const std::string_view included : {whole, whole.substr(0, whole.find('.'))}) {
            const std::string line = "#include \"" + std::string(included) + "\"";
            if (const std::size_t at = text.find(line); at != std::string::npos) text.erase(at, line.size());
        }
    }
    detail::log_info("CONCORD_KERNELS: " + std::string(name) + " is read from " + path.string());
    return text;
}

// Throws invalid_argument for a suffix of no language, and for one that occurs twice.
void check_suffixes(std::string_view name, const std::vector<LanguageSource>& sources) {
    for (const LanguageSource& source : sources) {
        std::string known;
        bool is_known = false;
        for (const detail::Language& language : detail::languages) {
            if (!language.is_compiled()) continue;
            is_known = is_known || language.suffix == source.suffix;
            known.append(known.empty() ? "" : ", ").append(language.suffix);
        }
        const auto fail = [&](std::string_view what, const std::string& advice) {
            throw Error(ErrorCode::invalid_argument, "KernelSource",
                        detail::error_message(std::string(what) + " of " + detail::quoted(name),
                                              detail::quoted(source.suffix), advice));
        };
        if (!is_known) fail("unknown suffix", "available: " + known);
        if (std::ranges::count(sources, source.suffix, &LanguageSource::suffix) > 1)
            fail("duplicate suffix", "list all files of the language in one LanguageSource");
    }
}

}  // namespace

KernelSource::KernelSource(std::string_view name, std::vector<SourceFile> cuda,
                           std::vector<SourceFile> opencl, CompileOptions cuda_options,
                           CompileOptions opencl_options)
    : KernelSource(name, {{.suffix = detail::language_of(Dialect::cuda).suffix,
                           .files = std::move(cuda),
                           .options = std::move(cuda_options)},
                          {.suffix = detail::language_of(Dialect::opencl).suffix,
                           .files = std::move(opencl),
                           .options = std::move(opencl_options)}}) {}

KernelSource::KernelSource(std::string_view name, std::vector<LanguageSource> sources)
    : name_(name), sources_(std::move(sources)) {
    check_suffixes(name_, sources_);
    // Each text follows its length, so that different lists of texts never give the same string.
    std::string all;
    auto add = [&](std::string_view text) {
        all.append(std::to_string(text.size())).append(":").append(text);
    };
    add(name_);
    for (const LanguageSource& source : sources_) {
        add(source.suffix);
        all.append(std::to_string(source.files.size())).append(" files,");
        for (const SourceFile& file : source.files) {
            add(file.name);
            add(file.text);
            all.append(std::to_string(file.line)).append(",");
        }
        for (const std::vector<std::string>* list :
             {&source.options.include_folders, &source.options.flags}) {
            all.append(std::to_string(list->size())).append(" options,");
            for (const std::string& option : *list)
                add(option);
        }
        all.append(source.options.allow_inexact ? "inexact," : "exact,");
    }
    content_ = detail::content_hash(all);
}

detail::EmbeddedFile::operator SourceFile() const {
    return {name, std::string_view(text, size)};
}

const KernelSource& detail::embedded_source(const char* name, const EmbeddedLanguage* languages) {
    std::vector<LanguageSource> sources;
    for (; languages->suffix != nullptr; ++languages) {
        LanguageSource& source = sources.emplace_back(LanguageSource{.suffix = languages->suffix});
        for (const EmbeddedFile* const* file = languages->files; *file != nullptr; ++file)
            source.files.push_back(**file);
    }
    return *new KernelSource(name, std::move(sources));
}

const LanguageSource& KernelSource::in(Dialect dialect) const {
    static const LanguageSource none;
    const detail::Language& language = detail::language_of(dialect);
    if (!language.is_compiled())
        throw Error(
            ErrorCode::unsupported, "KernelSource",
            "kernels in " + std::string(language.name) +
                " are functions, compiled ahead of time, and have no source; expected another language");
    const auto found = std::find_if(sources_.begin(), sources_.end(), [&](const LanguageSource& source) {
        return source.suffix == language.suffix;
    });
    return found == sources_.end() ? none : *found;
}

bool KernelSpec::is_written_in(Dialect dialect) const {
    if (!detail::language_of(dialect).is_compiled()) return static_cast<bool>(host);
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

std::string detail::operator_source(const Operator& op, Dialect dialect) {
    std::string text;
    const std::string_view qualifier = detail::language_of(dialect).function;
    std::vector<std::string_view> functions;
    for (const Operator::Helper& helper : op.helpers) {
        if (!helper.is_struct) functions.push_back(helper.name);
    }
    const auto define = [&](const std::string& definition, const std::string& file, u32 line,
                            bool is_struct = false) {
        text.append("#line ").append(std::to_string(line)).append(" \"").append(file).append("\"\n");
        text.append(is_struct ? "" : qualifier)
            .append(detail::in_language(definition, dialect, functions))
            .append("\n");
    };
    for (const Operator::Helper& helper : op.helpers)
        define(helper.text, helper.file, helper.line, helper.is_struct);
    define(op.text, op.file, op.line);
    text.append("#line 1 \"operator\"\n");
    text += "typedef struct {";
    u64 bytes = 0;
    for (std::size_t i = 0; i < op.bound.size(); ++i) {
        const u64 size = size_of(op.bound[i]);
        bytes = (bytes + size - 1) / size * size + size;
        text.append(" ")
            .append(name_of(detail::kernel_type(op.bound[i])))
            .append(" v")
            .append(std::to_string(i))
            .append(";");
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
    return text;
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
    if (spec.op != nullptr) text += detail::operator_source(*spec.op, dialect);
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
    return type_definitions(detail::language_of(dialect)) + detail::vocabulary_for(text) + text;
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
