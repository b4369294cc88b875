# The libraries of others, known in every folder. Static where the system has them so: the program is
# one file (cmake/static.cmake).
if(NOT CLRSCOPE_SANITIZE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET GLOBAL liblzma)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET GLOBAL re2)
pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET GLOBAL ncursesw)
pkg_check_modules(EVENT REQUIRED IMPORTED_TARGET GLOBAL libevent_extra libevent_core)
# TLS for libevent. libevent_openssl.pc brings all of libevent a second time.
find_library(EVENT_OPENSSL event_openssl REQUIRED)
if(NOT CLRSCOPE_SANITIZE)
  set(OPENSSL_USE_STATIC_LIBS TRUE)
endif()
foreach(package OpenSSL ZLIB SQLite3 fmt nlohmann_json CLI11 Threads)
  find_package(${package} REQUIRED GLOBAL)
endforeach()
if(CLRSCOPE_TESTS)
  find_package(GTest REQUIRED GLOBAL)
  find_package(benchmark REQUIRED GLOBAL)
  find_package(Python3 REQUIRED COMPONENTS Interpreter GLOBAL)
endif()

add_library(clrscope_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cc)
target_include_directories(clrscope_fmt SYSTEM PUBLIC
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
