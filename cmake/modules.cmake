# One library per folder of src/, in the order of the pipeline (STYLE section 1):
#
#   add_module(detect USES features LIBS snag::blas SOURCES lof residual TESTS lof)
#
# builds libsnag_detect from lof.c and residual.c, may include what the named folders may, and
# makes the test detect/lof from lof_test.c. TEST_LIBS is what only the tests need.

# What sanitizers are told wherever tests run: undefined behaviour fails a test, too.
set(SNAG_TEST_ENVIRONMENT
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp"
  "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1")

function(add_module name)
  cmake_parse_arguments(M "" "" "SOURCES;TESTS;TEST_LIBS;USES;LIBS" ${ARGN})
  set(target snag_${name})
  list(TRANSFORM M_SOURCES APPEND .c)
  list(TRANSFORM M_USES PREPEND snag_)
  add_library(${target} STATIC ${M_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${M_USES} ${M_LIBS} m)
  # all of it is part of libsnag.so, where only what snag.h names is seen from outside
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  foreach(path ${M_TESTS})
    get_filename_component(test ${path} NAME)
    add_executable(${test}_test ${path}_test.c)
    target_link_libraries(${test}_test PRIVATE ${target} ${M_TEST_LIBS} snag::cmocka)
    add_test(NAME ${name}/${test} COMMAND ${test}_test)
    set_tests_properties(${name}/${test} PROPERTIES TIMEOUT 300
      ENVIRONMENT "${SNAG_TEST_ENVIRONMENT}")
  endforeach()
endfunction()
