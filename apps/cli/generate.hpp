#pragma once
// `--generate KIND`: a volume that is generated part by part instead of read from a file.

#include "input_array.hpp"
#include "program.hpp"

#include <memory>
#include <string>

namespace concord::app {

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
