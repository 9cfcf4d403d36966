#include "base/owned_fd.h"

#include <unistd.h>

namespace weir {

void OwnedFd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace weir
