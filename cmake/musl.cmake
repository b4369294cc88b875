# clrscope_for_musl(TARGET): TARGET is built against musl in place of glibc: by the same compiler, with
# the specs of Debian's musl-tools and the libstdc++ that tools/musl_libstdcxx makes.
#   -DCLRSCOPE_MUSL=auto  (default) where both are there, in release builds; CLRSCOPE_MUSL_FOUND says so
#   -DCLRSCOPE_MUSL=on    they have to be there
#   -DCLRSCOPE_MUSL=off   the program has no agent for processes on musl, and says so when it needs one
set(CLRSCOPE_MUSL "auto" CACHE STRING "Build the agent for musl, too: auto, on or off")
set_property(CACHE CLRSCOPE_MUSL PROPERTY STRINGS auto on off)
set(CLRSCOPE_MUSL_SPECS /usr/lib/x86_64-linux-musl/musl-gcc.specs)
set(CLRSCOPE_MUSL_FOUND OFF)
if(CLRSCOPE_MUSL STREQUAL "on" OR (CLRSCOPE_MUSL STREQUAL "auto" AND CMAKE_BUILD_TYPE STREQUAL "Release"
    AND NOT CLRSCOPE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR}/tools/musl_libstdcxx --find
    OUTPUT_VARIABLE CLRSCOPE_MUSL_LIBSTDCXX OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE why ERROR_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(NOT failed)
    set(CLRSCOPE_MUSL_FOUND ON)
    message(STATUS "The agent for musl is built with ${CLRSCOPE_MUSL_LIBSTDCXX}")
  elseif(CLRSCOPE_MUSL STREQUAL "on")
    message(FATAL_ERROR "The agent for musl cannot be built: ${why}")
  else()
    message(NOTICE "clrscope is built without an agent for musl (Alpine): ${why}")
  endif()
endif()

# Headers of others that are the same for every C library. Their folder, /usr/include, is glibc's.
function(clrscope_musl_headers target)
  foreach(name ${ARGN})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/musl-include)
    file(CREATE_LINK /usr/include/${name} ${CMAKE_BINARY_DIR}/musl-include/${name} SYMBOLIC)
  endforeach()
  target_compile_options(${target} PRIVATE "SHELL:-isystem ${CMAKE_BINARY_DIR}/musl-include")
endfunction()

function(clrscope_for_musl target)
  file(GLOB headers ${CLRSCOPE_MUSL_LIBSTDCXX}/include/c++/*)
  # By -I: behind musl's own headers, where -isystem may put them, they do not find these.
  target_compile_options(${target} PRIVATE -specs=${CLRSCOPE_MUSL_SPECS}
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-nostdinc++ -I${headers} -I${headers}/x86_64-linux-musl>")
  # The specs forget the table by which an address's unwind information is found.
  target_link_options(${target} PRIVATE -specs=${CLRSCOPE_MUSL_SPECS} -Wl,--eh-frame-hdr -L${CLRSCOPE_MUSL_LIBSTDCXX}/lib)
endfunction()
