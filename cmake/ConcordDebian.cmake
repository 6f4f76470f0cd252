# Debian packages, built by CPack: libconcord0, libconcord0-dev and concord, one for each component of the installation.
# The MPI component, baselines and NVRTC are not packaged: they would add dependencies that most users do not need, or
# must not be distributed.
if(NOT BUILD_SHARED_LIBS OR CONCORD_STATIC_BACKENDS OR CONCORD_SANITIZE OR CONCORD_BASELINES OR TARGET concord-mpi
   OR NOT CONCORD_APPS)
  message(FATAL_ERROR "CONCORD_DEBIAN needs BUILD_SHARED_LIBS and CONCORD_APPS, without CONCORD_STATIC_BACKENDS, "
                      "CONCORD_SANITIZE, CONCORD_BASELINES and the MPI component; use cmake --preset debian")
endif()
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR NOT CMAKE_LIBRARY_ARCHITECTURE
   OR NOT CMAKE_INSTALL_LIBDIR STREQUAL "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  message(FATAL_ERROR "CONCORD_DEBIAN needs CMAKE_INSTALL_PREFIX=/usr and the CMAKE_INSTALL_LIBDIR that CMake chooses for "
                      "it on Debian, got ${CMAKE_INSTALL_PREFIX} and ${CMAKE_INSTALL_LIBDIR}; use cmake --preset debian")
endif()

set(debian ${CMAKE_CURRENT_LIST_DIR}/debian)
set(folder ${PROJECT_BINARY_DIR}/debian)
set(library libconcord${PROJECT_VERSION_MAJOR})

# Who builds the packages: in the variables that Debian's tools use.
set(name "$ENV{DEBFULLNAME}")
if(NOT name)
  set(name "The Concord authors")
endif()
set(address "$ENV{DEBEMAIL}")
if(NOT address)
  set(address authors@concord.invalid)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME concord)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${debian}/finish.cmake)
set(CPACK_COMPONENTS_ALL runtime development program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_COMPONENT_PROGRAM_DEPENDS runtime)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${name} <${address}>")
set(CPACK_DEBIAN_PACKAGE_SOURCE concord)
# Lower than the first revision of a distribution.
set(CPACK_DEBIAN_PACKAGE_RELEASE 0local1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# The first line of a description is the synopsis. CPack would put a common one before it.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(about "
Concord runs the same algorithms (map, reduce, scan, histogram, sort, matrix
product, stencils and others) on CUDA GPUs, OpenCL devices and CPUs. By
default, floating-point results are bitwise identical on all of them.

")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "data-parallel computing with reproducible results (library)${about}\
This package contains the library and its backends. When a program starts,
they open OpenCL's ICD loader with its drivers, and CUDA's driver and NVRTC.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Opened at run time.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "ocl-icd-libopencl1 | libopencl1")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "pocl-opencl-icd | opencl-icd, libcuda1, libnvrtc11.2")
# CPack adds scripts that call ldconfig unless the package has its own. Debian uses a trigger instead. CPack warns of
# the files that do not exist, and leaves them out.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${debian}/triggers ${folder}/none/postinst ${folder}/none/postrm)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libconcord0-dev)
# Debian's package of that name is another library, which has a file of the same path.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_CONFLICTS libconcord-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "data-parallel computing with reproducible results (headers)${about}\
This package contains the headers, and the files for CMake and pkg-config.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME concord)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "data-parallel computing with reproducible results (program)${about}\
This package contains the program concord. It lists devices, runs algorithms
on NumPy files, verifies all variants on all devices, measures and tunes them.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)

# Documents of each package. The date is SOURCE_DATE_EPOCH if that is set.
string(TIMESTAMP CONCORD_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CONCORD_MAINTAINER "${CPACK_DEBIAN_PACKAGE_MAINTAINER}")
set(CONCORD_REVISION ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
configure_file(${debian}/changelog.in ${folder}/changelog.Debian @ONLY)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES ${debian}/copyright ${folder}/changelog.Debian COMPONENT ${component}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
endforeach()
include(CPack)
