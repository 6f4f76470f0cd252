// Results files of studies, and the reports of what they hold.

#include "fuzz_study.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream content{std::string(text_of(data, size))};
    Records records;
    if (!accepts(ErrorCode::io, [&] { records = records_of(content, "results.jsonl"); })) return 0;
    require(records.results.size() == records.lines.size(), "every result has its line");
    report_all(records);
    compare(records, records, "a", "b");
    return 0;
}
