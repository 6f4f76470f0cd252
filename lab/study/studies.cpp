// The table of studies.

#include "rank_studies.hpp"
#include "study.hpp"

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

std::vector<u64> every_element() {
    std::vector<u64> sizes = powers_of_two(0, 28, 2);
    sizes.push_back(u64{1} << 29);
    return sizes;
}

// What every algorithm's steps have in common: a bar a variant, and time over sizes.
Study steps_of(const Suite& suite) {
    const lab::StepsStudy& what = *suite.steps;
    Study study{what.name + "-steps", {}, what.question, what.explanation, {}, {}, Study::Kind::bench};
    study.title = "The steps of " + suite.name;
    study.cases = {{suite.name, what.sizes, what.variants, what.workloads, what.types}};
    Figure bars{"What each step buys",
                "From the textbook's way to the library's own; all are held to the same reference.", steps};
    using Rate = lab::StepsStudy::Rate;
    bars.y = what.rate == Rate::bytes        ? Measure::rate
             : what.rate == Rate::operations ? Measure::flops
                                             : Measure::items;
    bars.ceilings = bars.y != Measure::items;  // how often data are read is part of the question
    Figure time{"Time over sizes", "Both axes are logarithmic. The bars through the marks are quartiles.",
                lines};
    if (what.workloads.size() > 1) bars.panels = time.panels = {By::device, By::workload};
    study.figures = {std::move(bars), std::move(time)};
    return study;
}

Figure figure(std::string title, std::string caption, std::vector<Chart> (*build)(const Figure&, const Data&),
              By x, Measure y) {
    Figure f{std::move(title), std::move(caption), build};
    f.x = x;
    f.y = y;
    return f;
}

Study primitives() {
    Study s{"primitives",
            "Primitives over sizes",
            "From which size on does parallel work pay, and how near to the device's ceiling does it come?",
            "Every variant of four primitives, from one element to as many as fit. On the left of a chart a "
            "call costs what "
            "launching costs; on the right what moving the data costs. Where the curve of `serial` crosses "
            "another, that one "
            "begins to pay.",
            {},
            {},
            Study::Kind::bench};
    const Sizes sizes{powers_of_two(0, 20, 4), every_element()};
    Figure time = figure("Time of a call", "Both axes are logarithmic.", lines, By::n, Measure::time);
    Figure part = figure(
        "Part of the ceiling",
        "The time that the device's own copy or read of as many bytes takes, over the time of the call. Data "
        "that are in a cache may be faster than the ceiling.",
        lines, By::n, Measure::of_ceiling);
    time.panels = part.panels = {By::algorithm, By::device};
    part.log_y = part.ceilings = false;
    for (const char* algorithm : {"map", "reduce", "scan", "histogram"})
        s.cases.push_back({algorithm, sizes});
    s.figures = {std::move(time), std::move(part)};
    return s;
}

Study histogram_bins() {
    Study s{"histogram-bins",
            "Histograms of few and of many bins",
            "Which way to count is best for how many bins, and what do saturating counters of 16 bits cost?",
            "Counters that fit local memory are kept there, a copy a group or more; counters that do not are "
            "counted in passes, "
            "in global memory or after sorting. Equal samples all meet in one counter, which is the worst "
            "case for atomics.",
            {},
            {},
            Study::Kind::bench};
    std::vector<std::string> even, equal, saturating;
    for (u64 bins = 128; bins <= 65536; bins *= 2)
        even.push_back("even" + std::to_string(bins));
    for (const char* bins : {"256", "2048", "65536"})
        equal.push_back("even" + std::string(bins) + "_equal");
    for (const char* bins : {"128", "1024", "8192", "65536"})
        saturating.push_back("even" + std::string(bins) + "_saturating");
    const Sizes sizes{{u64{1} << 18}, {u64{1} << 20, u64{1} << 24, u64{1} << 28}}, most{{}, {u64{1} << 31}};
    auto over_bins = [](std::string title, const std::vector<std::string>& workloads) {
        Figure f = figure(std::move(title), "Bytes of samples read a second.", lines, By::workload_number,
                          Measure::rate);
        f.x_name = "bins";
        f.log_y = true;
        f.panels = {By::device, By::n};
        f.workloads = workloads;
        f.ceilings = true;
        return f;
    };
    std::vector<std::string> all = even;
    all.insert(all.end(), equal.begin(), equal.end());
    all.insert(all.end(), saturating.begin(), saturating.end());
    s.cases = {{"histogram", sizes, {"all"}, all},
               {"histogram", most, {"all"}, {"even256", "even2048", "even65536", "even65536_saturating"}}};
    s.figures = {over_bins("Samples at random", even), over_bins("All samples equal", equal),
                 over_bins("Counters of 16 bits that saturate", saturating)};
    return s;
}

Study transfers() {
    Study s{"transfers",
            "Upload, run, download",
            "When does a device pay that has its own memory?",
            "The square root of n floats that lie in the host's memory and are wanted there again. "
            "Page-locked (pinned) memory "
            "is what the device reads itself; ordinary (pageable) memory is copied first. Overlapped: parts "
            "on three streams, so "
            "that one is uploaded while another is computed and a third downloaded. A device pays from where "
            "its curve is below "
            "that of one thread on the host.",
            {},
            {},
            Study::Kind::transfers};
    s.cases = {{"transfers", {powers_of_two(10, 22, 4), powers_of_two(10, 28, 2)}}};
    Figure all =
        figure("All of the way", "Host time of a call, both axes logarithmic.", lines, By::n, Measure::time);
    all.ceilings = false;
    Figure rate = figure("Bytes a second", "Of what is moved: once up, once down, or both.", lines, By::n,
                         Measure::rate);
    rate.ceilings = false;
    s.figures = {std::move(all), std::move(rate)};
    return s;
}

Figure effect(const char* title, const char* caption, const char* x_name, Measure y, bool log_x,
              bool log_y = false) {
    Figure f = figure(title, caption, lines, By::variant_number, y);
    f.x_name = x_name;
    f.log_x = log_x;
    f.log_y = log_y;
    f.ceilings = false;
    return f;
}

Study group_size() {
    Study s{
        "group-size",
        "The size of a group",
        "How many work-items should a group have, and how many groups a launch?",
        "Lanes run in sub-groups (32 on NVIDIA's): a group of 33 takes two of them, one nearly idle, and "
        "groups that are too "
        "small leave a unit empty. When the groups do not divide by what the device holds at once, the last "
        "wave runs with "
        "most units idle: time rises in steps. A CPU takes a group as a tile that one thread works through.",
        {},
        {},
        Study::Kind::bench};
    const Sizes sizes{{u64{1} << 18}, {u64{1} << 24}};
    s.cases = {{"group_memory", sizes}, {"group_compute", {{u64{1} << 15}, {u64{1} << 22}}}};
    s.cases.push_back({"waves", {multiples(24, 1), multiples(128, 1)}});
    s.cases.back().quarters_of_units = s.cases.back().hot = true;
    Figure memory = effect("Lanes a group", "Work that memory bounds and work that arithmetic bounds.",
                           "work-items per group", Measure::time, true);
    memory.panels = {By::algorithm, By::device};
    memory.only = {"group_memory", "group_compute"};
    Figure waves =
        figure("Groups a launch",
               "Groups of 256 elements, of equal work, with data in the caches; time rises with each wave.",
               lines, By::n, Measure::time);
    waves.log_x = waves.log_y = waves.ceilings = false;
    waves.only = {"waves"};
    s.figures = {std::move(memory), std::move(waves)};
    return s;
}

Study divergence() {
    Study s{
        "divergence",
        "Divergence",
        "What does it cost when neighbouring work-items take different ways?",
        "Every element gets the same work, but work-items of different kinds do it in different turns of a "
        "loop. Lanes of one sub-group share an instruction: with k kinds among them it takes up to k times "
        "as long. The same kinds spread over whole groups cost only the loop's own turns.",
        {},
        {},
        Study::Kind::bench};
    s.cases = {{"diverge", {{u64{1} << 15}, {u64{1} << 22}}}};
    s.figures = {effect("Kinds of work-items", "", "kinds", Measure::time, true)};
    return s;
}

Study bank_conflicts() {
    Study s{"bank-conflicts",
            "Bank conflicts",
            "What does the distance between neighbouring work-items' words in local memory cost?",
            "Local memory of a GPU has 32 banks, each of which serves one word at a time. Lanes 2, 4 ... 32 "
            "words apart meet in "
            "fewer banks; an odd distance, such as 33 (a row of 32 with one word of padding), meets in none.",
            {},
            {},
            Study::Kind::bench};
    s.cases = {{"banks", {{u64{1} << 15}, {u64{1} << 22}}, {"all"}, {}, {Type::u32}}};
    s.figures = {effect("Distance between work-items", "", "words apart", Measure::time, true)};
    return s;
}

Study coalescing() {
    Study s{"coalescing",
            "Coalescing",
            "How should data lie in memory?",
            "Memory comes in lines: work-items that read neighbouring words share one, work-items far apart "
            "read a "
            "line each and use a "
            "word of it. Records (an array of structures) waste what is not used of them, an array for each "
            "field (a structure "
            "of arrays) does not.",
            {},
            {},
            Study::Kind::bench};
    const Sizes sizes{{u64{1} << 20}, {u64{1} << 24}};
    s.cases = {{"strided", sizes}};
    const Sizes records{{u64{1} << 16}, {u64{1} << 22}};
    for (const char* name : {"fields1", "fields2", "fields4", "fields8"})
        s.cases.push_back({name, records});
    Figure strides = effect("A copy with work-items apart", "Bytes that are asked for, a second.",
                            "elements apart", Measure::rate, true, true);
    strides.only = {"strided"};
    strides.ceilings = true;
    Figure fields =
        effect("Records or arrays",
               "How many of a record's eight fields are read; bytes that are asked for, a second.",
               "fields that are used", Measure::rate, true);
    fields.x = By::workload_number;
    fields.only = {"fields1", "fields2", "fields4", "fields8"};
    s.figures = {std::move(strides), std::move(fields)};
    return s;
}

Study scaling() {
    Study s{"scaling",
            "Scaling with threads and with size",
            "What do more cores buy, and what part of the work stays serial?",
            "What `auto` takes on the CPU's own device, with 1, 2, 4 ... and all threads. Amdahl's law holds "
            "the work fixed, "
            "Gustafson's lets it grow with the threads; the serial fraction that fits best is told. Work "
            "that memory bounds stops "
            "to scale when the memory is busy, which the fit takes for serial work.",
            {},
            {},
            Study::Kind::bench};
    const Sizes sizes{powers_of_two(18, 20, 1), powers_of_two(18, 26, 1)},
        few{powers_of_two(16, 18, 1), powers_of_two(16, 22, 1)};
    for (const char* algorithm : {"map", "reduce", "scan", "sort"})
        s.cases.push_back({algorithm, algorithm == std::string("sort") ? few : sizes, {"auto"}});
    s.cases.push_back({"matmul", few, {"auto"}});
    for (Case& c : s.cases)
        c.each_thread_count = true;
    Figure size = figure("Time over sizes", "Both axes are logarithmic.", lines, By::n, Measure::time);
    size.series = {By::threads};
    size.panels = {By::algorithm};
    size.ceilings = false;
    s.figures = {figure("More threads, the same work", "At the largest size; Amdahl's law.", amdahl,
                        By::threads, Measure::time),
                 figure("More threads, as much more work", "From the smallest size; Gustafson's law.",
                        gustafson, By::threads, Measure::time),
                 std::move(size)};
    return s;
}

// A step of the stencil over ranks of one process.
Study over_ranks_of(const char* name, const char* title, const char* suite, const char* question,
                    const char* text, Sizes sizes) {
    Study s{name, title, question, text, {}, {}, Study::Kind::ranks};
    s.cases = {{suite, std::move(sizes)}};
    Figure time = figure("Time of a step", "Host time, from all ranks' start to the last one's end.", lines,
                         By::variant_number, Measure::time);
    time.x_name = "ranks";
    time.log_x = time.ceilings = false;
    time.panels = {By::device, By::workload, By::n};
    s.figures = {
        figure("Efficiency",
               "What one rank takes, times what ranks would take of it if nothing were lost, over what they "
               "take. `sequential` exchanges halos before it computes, `overlapped` while it does.",
               over_ranks, By::variant_number, Measure::time),
        std::move(time)};
    return s;
}

Study weak_scaling() {
    return over_ranks_of(
        "weak-scaling", "Weak scaling over ranks", weak_ranks,
        "Does a step take as long when every device brings its own part of the volume?",
        "A star of radius 4 on a cube for each rank, one behind the other along z. Every rank exchanges "
        "halos of four "
        "planes with its neighbours, as many bytes however many ranks there are: what is lost is what the "
        "exchange "
        "shows beside the interior. Devices of one kind are a rank each; one alone has all ranks.",
        {{u64{1} << 15, u64{1} << 18}, {u64{1} << 24, u64{1} << 27}});
}

Study strong_scaling() {
    return over_ranks_of("strong-scaling", "Strong scaling over ranks", strong_ranks,
                         "How much faster is a step when more devices share one volume?",
                         "A star of radius 4 on 400 x 480 x 480 points and on 1024 x 1024 x 1024. The more "
                         "ranks, the thinner the parts, "
                         "and the more of them is halo: computing becomes less, the exchange does not. "
                         "Devices of one kind are a rank "
                         "each; one alone has all ranks.",
                         {{u64{737280}}, {u64{92160000}, u64{1} << 30}});
}

Study throughput_scaling() {
    Study s{
        "throughput-scaling",
        "Reduce and histogram over ranks",
        "Do N devices reduce and count N times as much a second as one?",
        "The sum of floats, in its fixed order, and a histogram of 256 even bins, of as many elements for "
        "each rank. Every rank reads its own; what ranks say to one another are the sums of chunks, 32768 "
        "at most, and the counters: what is lost is what that and the waiting take beside the reading. "
        "Devices of one kind are a rank each; one alone has all ranks.",
        {},
        {},
        Study::Kind::ranks};
    const Sizes sizes{{u64{1} << 16, u64{1} << 20}, {u64{1} << 24, u64{1} << 28, u64{1} << 30, u64{1} << 32}};
    s.cases = {{reduce_ranks, sizes}, {histogram_ranks, sizes}};
    Figure efficiency =
        figure("Efficiency",
               "What one rank takes, over what ranks take that have as many elements each; for "
               "ranks of one device as many times that as there are ranks.",
               efficiency_over_ranks, By::variant_number, Measure::time);
    Figure rate = figure("Rate", "Bytes that all ranks read a second, by the host's clock.", lines,
                         By::variant_number, Measure::rate);
    rate.x_name = "ranks";
    rate.log_x = rate.log_y = rate.ceilings = false;
    for (Figure* f : {&efficiency, &rate}) {
        f->panels = {By::device, By::algorithm, By::workload};
        f->series = {By::n};
    }
    s.figures = {std::move(efficiency), std::move(rate)};
    return s;
}

Study portable() {
    Study s{"portability",
            "Performance portability",
            "How much of what each device can do does one program get on all of them?",
            "What `auto` takes of every algorithm on every device, as a part of that device's own ceiling.",
            {},
            {},
            Study::Kind::bench};
    for (const Suite& suite : lab::suites())
        s.cases.push_back({suite.name, suite.study_sizes, {"auto"}});
    s.figures = {figure("Part of the ceiling",
                        "Bytes that must move, or operations that must be done, at the ceiling's rate, over "
                        "the time taken. Sort "
                        "is counted as one pass over its data.",
                        portability, By::n, Measure::of_ceiling)};
    return s;
}

Study tuned() {
    Study s{"tuning",
            "Tables of tuning",
            "What does a table that was measured on the device bring over the defaults?",
            "What `auto` takes of every algorithm, with the device's table (its own, the user's or a shipped "
            "one: `concord "
            "devices --verbose` names it) and without, in turns, so that what slows the machine down slows "
            "both. Where there "
            "is no row for the work, or no table, the two are one.",
            {},
            {},
            Study::Kind::tuning};
    s.cases = {{"tuning", {powers_of_two(16, 20, 4), powers_of_two(16, 24, 4)}}};
    s.figures = {figure("Gain over the defaults",
                        "The defaults' time over that with the table; 1 is no gain.", gains, By::n,
                        Measure::time)};
    return s;
}

Study agrees() {
    Study s{
        "agreement",
        "Agreement",
        "Do all variants give the right result on all devices?",
        "Every variant on every device against a serial reference. Where the order of operations is fixed, "
        "the bits are equal; "
        "where it is not, the error is held to a derived bound.",
        {},
        {},
        Study::Kind::check};
    for (const Suite& suite : lab::suites())
        s.cases.push_back({suite.name, {}});
    s.figures = {figure("The matrix", "", agreement, By::n, Measure::time)};
    return s;
}

}  // namespace

const std::vector<Study>& studies() {
    static const std::vector<Study> all = [] {
        std::vector<Study> list = {primitives()};
        for (const Suite& suite : lab::suites()) {
            if (suite.steps) list.push_back(steps_of(suite));
        }
        for (Study (*const study)() :
             {histogram_bins, transfers, group_size, divergence, bank_conflicts, coalescing, scaling,
              weak_scaling, strong_scaling, throughput_scaling, portable, tuned, agrees})
            list.push_back(study());
        return list;
    }();
    return all;
}

}  // namespace concord::study
