#pragma once
// NVRTC, the library that compiles CUDA C++ to machine code, opened at run time. It works without a driver and without
// a GPU.

#include <concord/types.hpp>

#include <nvrtc.h>

#include <string>
#include <vector>

#include "cuda_library.hpp"

namespace concord::cuda {

#define CONCORD_NVRTC_FUNCTIONS(X)                         \
    X(version_, nvrtcVersion)                              \
    X(get_error_string_, nvrtcGetErrorString)              \
    X(get_num_supported_archs_, nvrtcGetNumSupportedArchs) \
    X(get_supported_archs_, nvrtcGetSupportedArchs)        \
    X(create_program_, nvrtcCreateProgram)                 \
    X(destroy_program_, nvrtcDestroyProgram)               \
    X(add_name_expression_, nvrtcAddNameExpression)        \
    X(get_lowered_name_, nvrtcGetLoweredName)              \
    X(compile_program_, nvrtcCompileProgram)               \
    X(get_cubin_size_, nvrtcGetCUBINSize)                  \
    X(get_cubin_, nvrtcGetCUBIN)                           \
    X(get_ptx_size_, nvrtcGetPTXSize)                      \
    X(get_ptx_, nvrtcGetPTX)                               \
    X(get_program_log_size_, nvrtcGetProgramLogSize)       \
    X(get_program_log_, nvrtcGetProgramLog)

// A header that is in memory.
struct MemoryHeader {
    std::string name;  // as in the #include directive
    std::string text;
};

// The functions of libnvrtc. The process has one object. Any thread may use it.
class Nvrtc {
  public:
    // What is compiled.
    struct Input {
        std::string text;
        std::string name;  // for messages about lines before the first #line
        std::vector<std::string> options;
        std::vector<MemoryHeader> headers;  // found before those in folders
        std::string expression;             // names the kernel; empty for a kernel that is extern "C"
    };
    // The result of a compilation: an image or an error.
    struct Result {
        std::string image;  // machine code, or PTX with a terminating zero
        std::string entry;  // the kernel's name in the image if an expression names it
        std::string error;  // NVRTC's name of the error; empty on success
        std::string log;    // the compiler's log, including warnings
    };
    enum class Output { cubin, ptx };

    // Throws unavailable. The message names the searched folders.
    static const Nvrtc& get();

    int major() const { return major_; }
    // "NVRTC 13.0"
    const std::string& title() const { return title_; }
    // Distinguishes builds of one version, for cache keys.
    const std::string& fingerprint() const { return fingerprint_; }
    std::string path() const { return library_.path(); }
    // 75 for sm_75, ascending.
    const std::vector<u32>& architectures() const { return architectures_; }
    // "sm_75, sm_80, ..."
    std::string architecture_list() const;

    Result compile(const Input& input, Output output) const;

  private:
    Nvrtc();
    void search();

#define CONCORD_NVRTC_MEMBER(name, function) decltype(&::function) name = nullptr;
    CONCORD_NVRTC_FUNCTIONS(CONCORD_NVRTC_MEMBER)
#undef CONCORD_NVRTC_MEMBER

    SharedLibrary library_;
    int major_ = 0;
    std::string title_;
    std::string fingerprint_;
    std::vector<u32> architectures_;
};

}  // namespace concord::cuda
