#pragma once
// Inputs of `concord run`: arrays in files and generated arrays.

#include <concord/pipeline_io.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace concord::app {

using Shape = std::vector<u64>;

// "(3, 4)", as Python prints a shape.
std::string shape_name(const Shape& shape);

// How an array was generated. The elements depend on this, the type and the shape only.
struct Generation {
    std::string kind;
    u64 seed = 0;
};

// An array. Several threads may read any parts of it at the same time.
class InputArray {
  public:
    InputArray() = default;
    virtual ~InputArray() = default;
    InputArray(const InputArray&) = delete;
    InputArray& operator=(const InputArray&) = delete;

    // Its name in messages.
    virtual std::string name() const = 0;
    // The text of its progress bar.
    virtual std::string reading() const = 0;
    // Its file; empty for a generated array.
    virtual std::filesystem::path path() const { return {}; }
    // How it was generated; empty for a file.
    virtual std::optional<Generation> generation() const { return {}; }
    virtual const Shape& shape() const = 0;
    virtual const PipelineSource& source() const = 0;

    Type type() const { return source().type(); }
    u64 count() const { return source().count(); }
    u64 bytes() const { return source().bytes(); }
    // "f32 (3, 4)", "random f32 (3, 4)".
    std::string description() const;
    // All elements of a small array.
    std::vector<std::byte> elements() const;
};

}  // namespace concord::app
