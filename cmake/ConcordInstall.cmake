# Defines `cmake --install` and the package for find_package(concord).
include(CMakePackageConfigHelpers)

# Packages whose targets the users of a static library link too: those of the backends and of the library.
set(CONCORD_PACKAGES "")
if(NOT BUILD_SHARED_LIBS)
  target_link_libraries(concord INTERFACE $<INSTALL_INTERFACE:$<LINK_ONLY:spdlog::spdlog>>)
  get_property(libraries GLOBAL PROPERTY CONCORD_STATIC_LIBRARIES)
  if("hwy::hwy_contrib" IN_LIST libraries)
    target_link_libraries(concord INTERFACE $<INSTALL_INTERFACE:$<LINK_ONLY:hwy::hwy_contrib>>)
  endif()
  foreach(library IN ITEMS Threads::Threads spdlog::spdlog LISTS libraries)
    if(library MATCHES "^(.+)::")
      list(APPEND CONCORD_PACKAGES ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES CONCORD_PACKAGES)
endif()

install(EXPORT concord NAMESPACE concord:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/concord COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/concord-config.cmake.in ${PROJECT_BINARY_DIR}/concord-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/concord)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/concord-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/concord-config.cmake ${PROJECT_BINARY_DIR}/concord-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/concord COMPONENT development)
