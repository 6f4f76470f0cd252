// Files of `concord bench --json` and `concord check --json` that `concord study --from` imports.

#include "fuzz.hpp"

#include <concord/study/internal/study.hpp>

#include <sstream>

using namespace concord;
using namespace concord::fuzz;
using namespace concord::study;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream content{std::string(text_of(data, size))};
    Records records;
    records.run = {
        {"kind", "run"},
        {"schema", 1},
        {"version", "0"},
        {"date", "2026-01-01"},
        {"quick", true},
        {"machine", {{"cpu", "a"}, {"cores", 1}, {"memory_bytes", 1}, {"os", "b"}, {"compiler", "c"}}}};
    if (!accepts(ErrorCode::io, [&] { records.files = {line_of_content(content, "bench.json")}; })) return 0;
    require(!report(records, [](const std::string&, const std::string&) {}).empty(), "the report has a page");
    markdown(records);
    results_json(records);
    return 0;
}
