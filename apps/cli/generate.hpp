#pragma once
/// `--generate KIND`: a volume that is made where it is needed, part by part, instead of read.

#include "input_array.hpp"
#include "program.hpp"

#include <memory>
#include <string>

namespace concord::app {

/// The options, and the volume that they ask for.
class Generate {
  public:
    void add_options(CLI::App& command);
    /// Null where --generate is not given. Throws invalid_argument for options that make no sense.
    std::unique_ptr<InputArray> volume() const;

  private:
    const CLI::Option* option_ = nullptr;
    std::string kind_, shape_, type_ = "f32", seed_ = "0";
};

}  // namespace concord::app
