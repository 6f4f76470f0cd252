// A shared object without the entry point of a module.
extern "C" __attribute__((visibility("default"))) int concord_backend_something_else() {
    return 0;
}
