# One library per folder of src/, in the order of the pipeline (STYLE section 1):
#
#   add_module(detect USES features LIBS snag::xxhash SOURCES lof residual TESTS lof)
#
# builds libsnag_detect from lof.c and residual.c, may include what the named folders may, and
# makes the test detect/lof from lof_test.c: `build/release/src/detect/detect_test lof`. Tests of what threads
# share are named under THREADED, those that take seconds under SLOW, those that need a PostgreSQL server
# under POSTGRES. TEST_LIBS is what only the tests need.

# What sanitizers are told wherever tests run: undefined behaviour fails a test, too.
set(SNAG_ASAN_OPTIONS handle_sigill=1:quarantine_size_mb=16) # 256 of freed memory are 256 of new pages, too
set(SNAG_TEST_ENVIRONMENT
  "ASAN_OPTIONS=${SNAG_ASAN_OPTIONS}"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")

# After how many seconds a test hangs. It is no measure of speed: many times what the slowest takes.
set(SNAG_TEST_HANGS_S 1200)

# Which build runs a test, by its kind. The build without sanitizers has all of them; another has
# those of which its sanitizer can say something:
#
#   unit       a module's own
#   threaded   ... of what threads share
#   slow       ... that takes seconds
#   postgres   ... that needs a PostgreSQL server
#   command    a command, from its words, files or requests to what it answers, also of what is damaged
#   covered    ... whose code other tests run with the sanitizer, as that is slow: which was found with gcov, and
#              all of them leave out 1 of 80 branches
#   busy       ... that keeps all processors busy
#   threads    programs that do several things at once, from outside
#   processes  processes of MPI, servers of others
#   words      what is the same whatever the build: texts, sources, data, the page, other programs
#
# Two labels say what `./setup.sh test` leaves out of a build: `long` is for `./setup.sh test-long`,
# `elsewhere` (of the build without sanitizers) runs with a sanitizer, which sees all that this build sees.
set(snag_kinds      unit      threaded  slow      postgres  command   covered busy      threads processes words)
set(snag_in_none    elsewhere elsewhere elsewhere elsewhere elsewhere yes     elsewhere elsewhere yes     yes)
set(snag_in_address yes       yes       yes       yes       yes       long    yes       long    long      no)
set(snag_in_thread  no        yes       long      long      no        no      yes       yes     long      no)

# Which begin first where nobody has measured yet: those that take longest, as half of that is waiting, for which
# nothing is left to be done beside when they are the last.
set(snag_costs      0         10        20        40        0         0       10        30      20        0)

# The names of tests say which build they are of, so that all can be run together: asan/detect/lof.
set(snag_build none)
set(snag_prefix)
if(SNAG_SANITIZE MATCHES "address|thread")
  set(snag_build ${CMAKE_MATCH_0})
  string(SUBSTRING ${snag_build} 0 1 snag_prefix)
  string(APPEND snag_prefix san/)
endif()

# snag_runs(RESULT KIND) -- what becomes of tests of a kind in this build: yes, no, long or elsewhere.
function(snag_runs result kind)
  list(FIND snag_kinds ${kind} at)
  list(GET snag_in_${snag_build} ${at} runs)
  set(${result} ${runs} PARENT_SCOPE)
endfunction()

# Programs whose tests all run elsewhere, a third of all there is to build, are made when one of these is asked for.
if(SNAG_HAS_TESTS AND snag_build STREQUAL none)
  add_custom_target(unit_programs)
  add_test(NAME unit-programs COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target unit_programs)
  set_tests_properties(unit-programs PROPERTIES FIXTURES_SETUP unit_programs LABELS elsewhere)
endif()

# snag_when_asked(TARGET KIND) -- a program that tests of this kind alone need.
function(snag_when_asked target kind)
  snag_runs(runs ${kind})
  if(runs STREQUAL elsewhere)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL YES)
    add_dependencies(unit_programs ${target})
  endif()
endfunction()

# snag_test(KIND NAME COMMAND...) -- a test, and what all of them are told. Exit status 77: skipped.
function(snag_test kind name)
  snag_runs(runs ${kind})
  if(NOT runs OR NOT SNAG_HAS_TESTS)
    return()
  endif()
  string(PREPEND name ${snag_prefix})
  add_test(NAME ${name} COMMAND ${ARGN})
  list(FIND snag_kinds ${kind} at)
  list(GET snag_costs ${at} cost)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${SNAG_TEST_HANGS_S} COST ${cost}
    ENVIRONMENT "${SNAG_TEST_ENVIRONMENT}")
  if(NOT runs STREQUAL yes)
    set_tests_properties(${name} PROPERTIES LABELS ${runs})
  endif()
  if(runs STREQUAL elsewhere)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED unit_programs)
  endif()
endfunction()

# snag_properties(PROPERTIES... TESTS names...) -- properties of those of them that this build has.
function(snag_properties)
  cmake_parse_arguments(P "" "" "TESTS" ${ARGN})
  foreach(name ${P_TESTS})
    string(PREPEND name ${snag_prefix})
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES ${P_UNPARSED_ARGUMENTS})
    endif()
  endforeach()
endfunction()

# snag_test_program(TARGET TESTS...) -- one program of the tests x_test.c of this folder, so that what
# they are linked with is linked once: `TARGET x` is the main() of x_test.c.
function(snag_test_program target)
  set(declared)
  set(called)
  set(options -Wno-missing-prototypes)
  if(SNAG_SANITIZE)
    list(APPEND options -O0) # of a test's own lines compiling is the dearest part
  endif()
  foreach(path ${ARGN})
    get_filename_component(test ${path} NAME)
    file(STRINGS ${path}_test.c has_arguments REGEX "^int main\\(int ")
    set(parameters void)
    set(arguments)
    if(has_arguments)
      set(parameters "int argc, char **argv")
      set(arguments "argc - 1, argv + 1")
    endif()
    string(APPEND declared "int ${test}_test(${parameters});\n")
    string(APPEND called "    if (strcmp(argv[1], \"${test}\") == 0)\n        return ${test}_test(${arguments});\n")
    set_source_files_properties(${path}_test.c PROPERTIES COMPILE_DEFINITIONS main=${test}_test
      COMPILE_OPTIONS "${options}")
    list(APPEND sources ${path}_test.c)
  endforeach()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${target}_main.c)
  file(GENERATE OUTPUT ${main} CONTENT "#include <stdio.h>
#include <string.h>

${declared}
int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
${called}    fprintf(stderr, \"no test '%s'\\n\", argv[1]);
    return 2;
}
")
  add_executable(${target} ${main} ${sources})
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON) # tests of process groups are their own process_group_transport
endfunction()

function(add_module name)
  cmake_parse_arguments(M "" "" "SOURCES;TESTS;THREADED;SLOW;COVERED;POSTGRES;TEST_LIBS;USES;LIBS" ${ARGN})
  set(target snag_${name})
  list(TRANSFORM M_SOURCES APPEND .c)
  list(TRANSFORM M_USES PREPEND snag_)
  add_library(${target} STATIC ${M_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${M_USES} ${M_LIBS} m)
  # all of it is part of libsnag.so, where only what snag.h names is seen from outside
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ${SNAG_PIC} C_VISIBILITY_PRESET hidden)

  snag_runs(runs unit)
  if(NOT runs)
    set(M_TESTS)
  endif()
  set(tests ${M_TESTS} ${M_THREADED} ${M_SLOW} ${M_COVERED} ${M_POSTGRES})
  if(NOT tests OR NOT SNAG_HAS_TESTS)
    return()
  endif()
  snag_test_program(${name}_test ${tests})
  target_link_libraries(${name}_test PRIVATE snag_samples ${target} ${M_TEST_LIBS} snag::cmocka)
  if(NOT M_COVERED)
    snag_when_asked(${name}_test unit)
  endif()
  foreach(path ${M_TESTS})
    get_filename_component(test ${path} NAME)
    snag_test(unit ${name}/${test} ${name}_test ${test})
  endforeach()
  foreach(kind threaded slow covered)
    string(TOUPPER ${kind} tests_of)
    foreach(test ${M_${tests_of}})
      snag_test(${kind} ${name}/${test} ${name}_test ${test})
    endforeach()
  endforeach()
  foreach(test ${M_POSTGRES})
    snag_test(postgres ${name}/${test} bash ${PROJECT_SOURCE_DIR}/tests/postgres/server.sh with
      $<TARGET_FILE:${name}_test> ${test})
  endforeach()
endfunction()
