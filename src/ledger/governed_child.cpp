#include "ledger/governed_child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "wire/page_file.h"

namespace weir::ledger {

GovernedChild::GovernedChild(const std::function<void()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    body();
    if (::write(ends[1], "x", 1) != 1) ::_exit(1);
    while (true)
      ::pause();
  }
  ::close(ends[1]);
  char ready = 0;
  EXPECT_EQ(::read(ends[0], &ready, 1), 1) << "the child ended in its body";
  ::close(ends[0]);
}

GovernedChild::~GovernedChild() {
  if (is_reaped_) return;
  kill();
  reap();
}

void GovernedChild::kill() {
  ::kill(pid_, SIGKILL);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
}

void GovernedChild::reap() {
  ::waitpid(pid_, nullptr, 0);
  is_reaped_ = true;
}

PagesFolder::PagesFolder() {
  char name[] = "/tmp/weir_pages_XXXXXX";
  if (::mkdtemp(name) == nullptr) std::abort();
  path_ = name;
}

PagesFolder::~PagesFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void PagesFolder::put(const std::string& name, const std::string& bytes, std::size_t size) const {
  std::string padded = bytes;
  padded.resize(size);
  std::ofstream(path_ / name, std::ios::binary) << padded;
}

std::string page_bytes(const std::function<void(wire::CountersPage&)>& fill) {
  wire::CountersPage* page = wire::make_page("", {.run = 7, .library = "/lib/libmlx.so"}, nullptr);
  fill(*page);
  std::string bytes(reinterpret_cast<const char*>(page), sizeof *page);
  bytes.resize(wire::kPageBytes);
  wire::leave_page(page);
  return bytes;
}

}  // namespace weir::ledger
