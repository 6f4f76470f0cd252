// A shared object that is no module at all.
extern "C" __attribute__((visibility("default"))) int concord_backend_something_else() {
    return 0;
}
