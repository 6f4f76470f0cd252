#include <concord/error.hpp>
#include <concord/kernel.hpp>

namespace concord {
namespace {

constexpr std::string_view cuda_names = R"(typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
)";

// f64 only where the device has it: the name alone is an error elsewhere.
constexpr std::string_view opencl_names = R"(#pragma OPENCL FP_CONTRACT OFF
typedef char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef float f32;
#ifdef CONCORD_FP64
typedef double f64;
#endif
)";

// The function itself, the struct of bound values, and apply().
void append_operator(std::string& text, const Operator& op, std::string_view qualifier) {
    text.append("#line ").append(std::to_string(op.line)).append(" \"").append(op.file).append("\"\n");
    text.append(qualifier).append(op.text).append("\n#line 1 \"operator\"\n");
    text += "typedef struct {";
    for (std::size_t i = 0; i < op.bound.size(); ++i)
        text.append(" ").append(name_of(op.bound[i])).append(" v").append(std::to_string(i)).append(";");
    if (op.bound.empty()) text += " u32 unused;";
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

}  // namespace

std::string assemble(const KernelSpec& spec, Dialect dialect) {
    if (dialect == Dialect::host)
        throw Error(ErrorCode::unsupported, "assemble", "host kernels are functions, not text");
    const bool cuda = dialect == Dialect::cuda;
    std::string text(cuda ? cuda_names : opencl_names);
    for (const Constant& constant : spec.constants)
        text.append("#define ").append(constant.name).append(" ").append(constant.value).append("\n");
    if (spec.op)
        append_operator(text, *spec.op, cuda ? "static __device__ __forceinline__ " : "static inline ");
    for (const KernelText& file : cuda ? spec.source->cuda : spec.source->opencl)
        text.append("#line 1 \"").append(file.name).append("\"\n").append(file.text).append("\n");
    return text;
}

}  // namespace concord
