#pragma once
// Keys that are sorted by codes in an array of their own: bool, and floats with NaN last.

#include <concord/expression.hpp>
#include <concord/sort.hpp>

namespace concord::detail {

inline bool sorts_by_codes(const ElementType& type, const SortBy& by) {
    return is_boolean(type) || (by.nan == NanOrder::last && is_float(type));
}

// Elements as kernels move them: those of bool are bytes.
inline View as_bytes(View view) {
    if (is_boolean(view.type)) view.type = Type::u8;
    return view;
}
inline NdView as_bytes(const NdView& view) {
    return {as_bytes(view.range()), view.extents(), view.strides(), view.origin()};
}

// The codes of keys, unsigned integers of their size in the order that `by` asks for.
struct SortCodes {
    Type type;  // of the codes
    Type bits;  // as which kernels read keys
    SortBy by;  // the order of the codes

    SortCodes(const ElementType& type, const SortBy& by);
    // keys: of type `bits`.
    ExpressionPointer node(ExpressionPointer keys) const;
    // Stores the codes of a range.
    void store(Stream& stream, View keys, const View& to) const;

  private:
    bool is_descending_;
};

// sort() and sort_pairs() of operands that are checked.
Enqueued sort_by_codes(Stream& stream, const View& in, const View& values_in, const View& out,
                       const View& values_out, const SortBy& by, const Options& options);

// Throws invalid_argument unless indices of lines of n elements fit the type.
void check_places(std::string_view call, u64 n, Type type);

}  // namespace concord::detail
