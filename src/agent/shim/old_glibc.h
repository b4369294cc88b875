// SPDX-License-Identifier: Apache-2.0
// Included before every source of the library: binds what newer C libraries have moved to its
// oldest name, so that the library loads on distributions since glibc 2.28. The functions are the
// same: 2.34 merged libpthread into libc and gave them new versions.
#pragma once
#ifdef __x86_64__
__asm__(".symver pthread_create,pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_sigmask,pthread_sigmask@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@GLIBC_2.2.5");
#endif
