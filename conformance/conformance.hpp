#pragma once
/// The conformance suite: holds Concord's algorithms, and kernels of your own, to their oracles on every
/// device.

#include <concord/conformance/baseline.hpp>
#include <concord/conformance/bench.hpp>
#include <concord/conformance/check.hpp>
#include <concord/conformance/compare.hpp>
#include <concord/conformance/kernel_test.hpp>
#include <concord/conformance/measure.hpp>
