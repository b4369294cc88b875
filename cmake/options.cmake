# Warnings, sanitizers and the launcher that every target shares.
# CLRSCOPE_OPTIMIZE of a target: how hard a release build optimises it; -O2 where it is not set.
set(optimize $<TARGET_PROPERTY:CLRSCOPE_OPTIMIZE>)
add_library(clrscope_options INTERFACE)
target_compile_options(clrscope_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
  $<$<CONFIG:Release>:-g1;$<IF:$<BOOL:${optimize}>,${optimize},-O2>>)
if(CLRSCOPE_WERROR)
  target_compile_options(clrscope_options INTERFACE -Werror)
endif()
if(CLRSCOPE_SANITIZE)
  target_compile_options(clrscope_options INTERFACE
    -fsanitize=${CLRSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(clrscope_options INTERFACE -fsanitize=${CLRSCOPE_SANITIZE})
endif()
option(CLRSCOPE_LIBFUZZER "Build libFuzzer targets instead of corpus replays (clang only)" OFF)
if(CLRSCOPE_LIBFUZZER)
  target_compile_options(clrscope_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(clrscope_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
# __FILE__, which every check of a test has, is the same in all clones: else ccache would have none of the tests' objects.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
