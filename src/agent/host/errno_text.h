// SPDX-License-Identifier: Apache-2.0
// The words for errors of files and sockets, as strerror() has them in English. It asks for a
// translation, which reads the environment and files of its own.
#pragma once

#include <cerrno>
#include <string>

namespace clrscope::agent {

inline std::string ErrnoText(int error) {
  switch (error) {
    case EPERM:
      return "Operation not permitted";
    case ENOENT:
      return "No such file or directory";
    case EIO:
      return "Input/output error";
    case ENXIO:
      return "No such device or address";
    case EBADF:
      return "Bad file descriptor";
    case ENOMEM:
      return "Cannot allocate memory";
    case EACCES:
      return "Permission denied";
    case EEXIST:
      return "File exists";
    case ENOTDIR:
      return "Not a directory";
    case EISDIR:
      return "Is a directory";
    case ENFILE:
      return "Too many open files in system";
    case EMFILE:
      return "Too many open files";
    case EFBIG:
      return "File too large";
    case ENOSPC:
      return "No space left on device";
    case EROFS:
      return "Read-only file system";
    case ENAMETOOLONG:
      return "File name too long";
    case ELOOP:
      return "Too many levels of symbolic links";
    case EADDRINUSE:
      return "Address already in use";
    case ESTALE:
      return "Stale file handle";
    case EDQUOT:
      return "Disk quota exceeded";
    default:
      return "error " + std::to_string(error);
  }
}

}  // namespace clrscope::agent
