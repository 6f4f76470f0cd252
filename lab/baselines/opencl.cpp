// Baseline of the OpenCL driver: its own copy.

#include "opencl.hpp"

namespace concord::baselines {
namespace {

Call copy(Stream& stream, const Work& work, Views in, Views out) {
    return [queue = queue_of(stream), from = in[0], to = out[0], bytes = work.inputs[0].bytes()] {
        check("clEnqueueCopyBuffer", clEnqueueCopyBuffer(queue, memory_of(from), memory_of(to), from.offset,
                                                         to.offset, bytes, 0, nullptr, nullptr));
    };
}

void opencl(std::vector<Baseline>& list) {
    append(list, {"enqueue_copy", "clEnqueueCopyBuffer", "opencl"},
           {{"map", {"copy"}, any_type, copy, "clEnqueueCopyBuffer"}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::opencl)
