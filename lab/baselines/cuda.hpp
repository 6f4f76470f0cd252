#pragma once
// Streams and devices for libraries on CUDA's runtime API.

#include "rows.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

namespace concord::baselines {

inline void check(const char* call, cudaError_t error) {
    if (error != cudaSuccess)
        throw Error(ErrorCode::device_failed, call, cudaGetErrorString(error), cudaGetErrorName(error));
}

// Makes the view's device current for the calling thread, which the libraries require.
inline void use_device_of(const View& view) {
    cudaPointerAttributes attributes{};
    check("cudaPointerGetAttributes", cudaPointerGetAttributes(&attributes, lab::native_pointer<void>(view)));
    check("cudaSetDevice", cudaSetDevice(attributes.device));
}

inline cudaStream_t queue_of(Stream& stream) {
    return static_cast<cudaStream_t>(stream.native_handle());
}

// Allocates the scratch memory that `run` requests, and returns the call. CUB's functions take a pointer, which is null
// to request, and a size.
template <class Run>
Call with_scratch(Stream& stream, Run run) {
    std::size_t bytes = 0;
    run(nullptr, bytes);
    return [run, bytes, scratch = stream.scratch(std::max<u64>(bytes, 1))]() mutable {
        run(scratch->native_handle(), bytes);
    };
}

}  // namespace concord::baselines
