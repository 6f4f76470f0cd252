// Baselines for `add` that are right, damaged, or right by another contract.
#include <concord/lab/baseline.hpp>

#include <concord/device.hpp>
#include <concord/stream.hpp>

using namespace concord;
using lab::native_pointer;

namespace {

// Adds f32 vectors. The first `wrong` sums are off by one.
auto adding(u64 wrong) {
    return [wrong](Stream&, const lab::Work& work, std::span<const View> in, std::span<const View> out) {
        return [wrong, n = work.n, a = native_pointer<f32>(in[0]), b = native_pointer<f32>(in[1]),
                to = native_pointer<f32>(out[0])] {
            for (u64 i = 0; i < n; ++i)
                to[i] = a[i] + b[i] + (i < wrong ? 1.0F : 0.0F);
        };
    };
}

void peers(std::vector<lab::Baseline>& list) {
    const auto supports = [](const Device& device, const lab::Work& work) {
        return device.info().backend == "tbb" && work.type() == Type::f32
                   ? detail::Support{}
                   : detail::Support::no("f32 on tbb only");
    };
    const auto row = [&](const char* name, u64 wrong, const char* contract) {
        lab::Baseline baseline;
        baseline.algorithm = "add";
        baseline.name = name;
        baseline.library = "Peer 1.0";
        baseline.backend = "tbb";
        baseline.call = [](const lab::Work&) { return "peer::add"; };
        baseline.supports = supports;
        baseline.prepare = adding(wrong);
        baseline.blocking = true;
        baseline.contract = contract;
        list.push_back(std::move(baseline));
    };
    row("exact", 0, "");
    row("damaged", 1, "");
    row("other_contract", 1, "adds one to the first sum");
}

}  // namespace

CONCORD_BASELINE_MODULE(peers)
