// Halos of other devices, OpenCL C: none. CUDA C++: stencil_halos.cu.
#ifdef EXCHANGES
#error kernels in OpenCL C do not exchange halos
#endif
