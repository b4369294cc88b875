# clrscope_link_static(TARGET): TARGET becomes one file that needs nothing of the system but a kernel.
# Static-pie, so that its addresses stay as random as those of a dynamic program: it reads foreign
# files, often as root. Functions of the C library that would load shared objects of the glibc it was
# built with are replaced by what static_libc.cc beside this file says; --fatal-warnings shows the linker's
# word on any other ("Using 'getpwnam' in statically linked applications requires …").
set(clrscope_static_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CLRSCOPE_SANITIZE)
  set(clrscope_static_default ON)
endif()
option(CLRSCOPE_STATIC "Link the program statically" ${clrscope_static_default})

function(clrscope_link_static target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/static_libc.cc)
  target_link_options(${target} PRIVATE -static-pie)
  # Which members of which archives are in it: what the packages' list of parts (SBOM) is made of.
  target_link_options(${target} PRIVATE LINKER:-Map=$<TARGET_FILE:${target}>.map)
  foreach(name dlopen dlsym dlclose dlerror getaddrinfo freeaddrinfo getnameinfo getprotobynumber
      getservbyname gethostbyname)
    target_link_options(${target} PRIVATE LINKER:--wrap=${name})
  endforeach()
  if(CLRSCOPE_WERROR)
    target_link_options(${target} PRIVATE LINKER:--fatal-warnings)
  endif()
endfunction()
