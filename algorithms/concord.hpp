#pragma once
/// All of Concord: devices, buffers, streams, operators, algorithms, ranks.

#include <concord/add.hpp>
#include <concord/compact.hpp>
#include <concord/convolve.hpp>
#include <concord/distributed.hpp>
#include <concord/distributed_stencil.hpp>
#include <concord/histogram.hpp>
#include <concord/map.hpp>
#include <concord/matmul.hpp>
#include <concord/pipeline.hpp>
#include <concord/recording.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>
#include <concord/sort.hpp>
#include <concord/span.hpp>
#include <concord/stencil.hpp>
#include <concord/trace.hpp>
#include <concord/transpose.hpp>
