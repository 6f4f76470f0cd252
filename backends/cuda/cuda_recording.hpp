#pragma once
// Recordings as CUDA graphs.

#include "cuda_context.hpp"

#include <memory>

namespace concord::cuda {

// An executable graph.
class CudaGraph {
  public:
    CudaGraph(std::shared_ptr<Context> context, CUgraphExec graph)
        : context_(std::move(context)), graph_(graph) {}
    ~CudaGraph();
    CudaGraph(const CudaGraph&) = delete;
    CudaGraph& operator=(const CudaGraph&) = delete;

    // Enqueues the graph. The context must be current.
    void launch(CUstream stream) const;

  private:
    std::shared_ptr<Context> context_;
    CUgraphExec graph_;
};

// A separate stream that captures work into a graph, so that other threads can still query the real stream.
class CudaCapture {
  public:
    // Begins the capture. The context must be current in all calls.
    explicit CudaCapture(std::shared_ptr<Context> context);
    ~CudaCapture();
    CudaCapture(const CudaCapture&) = delete;
    CudaCapture& operator=(const CudaCapture&) = delete;

    CUstream stream() const { return stream_; }
    // Ends the capture. Null, with a line in the log, if the driver cannot create a graph.
    std::shared_ptr<CudaGraph> end();

  private:
    std::shared_ptr<Context> context_;
    CUstream stream_ = nullptr;
    bool capturing_ = false;
};

}  // namespace concord::cuda
