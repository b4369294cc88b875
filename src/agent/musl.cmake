# The agent's library for musl, and the tests of its parts, which run under musl's loader.
add_library(clrscope_agent_musl OBJECT ${agent_sources} shim/unwinder.cc)
clrscope_for_musl(clrscope_agent_musl)
clrscope_agent_code(clrscope_agent_musl)
clrscope_musl_headers(clrscope_agent_musl protozero)

add_library(clrscope-agent-musl SHARED $<TARGET_OBJECTS:clrscope_agent_musl>)
set_target_properties(clrscope-agent-musl PROPERTIES LINKER_LANGUAGE CXX)
clrscope_for_musl(clrscope-agent-musl)
clrscope_agent_library(clrscope-agent-musl)

if(NOT CLRSCOPE_TESTS)
  return()
endif()
# GoogleTest from its sources: the system's library is for glibc.
set(googletest /usr/src/googletest/googletest)
add_library(gtest_musl STATIC ${googletest}/src/gtest-all.cc ${googletest}/src/gtest_main.cc)
clrscope_for_musl(gtest_musl)
target_compile_options(gtest_musl PRIVATE -I${googletest} -I${googletest}/include -O1)

file(GLOB_RECURSE agent_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
set(source_dir ${PROJECT_SOURCE_DIR}/src/base/testing/source_dir.cc)
set_source_files_properties(${source_dir} PROPERTIES COMPILE_DEFINITIONS CLRSCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_executable(agent_musl_test ${agent_tests} testing/agent_on_fake.cc testing/call_table.cc
  testing/fake_runtime.cc testing/fake_types.cc ${source_dir} $<TARGET_OBJECTS:clrscope_agent_musl>)
set_source_files_properties(testing/agent_on_fake.cc testing/call_table.cc testing/fake_runtime.cc
  testing/fake_types.cc ${source_dir} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
clrscope_for_musl(agent_musl_test)
clrscope_musl_headers(agent_musl_test protozero)
target_include_directories(agent_musl_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_BINARY_DIR})
target_compile_options(agent_musl_test PRIVATE "SHELL:-isystem ${googletest}/include" -O1)
target_link_options(agent_musl_test PRIVATE -nodefaultlibs)
target_link_libraries(agent_musl_test PRIVATE gtest_musl ${c_runtime})
add_library(blocking-library-musl SHARED testing/blocking_library.c)
clrscope_for_musl(blocking-library-musl)
set_target_properties(blocking-library-musl PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(agent_musl_test blocking-library-musl)
target_compile_definitions(agent_musl_test PRIVATE
  CLRSCOPE_BLOCKING_LIBRARY="$<TARGET_FILE_NAME:blocking-library-musl>")
clrscope_discover_tests(agent_musl_test "${agent_clock_tests}" TEST_PREFIX musl.)
