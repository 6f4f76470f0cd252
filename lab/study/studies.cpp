// The table of studies.

#include <concord/study/internal/rank_studies.hpp>
#include <concord/study/internal/study.hpp>

#include <algorithm>

namespace concord::study {
namespace {

using lab::powers_of_two;

std::vector<u64> multiples(u64 last, u64 step) {
    std::vector<u64> sizes;
    for (u64 k = step; k <= last; k += step)
        sizes.push_back(k);
    return sizes;
}

// From one element to 2^29.
std::vector<u64> all_powers() {
    std::vector<u64> sizes = powers_of_two(0, 28, 2);
    sizes.push_back(u64{1} << 29);
    return sizes;
}

// The steps of an algorithm: a bar chart of the variants, and time over sizes.
Study steps_of(const Suite& suite) {
    const lab::StepsStudy& what = *suite.steps;
    Figure bars{.title = "Speed-up of each optimisation step over the textbook kernel",
                .caption =
                    "From the textbook kernel to the library's best variant. All variants are verified "
                    "against the same reference.",
                .build = steps};
    using Rate = lab::StepsStudy::Rate;
    bars.y = what.rate == Rate::bytes        ? Measure::rate
             : what.rate == Rate::operations ? Measure::flops
                                             : Measure::items;
    bars.ceilings = bars.y != Measure::items;  // the variants differ in how often they read the data
    Figure time{.title = "Time per call over the number of elements",
                .caption = "Both axes are logarithmic. Vertical bars span the quartiles.",
                .build = lines};
    if (what.workloads.size() > 1) bars.panels = time.panels = {By::device, By::workload};
    return {.name = what.name + "-steps",
            .title = "Optimisation steps of " + suite.name,
            .question = what.question,
            .text = what.explanation,
            .cases = {{.suite = suite.name,
                       .sizes = what.sizes,
                       .variants = what.variants,
                       .workloads = what.workloads,
                       .types = what.types}},
            .figures = {std::move(bars), std::move(time)}};
}

// The variants of an algorithm over a number in the names of its workloads.
Study parameter_study_of(const Suite& suite, const lab::ParameterStudy& what) {
    Study s{.name = what.name, .title = what.title, .question = what.question, .text = what.explanation};
    std::vector<std::string> all;
    for (const lab::ParameterStudy::Group& group : what.groups) {
        all.insert(all.end(), group.workloads.begin(), group.workloads.end());
        s.figures.push_back({.title = "Rate over the number of " + what.parameter + ", " + group.title,
                             .caption = "Bytes of input that a call reads per second, over the number of " +
                                        what.parameter + ". Both axes are logarithmic.",
                             .build = lines,
                             .x = By::workload_number,
                             .y = Measure::rate,
                             .panels = {By::device, By::n},
                             .x_name = what.parameter,
                             .workloads = group.workloads});
    }
    s.cases = {{.suite = suite.name, .sizes = what.sizes, .workloads = all}};
    if (!what.more_sizes_workloads.empty())
        s.cases.push_back(
            {.suite = suite.name, .sizes = what.more_sizes, .workloads = what.more_sizes_workloads});
    return s;
}

Study primitives() {
    const Sizes sizes{.quick = powers_of_two(0, 20, 4), .full = all_powers()};
    std::vector<Case> cases;
    for (const Suite& suite : lab::suites()) {
        if (suite.in_primitives_study) cases.push_back({.suite = suite.name, .sizes = sizes});
    }
    return {.name = "primitives",
            .title = "Primitives over sizes",
            .question =
                "From which size on does parallel execution pay off, and what fraction of the device's "
                "ceiling does it reach?",
            .text =
                "Every variant of some primitives, from one element to as many as fit. On the left of a "
                "chart the launch overhead dominates the time of a call, on the right the memory traffic. A "
                "parallel variant pays off from the size where its curve crosses that of `serial`.",
            .cases = std::move(cases),
            .figures = {
                {.title = "Time per call over the number of elements",
                 .caption = "Both axes are logarithmic.",
                 .build = lines,
                 .panels = {By::algorithm, By::device}},
                {.title = "Fraction of the ceiling over the number of elements",
                 .caption =
                     "Time of the device's own copy or read of the same number of bytes, divided by the time "
                     "of the call. Data in a cache can exceed 100 %.",
                 .build = lines,
                 .y = Measure::of_ceiling,
                 .panels = {By::algorithm, By::device},
                 .log_y = false,
                 .ceilings = false}}};
}

Study transfers() {
    return {
        .name = "transfers",
        .title = "Upload, compute, download",
        .question = "From which size on does a device with its own memory pay off?",
        .text =
            "Square roots of n floats that start and end in host memory. Pinned (page-locked) memory is "
            "accessed by the device directly; pageable memory is copied to pinned memory first. Overlapped: "
            "parts on three streams, so that uploads, kernels and downloads run concurrently. A device pays "
            "off from the size where its curve is below that of one host thread.",
        .cases = {{.suite = "transfers",
                   .sizes = {.quick = powers_of_two(10, 22, 4), .full = powers_of_two(10, 28, 2)}}},
        .figures = {{.title = "Host time per call over the number of elements",
                     .caption = "Both axes are logarithmic.",
                     .build = lines,
                     .ceilings = false},
                    {.title = "Transfer rate over the number of elements",
                     .caption = "Bytes moved per second: up, down, or both for whole round trips.",
                     .build = lines,
                     .y = Measure::rate,
                     .ceilings = false}},
        .kind = Study::Kind::transfers};
}

// A figure over the number in the variants' names.
Figure over_variants(std::string title, std::string caption, std::string x_name) {
    return {.title = std::move(title),
            .caption = std::move(caption),
            .build = lines,
            .x = By::variant_number,
            .x_name = std::move(x_name),
            .log_y = false,
            .ceilings = false};
}

Study group_size() {
    const Sizes sizes{.quick = {u64{1} << 18}, .full = {u64{1} << 24}},
        few{.quick = {u64{1} << 15}, .full = {u64{1} << 22}};
    Figure size =
        over_variants("Time per call over the group size",
                      "A memory-bound kernel (group_memory) and a compute-bound one (group_compute).",
                      "work-items per group");
    size.panels = {By::algorithm, By::device};
    size.only = {"group_memory", "group_compute"};
    return {
        .name = "group-size",
        .title = "Group size",
        .question = "How many work-items should a group have, and how many groups a launch?",
        .text =
            "Work-items run in sub-groups (warps of 32 on NVIDIA GPUs). A group of 33 work-items needs two "
            "of them, and one is nearly idle. Small groups leave units underused. If the number of groups is "
            "not a multiple of what the device holds at once, most units idle during the last wave, so time "
            "rises in steps. On a CPU a group is a tile that one thread processes.",
        .cases = {{.suite = "group_memory", .sizes = sizes},
                  {.suite = "group_compute", .sizes = few},
                  {.suite = "waves",
                   .sizes = {.quick = multiples(24, 1), .full = multiples(128, 1)},
                   .quarters_of_units = true,
                   .hot = true}},
        .figures = {
            std::move(size),
            {.title = "Time per call over the number of groups",
             .caption = "Groups of 256 elements with equal work and cached data. Time rises with each wave.",
             .build = lines,
             .log_x = false,
             .log_y = false,
             .only = {"waves"},
             .ceilings = false}}};
}

Study divergence() {
    return {.name = "divergence",
            .title = "Divergence",
            .question = "How much slower is a kernel whose neighbouring work-items take different branches?",
            .text =
                "Every element gets the same work, but work-items of different kinds do it in different "
                "iterations of a loop. The work-items of a sub-group share an instruction, so with k kinds "
                "among them the loop takes up to k times as long. The same kinds spread over whole groups "
                "cost only the iterations of the loop.",
            .cases = {{.suite = "diverge", .sizes = {.quick = {u64{1} << 15}, .full = {u64{1} << 22}}}},
            .figures = {over_variants("Time per call over the number of branches",
                                      "Within a group or between groups.", "branches")}};
}

Study bank_conflicts() {
    return {.name = "bank-conflicts",
            .title = "Bank conflicts",
            .question = "How much slower are strided accesses to local memory?",
            .text =
                "The local memory of a GPU has 32 banks, and each bank serves one word at a time. Work-items "
                "that access words 2, 4, ..., 32 apart collide in fewer banks. With an odd stride, such as "
                "33 (a row of 32 with one word of padding), no two of them collide.",
            .cases = {{.suite = "banks",
                       .sizes = {.quick = {u64{1} << 15}, .full = {u64{1} << 22}},
                       .types = {Type::u32}}},
            .figures = {over_variants("Time per call over the stride in local memory",
                                      "Each work-item sums 1024 words.", "stride in words")}};
}

Study coalescing() {
    const Sizes sizes{.quick = {u64{1} << 20}, .full = {u64{1} << 24}},
        records{.quick = {u64{1} << 16}, .full = {u64{1} << 22}};
    const std::vector<std::string> fields = {"fields1", "fields2", "fields4", "fields8"};
    std::vector<Case> cases = {{.suite = "strided", .sizes = sizes}};
    for (const std::string& name : fields)
        cases.push_back({.suite = name, .sizes = records});
    Figure strides =
        over_variants("Rate of a copy over the stride between work-items",
                      "Bytes that the kernel reads and writes per second, without unused parts of "
                      "memory lines.",
                      "stride in elements");
    strides.y = Measure::rate;
    strides.log_y = strides.ceilings = true;
    strides.only = {"strided"};
    Figure layouts =
        over_variants("Rate of a sum over the number of fields that it reads",
                      "Records of eight fields (array of structures) against one array per field "
                      "(structure of arrays). Bytes that the kernel uses per second.",
                      "fields read of 8");
    layouts.y = Measure::rate;
    layouts.x = By::workload_number;
    layouts.only = fields;
    return {.name = "coalescing",
            .title = "Coalescing",
            .question = "Which data layout gives coalesced memory accesses, and how much is it worth?",
            .text =
                "Memory is accessed in lines. Work-items that read neighbouring words share a line. "
                "Work-items far apart read a line each and use one word of it. An array of structures wastes "
                "the fields that a kernel does not use. A structure of arrays does not.",
            .cases = std::move(cases),
            .figures = {std::move(strides), std::move(layouts)}};
}

Study scaling() {
    std::vector<Case> cases;
    for (const Suite& suite : lab::suites()) {
        if (!suite.scaling_sizes.full.empty())
            cases.push_back({.suite = suite.name,
                             .sizes = suite.scaling_sizes,
                             .variants = {"auto"},
                             .each_thread_count = true});
    }
    return {.name = "scaling",
            .title = "Strong and weak scaling over CPU threads",
            .question = "How much do more threads speed up the work, and which fraction of it stays serial?",
            .text =
                "The variants that `auto` chooses on the tbb device, with 1, 2, 4, ... and all threads. "
                "Amdahl's law keeps the work fixed; Gustafson's law lets it grow with the threads. Both are "
                "fitted for the serial fraction. Memory-bound work stops scaling when the memory is "
                "saturated. The fits count that as serial work.",
            .cases = std::move(cases),
            .figures = {
                {.title = "Speed-up over threads at fixed work",
                 .caption = "At the largest size, compared with one thread, with the fit of Amdahl's law.",
                 .build = amdahl,
                 .x = By::threads},
                {.title = "Speed-up over threads at scaled work",
                 .caption = "Work grows with the threads from the smallest size, compared with one thread, "
                            "with the fit of Gustafson's law.",
                 .build = gustafson,
                 .x = By::threads},
                {.title = "Time per call over the number of elements",
                 .caption = "Both axes are logarithmic.",
                 .build = lines,
                 .series = {By::threads},
                 .panels = {By::algorithm},
                 .ceilings = false}}};
}

// Time steps of the stencil over the ranks of one process.
Study over_ranks_of(Study s, const char* suite, Sizes sizes) {
    s.kind = Study::Kind::ranks;
    s.cases = {{.suite = suite, .sizes = std::move(sizes)}};
    s.figures = {
        {.title = "Parallel efficiency over ranks",
         .caption =
             "Ideal time, derived from the time of one rank, divided by the measured time. `sequential` "
             "exchanges halos before it computes; `overlapped` does both concurrently. The kernels of "
             "`fused` write halos into the memory of other GPUs.",
         .build = over_ranks,
         .x = By::variant_number},
        {.title = "Time per step over ranks",
         .caption = "Host time from the first rank's start to the last rank's end.",
         .build = lines,
         .x = By::variant_number,
         .panels = {By::device, By::workload, By::n},
         .x_name = "ranks",
         .log_x = false,
         .ceilings = false}};
    return s;
}

Study weak_scaling() {
    return over_ranks_of(
        {.name = "weak-scaling",
         .title = "Weak scaling over ranks",
         .question = "Does a time step take as long when every device adds its own part of the volume?",
         .text =
             "A star stencil of radius 4 on a cube per rank, stacked along z. Every rank exchanges halos "
             "of four planes with its neighbours. The size of the halos does not depend on the number of "
             "ranks, so efficiency is lost only where the exchange takes longer than the interior. "
             "Several devices of one kind have one rank each; a single device has all ranks. Under mpirun a "
             "rank is a process."},
        weak_ranks, {.quick = {u64{1} << 15, u64{1} << 18}, .full = {u64{1} << 24, u64{1} << 27}});
}

Study strong_scaling() {
    return over_ranks_of(
        {.name = "strong-scaling",
         .title = "Strong scaling over ranks",
         .question = "How much faster is a time step when more devices share one volume?",
         .text = "A star stencil of radius 4 on 400 x 480 x 480 points and on 1024 x 1024 x 1024. With more "
                 "ranks each part gets thinner and the halo becomes a larger fraction of it: computation per "
                 "rank shrinks, communication does not. Several devices of one kind have one rank each; a "
                 "single device has all ranks. Under mpirun a rank is a process."},
        strong_ranks, {.quick = {u64{737280}}, .full = {u64{92160000}, u64{1} << 30}});
}

Study throughput_scaling() {
    const Sizes sizes{.quick = {u64{1} << 16, u64{1} << 20},
                      .full = {u64{1} << 24, u64{1} << 28, u64{1} << 30, u64{1} << 32}};
    return {
        .name = "throughput-scaling",
        .title = "Reduce, histogram and sort over ranks",
        .question = "Do N devices process N times as many elements per second as one?",
        .text =
            "The sum of floats in canonical order, and a histogram with 256 even bins, of a fixed number of "
            "elements per rank. Every rank reads its own elements. Ranks exchange at most 32768 partial "
            "sums, or the counters. Efficiency is lost where that exchange and the synchronisation take long "
            "compared with the reading. A sort of u32 keys sends (p - 1) / p of them to other ranks. Several "
            "devices of one kind have one rank each; a single device has "
            "all ranks. Under mpirun a rank is a process.",
        .cases = {{.suite = reduce_ranks, .sizes = sizes},
                  {.suite = histogram_ranks, .sizes = sizes},
                  {.suite = sort_ranks,
                   .sizes = {.quick = {u64{1} << 16, u64{1} << 20},
                             .full = {u64{1} << 24, u64{1} << 28, u64{1} << 29, u64{1} << 30}}}},
        .figures =
            {{.title = "Parallel efficiency over ranks",
              .caption = "Time of one rank divided by the time of p ranks with as many elements each. If the "
                         "ranks share one device, p times the time of one rank divided by the time of p "
                         "ranks.",
              .build = efficiency_over_ranks,
              .x = By::variant_number,
              .series = {By::n},
              .panels = {By::device, By::algorithm, By::workload}},
             {.title = "Rate over ranks",
              .caption =
                  "Bytes that all ranks read per second of host time; for sorts, bytes read and written.",
              .build = lines,
              .x = By::variant_number,
              .y = Measure::rate,
              .series = {By::n},
              .panels = {By::device, By::algorithm, By::workload},
              .x_name = "ranks",
              .log_x = false,
              .log_y = false,
              .ceilings = false}},
        .kind = Study::Kind::ranks};
}

Study portable() {
    std::vector<Case> cases;
    for (const Suite& suite : lab::suites())
        cases.push_back({.suite = suite.name, .sizes = suite.study_sizes, .variants = {"auto"}});
    return {
        .name = "portability",
        .title = "Performance portability",
        .question = "What fraction of each device's ceiling does one program reach on all devices?",
        .text =
            "The variants that `auto` chooses for every algorithm on every device, as a fraction of the "
            "device's own ceiling.",
        .cases = std::move(cases),
        .figures = {
            {.title = "Fraction of the ceiling",
             .caption = "Time that the ceiling's rate needs for the required bytes or operations, divided by "
                        "the measured time. Sorts have no ceiling.",
             .build = portability,
             .y = Measure::of_ceiling}}};
}

Study headline() {
    std::vector<Case> cases;
    for (const Suite& suite : lab::suites()) {
        for (const lab::Headline& what : suite.headlines)
            cases.push_back({.suite = suite.name,
                             .sizes = what.sizes,
                             .variants = {"auto"},
                             .workloads = what.workloads,
                             .types = what.types,
                             .cpu_sizes = what.cpu_sizes,
                             .compared = true});
    }
    return {
        .name = "headline",
        .title = "Compared with peer libraries",
        .question = "How fast is `auto` compared with every peer library that does the same work?",
        .text =
            "The variants that `auto` chooses, and all baselines of the device, measured in the same run. "
            "Speed-up is the peer's time divided by Concord's: above 1 Concord is faster. All results are "
            "verified. Times marked with * have a note: the result lies within a statistical bound, or "
            "the peer has another contract and some results differ. The documentation's figures come "
            "from this study. `all` does not include it.",
        .cases = std::move(cases),
        .figures = {{.title = "Where a peer is faster",
                     .caption = "All comparisons in which Concord is slower, the slowest first.",
                     .build = faster_baselines},
                    {.title = "Speed-up over peers over the number of elements",
                     .caption = "Both axes are logarithmic. Above 1 Concord is faster.",
                     .build = speed_ups,
                     .panels = {By::algorithm, By::workload, By::type, By::device}},
                    {.title = "All workloads",
                     .caption =
                         "Rates, and speed-ups over each peer. The lines below a table name the peers.",
                     .build = all_baselines}},
        .in_all = false};
}

Study tuned() {
    return {.name = "tuning",
            .title = "Tuning tables",
            .question = "How much faster is `auto` with a tuning table that was measured on the device?",
            .text =
                "The variants that `auto` chooses for every algorithm, with the device's tuning table and "
                "without. The table is the user's or one that Concord ships; `concord devices --verbose` "
                "names it. The two calls alternate, so that disturbances affect both. Without a matching row "
                "in the table both are the same call.",
            .cases = {{.suite = "tuning",
                       .sizes = {.quick = powers_of_two(16, 20, 4), .full = powers_of_two(16, 24, 4)}}},
            .figures =
                {{.title = "Speed-up of the tuning table over the defaults",
                  .caption =
                      "Time with the defaults divided by time with the table. Above 1 the table is faster.",
                  .build = gains}},
            .kind = Study::Kind::tuning};
}

Study regret() {
    return {
        .name = "regret",
        .title = "Regret of `auto`",
        .question = "How much time does the choice of `auto` cost, compared with the fastest variant?",
        .text =
            "For every algorithm, type and size, a search over the variants that `auto` may choose and over "
            "their launch parameters. Regret is the time of `auto`, with the tables that it finds, divided "
            "by "
            "that of the fastest candidate; 1 means that none is faster. Calls of both alternate in the last "
            "measurement. Candidates are verified like all results.",
        .cases = {{.suite = "regret",
                   .sizes = {.quick = powers_of_two(10, 20, 10), .full = powers_of_two(8, 28, 4)},
                   .types = {Type::f32, Type::u32, Type::u64, Type::u8},
                   .cpu_sizes = Sizes{.quick = powers_of_two(10, 20, 10),
                                      .full = {u64{1} << 8, u64{1} << 12, u64{1} << 16, u64{1} << 20,
                                               u64{1} << 24, u64{1} << 26}}}},
        .figures = {{.title = "Largest regrets", .build = regrets},
                    {.title = "Regret over the number of elements", .build = regret_over_sizes}},
        .kind = Study::Kind::regret};
}

Study agrees() {
    std::vector<Case> cases;
    for (const Suite& suite : lab::suites())
        cases.push_back({.suite = suite.name});
    return {.name = "agreement",
            .title = "Agreement",
            .question = "Do all variants give the correct result on all devices?",
            .text =
                "Every variant on every device is checked against a serial reference. In a deterministic "
                "order results are bitwise identical; otherwise errors are within a derived bound.",
            .cases = std::move(cases),
            .figures = {{.title = "Agreement matrix", .build = agreement}},
            .kind = Study::Kind::check};
}

}  // namespace

std::vector<std::string> suites_of(const Study& study, const Case& what) {
    if (!study.is_pairs()) return {what.suite};
    std::vector<std::string> names;
    for (const Suite& suite : lab::suites())
        names.push_back(suite.name);
    return names;
}

bool is_named(const Study& study, const std::vector<std::string>& names) {
    return study.in_all ? lab::asked_for(names, study.name)
                        : std::find(names.begin(), names.end(), study.name) != names.end();
}

const std::vector<Study>& studies() {
    static const std::vector<Study> all = [] {
        std::vector<Study> list = {primitives()};
        const std::vector<Suite> suites = lab::suites();
        for (const Suite& suite : suites) {
            if (suite.steps) list.push_back(steps_of(suite));
        }
        for (const Suite& suite : suites) {
            for (const lab::ParameterStudy& study : suite.studies)
                list.push_back(parameter_study_of(suite, study));
        }
        for (Study (*const study)() :
             {transfers, group_size, divergence, bank_conflicts, coalescing, scaling, weak_scaling,
              strong_scaling, throughput_scaling, portable, headline, tuned, regret, agrees})
            list.push_back(study());
        return list;
    }();
    return all;
}

}  // namespace concord::study
