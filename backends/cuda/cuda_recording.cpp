#include "cuda_recording.hpp"

#include <concord/log.hpp>

namespace concord::cuda {

CudaGraph::~CudaGraph() {
    const UncapturedCurrent current(*context_);
    // The driver destroys a running graph when it has ended.
    if (current.entered()) context_->driver.graph_exec_destroy(graph_);
}

void CudaGraph::launch(CUstream stream) const {
    context_->driver.check(context_->driver.graph_launch(graph_, stream), "Recording::replay",
                           "cuGraphLaunch");
}

CudaCapture::CudaCapture(std::shared_ptr<Context> context) : context_(std::move(context)) {
    const Driver& driver = context_->driver;
    constexpr const char* call = "Stream::end_recording";
    driver.check(driver.stream_create(&stream_, CU_STREAM_NON_BLOCKING), call, "cuStreamCreate");
    // Relaxed, because calls of other threads (allocations, event queries) do not concern this stream.
    const CUresult result = driver.stream_begin_capture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (result != CUDA_SUCCESS) {
        driver.stream_destroy(stream_);
        driver.fail(result, call, "cuStreamBeginCapture");
    }
    capturing_ = true;
}

CudaCapture::~CudaCapture() {
    const Driver& driver = context_->driver;
    if (capturing_) {
        CUgraph graph = nullptr;
        if (driver.stream_end_capture(stream_, &graph) == CUDA_SUCCESS && graph != nullptr)
            driver.graph_destroy(graph);
    }
    driver.stream_destroy(stream_);
}

std::shared_ptr<CudaGraph> CudaCapture::end() {
    const Driver& driver = context_->driver;
    CUgraph graph = nullptr;
    CUgraphExec made = nullptr;
    capturing_ = false;
    CUresult result = driver.stream_end_capture(stream_, &graph);
    if (result == CUDA_SUCCESS) {
        result = driver.graph_instantiate(&made, graph, 0);
        driver.graph_destroy(graph);
    }
    if (result == CUDA_SUCCESS) return std::make_shared<CudaGraph>(context_, made);
    detail::log_info("a recording is replayed launch by launch, because the driver cannot create a graph: " +
                     driver.describe(result));
    return nullptr;
}

}  // namespace concord::cuda
