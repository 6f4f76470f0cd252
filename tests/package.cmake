# Ways to use Concord from other projects: the installed package, the source tree, a static build. The README's example.
if(NOT CONCORD_SANITIZE)
  foreach(what installed subdirectory static)
    set(test package.${what})
    if(what STREQUAL static)
      set(test long.package.static)
    endif()
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_LIST_DIR}/package.sh ${what} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES TIMEOUT 1500)
  endforeach()
  # These compile all of Concord again; unoptimised, since only success matters.
  set_tests_properties(package.subdirectory long.package.static PROPERTIES ENVIRONMENT PACKAGE_TYPE=Debug)
endif()
if(TARGET concord-program)
  add_test(NAME readme COMMAND ${CMAKE_CURRENT_LIST_DIR}/readme.sh ${PROJECT_SOURCE_DIR}/README.md)
  add_test(NAME examples.first COMMAND example-first)
  add_test(NAME examples.own_kernel COMMAND example-own_kernel)
  add_test(NAME examples.port COMMAND example-port)
  # Ends with 1 unless the waves are bitwise symmetric.
  add_test(NAME examples.wave COMMAND example-wave 65 30 ${PROJECT_BINARY_DIR})
  # A kernel with a fault: the suite must find it and end with status 1.
  add_test(NAME examples.port.wrong COMMAND ${CMAKE_CURRENT_LIST_DIR}/status.sh 1 $<TARGET_FILE:example-port> --wrong)
endif()
