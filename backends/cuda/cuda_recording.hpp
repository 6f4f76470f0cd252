#pragma once
// Recordings as CUDA graphs.

#include "cuda_context.hpp"

#include <memory>

namespace concord::cuda {

/// A graph, ready to be launched.
class CudaGraph {
  public:
    CudaGraph(std::shared_ptr<Context> context, CUgraphExec graph)
        : context_(std::move(context)), graph_(graph) {}
    ~CudaGraph();
    CudaGraph(const CudaGraph&) = delete;
    CudaGraph& operator=(const CudaGraph&) = delete;

    /// Enqueues it; the context is current.
    void launch(CUstream stream) const;

  private:
    std::shared_ptr<Context> context_;
    CUgraphExec graph_;
};

/// A stream of its own that makes a graph of what is put into it, so that others may go on asking the real one.
class CudaCapture {
  public:
    /// Begins; the context is current, here and below.
    explicit CudaCapture(std::shared_ptr<Context> context);
    ~CudaCapture();
    CudaCapture(const CudaCapture&) = delete;
    CudaCapture& operator=(const CudaCapture&) = delete;

    CUstream stream() const { return stream_; }
    /// Ends; null, with a line in the log, if the driver makes no graph of it.
    std::shared_ptr<CudaGraph> end();

  private:
    std::shared_ptr<Context> context_;
    CUstream stream_ = nullptr;
    bool capturing_ = false;
};

}  // namespace concord::cuda
