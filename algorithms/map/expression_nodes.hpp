#pragma once
// The parts of expressions, and what is made of them for the devices.

#include <concord/internal/input.hpp>
#include <concord/internal/language.hpp>
#include <concord/kernel.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace concord::detail {

inline constexpr u32 max_parts = 24, max_inputs = 8;

// What a strided node is in the line of an array view that a kernel combines, besides the elements that it selects:
// its index in the line, or an element for each line. Kernels with lines need no division for these.
enum class LineRole : u8 { none, index, value };

// select: elements and a flag for each, which is not an input of other nodes; see select_node().
enum class ExpressionKind : u8 { range, counting, constant, transform, gather, strided, convert, select };

struct ExpressionNode {
    ExpressionKind kind;
    Type type;
    u64 count = any_count;
    std::vector<ExpressionPointer> inputs = {};
    u32 parts = 1;  // nodes of the tree

    View view = {};                      // range
    std::vector<std::byte> values = {};  // arguments of the node: see compiled()
    // transform
    const Operator* op = nullptr;
    BlockKernel kernel = {};
    bool works_on_bits = false;     // the function takes the bits of floats
    bool needs_exact_sqrt = false;  // see MapFunctionTraits
    // strided
    u32 rank = 0;
    LineRole role = LineRole::none;
    bool reports = false;  // gather: kernels report indices that are out of range
};

// A node on the CPU. Its arguments follow those of the nodes before it.
struct BlockStep {
    ExpressionKind kind;
    Type type;
    u32 argument = 0;              // number of its first argument
    std::vector<u32> inputs = {};  // steps
    std::vector<Type> input_types = {};
    HostKernel kernel = {};
    bool is_map = false, is_flags = false;
    u32 rank = 0;
    bool reports = false;
};

// The source of an expression in a language: its functions, which come before all files, so that no macro of these has
// the name of something in a function; and Leaves, LEAVES, AT_LEAVES, Streams, CONCORD_STREAMS and concord_element_of
// for input.kernel, and for a select node CONCORD_SELECTED, FlagStreams, CONCORD_FLAG_STREAMS and concord_selected_of.
// Streams are the ranges that are read at the index of the element itself.
struct ExpressionText {
    std::string functions, element;
};

struct CompiledExpression {
    std::vector<BlockStep> steps;  // the expression, then its inputs, depth first
    ExpressionText text[std::size(languages)];

    // Sources with the expression, by the hash of the source without.
    const KernelSource& with(const KernelSource& source) const;

  private:
    struct Less {
        bool operator()(const ContentHash& a, const ContentHash& b) const {
            return a.low != b.low ? a.low < b.low : a.high < b.high;
        }
    };
    mutable std::mutex mutex_;
    mutable std::map<ContentHash, std::unique_ptr<KernelSource>, Less> sources_;
};

ExpressionText expression_source(const ExpressionNode& node, const Language& language);

// The node as an immutable part. Throws invalid_argument if there are too many parts.
ExpressionPointer made(std::string_view call, ExpressionNode node);
// The size that all inputs with a range have. Throws invalid_argument if there are two.
u64 count_of_all(std::string_view call, const std::vector<ExpressionPointer>& inputs);

// The size of the widest elements that the expression reads, or 1.
u32 widest_range(const Input& in);

// The number of arguments of a node in a launch, without those of its inputs.
inline u32 argument_count(const ExpressionNode& node) {
    if (node.kind == ExpressionKind::convert || node.kind == ExpressionKind::select) return 0;
    return node.kind == ExpressionKind::counting || node.reports ? 2 : 1;
}

}  // namespace concord::detail
