#pragma once
// The kernel sources that cmake/embed.cmake writes. Includes nothing, because its users are many and contain only text.

namespace concord {

class KernelSource;
struct SourceFile;

namespace detail {

// A file of text.
struct EmbeddedFile {
    const char* name;
    const char* text;
    unsigned long size;  // of the text, in bytes

    template <unsigned long N>
    constexpr EmbeddedFile(const char* file, const char (&literal)[N])
        : name(file), text(literal), size(N - 1) {}
    operator SourceFile() const;
};

// The files of one language, dependencies first.
struct EmbeddedLanguage {
    const char* suffix;
    const EmbeddedFile* const* files;  // ends with a null
};

// A new source, which lives as long as the process. `languages` ends with one without a suffix.
const KernelSource& embedded_source(const char* name, const EmbeddedLanguage* languages);

}  // namespace detail
}  // namespace concord
