# Finds CUDA's headers: CONCORD_CUDA_CUDA_H, CONCORD_CUDA_NVRTC_H and CONCORD_CUDA_NVTX_H are folders, or end in
# NOTFOUND. Only headers are needed. The driver, NVRTC and NVTX tools are opened at run time, so that one build works
# on machines with and without them.
set(CONCORD_CUDA_INCLUDE "" CACHE STRING
    "Folders of cuda.h, nvrtc.h and nvtx3/ (usual places are searched anyway); one each if they come from PyPI packages; OFF: none")
if(CONCORD_CUDA_INCLUDE STREQUAL "OFF")
  foreach(header CUDA NVRTC NVTX)
    set(CONCORD_CUDA_${header}_H NOTFOUND)
  endforeach()
  return()
endif()

find_package(CUDAToolkit QUIET)
set(hints ${CONCORD_CUDA_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
foreach(root IN ITEMS "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda)
  if(root)
    list(APPEND hints ${root}/include)
  endif()
endforeach()
# Not cached, so that a folder given later takes effect.
find_path(CONCORD_CUDA_CUDA_H cuda.h HINTS ${hints} NO_CACHE)
find_path(CONCORD_CUDA_NVRTC_H nvrtc.h HINTS ${hints} NO_CACHE)
find_path(CONCORD_CUDA_NVTX_H nvtx3/nvToolsExt.h HINTS ${hints} NO_CACHE)
