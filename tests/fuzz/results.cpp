// Results files of studies, and the reports of what they hold.

#include "fuzz.hpp"

#include <concord/study/internal/study.hpp>

#include <sstream>

using namespace concord;
using namespace concord::fuzz;
using namespace concord::study;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream content{std::string(text_of(data, size))};
    Records records;
    if (!accepts(ErrorCode::io, [&] { records = records_of(content, "results.jsonl"); })) return 0;
    require(records.results.size() == records.lines.size(), "every result has its line");
    require(!report(records, [](const std::string&, const std::string&) {}).empty(), "the report has a page");
    markdown(records);
    results_json(records);
    compare(records, records, "a", "b");
    return 0;
}
