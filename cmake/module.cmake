# The tests of a program; those that the patterns `clock` name are found apart.
function(clrscope_discover_tests program clock)
  if(clock)
    list(JOIN clock ":" pattern)
    gtest_discover_tests(${program} ${ARGN} TEST_FILTER "${pattern}" TEST_LIST ${program}_clock DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 300 LABELS clock RUN_SERIAL ON)
    set(others TEST_FILTER "-${pattern}")
  endif()
  gtest_discover_tests(${program} ${ARGN} ${others} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

# clrscope_module(NAME [DEPS a b …] [LIBS x y …] [HOT] [SIMULATES] [CLOCK pattern …])
# One folder of src/ = one static library of every .cc in it, and one test program of every
# *_test.cc. DEPS are other modules: they are the layer rule (tools/check_layers.py reads them).
# CLOCK: tests that measure time, as GoogleTest's filter has them. ctest runs each alone, under the label
# `clock`; CI runs one again that fails (tools/ci).
# HOT: every event passes through it; a release build optimises it harder.
# SIMULATES: its tests simulate programs and keep -O2. Those of other modules have -O1: they are 40 % of what is compiled.
function(clrscope_module name)
  cmake_parse_arguments(arg "HOT;SIMULATES" "" "DEPS;LIBS;CLOCK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$|/main\\.cc$|/testing/")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM arg_DEPS PREPEND clrscope_)
  if(sources)
    add_library(clrscope_${name} STATIC ${sources})
    target_include_directories(clrscope_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(clrscope_${name} PUBLIC ${arg_DEPS} ${arg_LIBS} PRIVATE clrscope_options)
    if(arg_HOT)
      set_target_properties(clrscope_${name} PROPERTIES CLRSCOPE_OPTIMIZE -O3)
    endif()
  else()
    add_library(clrscope_${name} INTERFACE)
    target_include_directories(clrscope_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(clrscope_${name} INTERFACE ${arg_DEPS} ${arg_LIBS})
  endif()
  if(CLRSCOPE_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE clrscope_${name} clrscope_source_dir clrscope_options
      GTest::gtest GTest::gtest_main)
    if(NOT arg_SIMULATES)
      set_target_properties(${name}_test PROPERTIES CLRSCOPE_OPTIMIZE -O1)
    endif()
    clrscope_discover_tests(${name}_test "${arg_CLOCK}")
  endif()
endfunction()
