# One library per folder of src/, in the order of the pipeline (STYLE section 1):
#
#   add_module(detect USES features LIBS snag::xxhash SOURCES lof residual TESTS lof)
#
# builds libsnag_detect from lof.c and residual.c, may include what the named folders may, and
# makes the test detect/lof from lof_test.c. TEST_LIBS is what only the tests need.

# What sanitizers are told wherever tests run: undefined behaviour fails a test, too.
set(SNAG_TEST_ENVIRONMENT
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp"
  "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1")

# After how many seconds a test hangs. It is no measure of speed: many times what the slowest takes.
set(SNAG_TEST_HANGS_S 1200)

# snag_runs(RESULT KIND) -- whether tests of a kind run in this build. All of them run in a build
# without sanitizers; the others repeat what their sanitizer can say something of that no other
# build has said:
#
#   unit     a module's own: everywhere
#   service  programs that serve, stream or judge while others wait: everywhere, they are threads
#   command  a command from its words to what it prints; also what damage does to it: with the
#            address sanitizer. Its threads are those of the modules, whose unit tests run them
#   threads  a command that keeps all processors busy: everywhere
#   words    what is the same whatever the build: texts, sources, data, the page, other programs
function(snag_runs result kind)
  set(thread_kinds unit service threads)
  set(address_kinds ${thread_kinds} command)
  set(${result} TRUE PARENT_SCOPE)
  foreach(sanitizer thread address)
    if(SNAG_SANITIZE MATCHES ${sanitizer} AND NOT kind IN_LIST ${sanitizer}_kinds)
      set(${result} FALSE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

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
    set_tests_properties(${name}/${test} PROPERTIES TIMEOUT ${SNAG_TEST_HANGS_S}
      ENVIRONMENT "${SNAG_TEST_ENVIRONMENT}")
  endforeach()
endfunction()

# snag_postgres_test(MODULE NAME LIBS...) -- a unit test that has a PostgreSQL server for itself.
function(snag_postgres_test module name)
  add_executable(${name}_test ${name}_test.c)
  target_link_libraries(${name}_test PRIVATE snag_${module} snag_pg_test ${ARGN})
  add_test(NAME ${module}/${name}
    COMMAND bash ${PROJECT_SOURCE_DIR}/tests/postgres/server.sh with $<TARGET_FILE:${name}_test>)
  set_tests_properties(${module}/${name} PROPERTIES TIMEOUT ${SNAG_TEST_HANGS_S} SKIP_RETURN_CODE 77
    ENVIRONMENT "${SNAG_TEST_ENVIRONMENT}")
endfunction()
