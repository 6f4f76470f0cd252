# `cmake --install` and the package that find_package(concord) finds.
include(CMakePackageConfigHelpers)
if(TARGET concord_flags AND NOT BUILD_SHARED_LIBS)
  install(TARGETS concord_flags EXPORT concord)
endif()
install(EXPORT concord NAMESPACE concord:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/concord COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/concord-config.cmake.in ${PROJECT_BINARY_DIR}/concord-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/concord)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/concord-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/concord-config.cmake ${PROJECT_BINARY_DIR}/concord-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/concord COMPONENT development)
