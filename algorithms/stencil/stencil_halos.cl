// Halos of other devices, OpenCL C: none. CUDA C++: stencil_halos.cu.
