// A shared object that tells when it is loaded.
#include <cstdio>

static const int loaded = std::puts("planted code runs");
