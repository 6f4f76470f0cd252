// Selects the results of a study.

#include <concord/study/internal/study.hpp>

#include <algorithm>
#include <tuple>

namespace concord::study {

using lab::asked_for;

std::vector<const Result*> results_of(const Study& study, const Records& records) {
    std::vector<const Result*> list;
    auto rank = [](const Suite* suite, const Result& r) {
        if (suite == nullptr) return std::size_t{0};
        std::size_t k = 0;
        while (k < suite->variants.size() && suite->variants[k]->name != r.variant)
            ++k;
        return k;
    };
    auto place = [&](const Result& r) {
        const auto& devices = records.devices;
        return std::find_if(devices.begin(), devices.end(),
                            [&](const auto& d) { return d["selector"] == r.device; }) -
               devices.begin();
    };
    const bool quick = records.run.value("quick", false);
    const auto run = records.studies.find(study.name);
    const std::vector<std::string> types =
        run == records.studies.end() ? std::vector<std::string>() : run->second;
    for (const Case& what : study.cases) {
        const Suite* suite = nullptr;
        for (const Suite& s : study_suites()) {
            if (s.name == what.suite) suite = &s;
        }
        const bool is_auto = what.variants == std::vector<std::string>{"auto"};
        std::vector<u64> sizes = what.sizes.of(quick);
        if (what.cpu_sizes) {
            const std::vector<u64>& cpu_sizes = what.cpu_sizes->of(quick);
            sizes.insert(sizes.end(), cpu_sizes.begin(), cpu_sizes.end());
        }
        std::vector<const Result*> found;
        for (const Result& r : records.results) {
            const bool workload = suite == nullptr         ? true
                                  : what.workloads.empty() ? r.workload == suite->workloads.front().name
                                                           : asked_for(what.workloads, r.workload);
            const bool variant =
                r.baseline ||
                (is_auto ? r.asked == "auto" : r.asked != "auto" && asked_for(what.variants, r.variant));
            const ordered_json* device = records.device(r.device);
            const bool threads = what.each_thread_count
                                     ? r.threads > 0
                                     : device == nullptr || r.threads == (*device)["threads"].get<u32>();
            const bool size =
                what.quarters_of_units || std::find(sizes.begin(), sizes.end(), r.n) != sizes.end();
            // A microbenchmark has one type, whatever types the user gave.
            bool type = suite == nullptr || suite->workloads.front().name == suite->name;
            for (const Type one : what.types)
                type = type || (types.empty() && r.type == name_of(one));
            type = type || (!types.empty() && asked_for(types, r.type));
            if (r.compared == what.compared && type && r.algorithm == what.suite && workload && variant &&
                threads && size)
                found.push_back(&r);
        }
        auto order = [&](const Result* r) {
            return std::tuple(place(*r), r->threads, rank(suite, *r), r->workload, r->n);
        };
        std::stable_sort(found.begin(), found.end(),
                         [&](const Result* a, const Result* b) { return order(a) < order(b); });
        list.insert(list.end(), found.begin(), found.end());
    }
    return list;
}

}  // namespace concord::study
