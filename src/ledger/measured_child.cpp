#include "ledger/measured_child.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <exception>

#include <gtest/gtest.h>

namespace weir::ledger {
namespace {

[[noreturn]] void run_child(int out, const std::function<std::vector<std::int64_t>()>& body) {
  try {
    for (const std::int64_t value : body())
      if (::write(out, &value, sizeof value) != sizeof value) ::_exit(2);
    ::_exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    ::_exit(1);
  }
}

}  // namespace

std::vector<std::int64_t> measured_in_child(const std::function<std::vector<std::int64_t>()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) run_child(ends[1], body);
  ::close(ends[1]);
  std::vector<std::int64_t> values;
  for (std::int64_t value = 0; ::read(ends[0], &value, sizeof value) == sizeof value;)
    values.push_back(value);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    ADD_FAILURE() << "the child ended with wait status " << status;
    return {};
  }
  return values;
}

void touch_pages(void* memory, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += 4096)
    static_cast<volatile char*>(memory)[at] = 1;
}

void* map_touched(std::int64_t bytes) {
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  touch_pages(memory, bytes);
  return memory;
}

}  // namespace weir::ledger
