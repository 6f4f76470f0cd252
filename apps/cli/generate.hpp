#pragma once
// `--generate KIND`: a volume that is generated part by part instead of read from a file.

#include "input_array.hpp"
#include "program.hpp"

#include <memory>
#include <string>

namespace concord::app {

// The shape that `--shape` names, such as "4x5". Throws invalid_argument for any other text, with the example in the
// message.
Shape shape_of(const std::string& text, const char* example);
// The same for three lengths.
Shape volume_shape_of(const std::string& text);
// The number of elements. `text`: the shape in messages. Throws invalid_argument unless they have at most 2^60 bytes,
// so that sums of a few arrays do not overflow.
u64 points_of(const Shape& shape, Type type, const std::string& text);

// The options, and the volume that they describe.
class Generate {
  public:
    void add_options(CLI::App& command);
    // Null without --generate. Throws invalid_argument for invalid options.
    std::unique_ptr<InputArray> volume() const;

  private:
    const CLI::Option* option_ = nullptr;
    std::string kind_, shape_, type_ = "f32", seed_ = "0";
};

}  // namespace concord::app
