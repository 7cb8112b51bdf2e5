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

option(SNAG_WERROR "warnings are errors" ON)
option(SNAG_NATIVE "use every instruction of this machine's processor" OFF)
option(SNAG_FUZZ "also build the fuzzers; needs clang" OFF)
set(SNAG_SANITIZE "" CACHE STRING "sanitizers to build with, as for -fsanitize=")

# No one looks at errno after a function of math.h, and without it rounding is one instruction.
add_compile_options(-fno-math-errno)
add_compile_options(-Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes)
add_compile_definitions(_GNU_SOURCE)
if(SNAG_WERROR)
  add_compile_options(-Werror)
endif()
if(SNAG_NATIVE)
  add_compile_options(-march=native)
endif()
if(SNAG_SANITIZE)
  add_compile_options(-fsanitize=${SNAG_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SNAG_SANITIZE})
endif()
if(SNAG_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
