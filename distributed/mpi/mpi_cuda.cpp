// CUDA device memory in MPI calls. Uses the CUDA driver that the CUDA backend has loaded; nothing of CUDA is linked.

#include "mpi_communicator.hpp"

#include <concord/dlpack.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#if CONCORD_MPI_EXT_HEADER
#include <mpi-ext.h>
#endif

#include <dlfcn.h>

#include <cstdlib>

namespace concord::mpi {
namespace {

bool ask_library() {
#if CONCORD_MPI_QUERY_CUDA
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

bool decide() {
    const std::string_view asked = detail::environment_variable("CONCORD_MPI_CUDA");
    if (!asked.empty() && asked != "on" && asked != "off")
        throw Error(ErrorCode::invalid_argument, "CONCORD_MPI_CUDA",
                    detail::error_message("invalid value", detail::quoted(asked), "expected on or off"));
    const bool takes = asked.empty() ? ask_library() : asked == "on";
    detail::log_info(std::string("CUDA memory in MPI messages: ") +
                     (takes ? "direct" : "staged through pinned memory") +
                     (asked.empty() ? " (reported by the MPI library)" : " (CONCORD_MPI_CUDA)"));
    return takes;
}

// Functions of the CUDA driver; its handle types are pointers.
struct Driver {
    int (*stream_context)(void* stream, void** context) = nullptr;
    int (*push)(void* context) = nullptr;
    int (*pop)(void** context) = nullptr;

    Driver() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (library == nullptr) return;
        stream_context = reinterpret_cast<decltype(stream_context)>(dlsym(library, "cuStreamGetCtx"));
        push = reinterpret_cast<decltype(push)>(dlsym(library, "cuCtxPushCurrent_v2"));
        pop = reinterpret_cast<decltype(pop)>(dlsym(library, "cuCtxPopCurrent_v2"));
    }
    bool is_there() const { return stream_context != nullptr && push != nullptr && pop != nullptr; }
};

const Driver& driver() {
    static const Driver driver;
    return driver;
}

}  // namespace

bool takes_cuda_memory() {
    static const bool takes = decide();
    return takes;
}

bool is_cuda_memory(const Stream& stream) {
    return stream.device().traits().dlpack_type == dlpack::DeviceType::cuda;
}

CurrentContext::CurrentContext(Stream& stream) {
    if (!is_cuda_memory(stream) || !takes_cuda_memory() || !driver().is_there()) return;
    void* context = nullptr;
    pushed_ = driver().stream_context(stream.native_handle(), &context) == 0 && driver().push(context) == 0;
}

CurrentContext::~CurrentContext() {
    void* context = nullptr;
    if (pushed_) driver().pop(&context);
}

}  // namespace concord::mpi
