#pragma once
/// @file
/// Arrays in NumPy's .npy files, for programs that compare a port with its original.
///
///     const auto [values, shape] = port::read_npy<f32>("x.npy");
///     port::write_npy("y.npy", values, shape);

#include <concord/types.hpp>

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

namespace concord {

namespace detail {
// `room`: gives memory for that number of elements.
std::vector<u64> read_npy(const std::filesystem::path& path, Type type,
                          const std::function<void*(u64 count)>& room);
void write_npy(const std::filesystem::path& path, Type type, std::span<const std::byte> values,
               const std::vector<u64>& shape);
}  // namespace detail

/// Helpers for programs that are ported from other libraries.
namespace port {

/// An array in host memory.
template <class T>
struct NpyArray {
    std::vector<T> values;   ///< elements in C order: the last axis is contiguous
    std::vector<u64> shape;  ///< length of each axis; empty for a single value
};

/// Reads a file of elements of type T. Throws io if the file cannot be read. Throws invalid_argument, naming file and
/// value, if its elements have another type or byte order, if they are in Fortran order, or if the file is truncated.
template <class T>
NpyArray<T> read_npy(const std::filesystem::path& path) {
    NpyArray<T> array;
    if constexpr (std::is_same_v<T, bool>) {
        std::vector<u8> bytes;  // any but 0 is true
        array.shape = detail::read_npy(path, type_of<T>(), [&](u64 count) {
            bytes.resize(count);
            return bytes.data();
        });
        array.values.assign(bytes.begin(), bytes.end());
    } else {
        array.shape = detail::read_npy(path, type_of<T>(), [&](u64 count) {
            array.values.resize(count);
            return array.values.data();
        });
    }
    return array;
}

/// Writes a file of format 1.0, which appears whole or not at all. Throws invalid_argument if the shape has another
/// number of elements than `values`, and io.
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values, const std::vector<u64>& shape) {
    detail::write_npy(path, type_of<T>(), std::as_bytes(values), shape);
}
/// The same for a vector.
template <class T>
void write_npy(const std::filesystem::path& path, const std::vector<T>& values,
               const std::vector<u64>& shape) {
    if constexpr (std::is_same_v<T, bool>) {
        const std::vector<u8> bytes(values.begin(), values.end());
        detail::write_npy(path, Type::boolean, std::as_bytes(std::span(bytes)), shape);
    } else {
        write_npy(path, std::span<const T>(values), shape);
    }
}

}  // namespace port
}  // namespace concord
