#pragma once
/// What `concord run` reads: arrays of files, and those that are generated.

#include <concord/pipeline_io.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace concord::app {

using Shape = std::vector<u64>;

/// "(3, 4)", as Python writes a shape.
std::string shape_name(const Shape& shape);

/// What generated an array; the elements depend on this, the type and the shape alone.
struct Generation {
    std::string kind;
    u64 seed = 0;
};

/// An array of which any part can be read at any time, by several threads at once.
class InputArray {
  public:
    InputArray() = default;
    virtual ~InputArray() = default;
    InputArray(const InputArray&) = delete;
    InputArray& operator=(const InputArray&) = delete;

    /// What messages call it.
    virtual std::string name() const = 0;
    /// What a progress bar calls reading it.
    virtual std::string reading() const = 0;
    /// The file; empty where there is none.
    virtual std::filesystem::path path() const { return {}; }
    /// What generated it, if it is no file's.
    virtual std::optional<Generation> generation() const { return {}; }
    virtual const Shape& shape() const = 0;
    virtual const PipelineSource& source() const = 0;

    Type type() const { return source().type(); }
    u64 count() const { return source().count(); }
    u64 bytes() const { return source().bytes(); }
    /// "f32 (3, 4)", "random f32 (3, 4)".
    std::string description() const;
    /// All elements, of a small array.
    std::vector<std::byte> elements() const;
};

}  // namespace concord::app
