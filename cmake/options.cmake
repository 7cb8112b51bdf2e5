# Language, warnings and the sanitizer builds.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g") # asserts stay on wherever tests run
set(CMAKE_C_FLAGS_QUICK "-Og -DXXH_NO_INLINE_HINTS=1") # for a first look: built in little more than half the time that -O2 takes
# what tests reach: counted by several threads, and in processes that others are made of
set(CMAKE_C_FLAGS_COVERAGE "-O1 -g1 --coverage -fprofile-update=atomic")
set(CMAKE_C_FLAGS_SANITIZE "-Og -g1 -DXXH_NO_INLINE_HINTS=1") # built in three quarters of the time that -O1 takes, and a third of what -O2 does

option(SNAG_WERROR "warnings are errors" ON)
option(SNAG_NATIVE "use every instruction of this machine's processor" OFF)
option(SNAG_ENABLE_MPI "build what snag analyze --together loads, for each MPI that is here" ON)
option(SNAG_FUZZ "also build the fuzzers; needs clang" OFF)
set(SNAG_SANITIZE "" CACHE STRING "sanitizers to build with, as for -fsanitize=")

# The same bytes wherever it is built: no paths of this machine in what is made.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# No one looks at errno after a function of math.h, and without it rounding is one instruction.
add_compile_options(-fno-math-errno)
add_compile_definitions(_GNU_SOURCE)
if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")
  add_compile_options(-w) # the release build warns of all of it; without -O2 a compiler sees less, and guesses
else()
  add_compile_options(-Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes)
  if(SNAG_WERROR)
    add_compile_options(-Werror)
  endif()
endif()
if(SNAG_NATIVE)
  add_compile_options(-march=native)
endif()
set(SNAG_PIC ON)
if(SNAG_SANITIZE)
  add_compile_options(-fsanitize=${SNAG_SANITIZE} -fno-omit-frame-pointer)
  if(SNAG_SANITIZE MATCHES address)
    # undefined behaviour is a trap, which the sanitizer of addresses tells with its place in the source: texts of
    # what it was are 12 MB in a program that starts thousands of times, and a third of compiling
    add_compile_options(-fsanitize-undefined-trap-on-error)
    add_link_options(-fsanitize=address) # the library of texts has 6 MB that are searched for leaks
    # tests start a program thousands of times, which has tens of thousands of pointers to what the
    # sanitizer says: at addresses that are known when it is linked
    set(SNAG_PIC OFF)
    add_link_options(-no-pie)
  else()
    add_link_options(-fsanitize=${SNAG_SANITIZE})
  endif()
endif()
if(SNAG_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
