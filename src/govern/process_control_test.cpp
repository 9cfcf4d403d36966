/// Whole governed processes acted on by their own sockets: each test body runs in a child of its own.

#include "govern/process_control.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mlx/allocator.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "govern/in_child.h"
#include "govern/mlx_functions.h"
#include "govern/process_governor.h"
#include "ledger/control_client.h"
#include "ledger/governed_page.h"

namespace weir::govern {
namespace {

using mlx::core::allocator::Allocator;
using mlx::core::allocator::Buffer;
using wire::ControlStatus;
using wire::Verb;

constexpr std::uint64_t kRun = 77;
constexpr std::size_t kMiB = 1 << 20;
constexpr uid_t kOtherUser = 1234;

const MlxFunctions& real_functions() {
  static const auto* const real = new MlxFunctions(value_or_throw(MlxFunctions::find()));
  return *real;
}

const weir_memory_table& governed(const std::string& folder, wire::Allocator allocator) {
  const MlxFunctions& real = real_functions();
  wire::AgentSettings settings;
  settings.allocator = allocator;
  settings.run = kRun;
  return *govern_process({settings, &real.table, real.library.c_str(), folder.c_str()});
}

Allocator& allocator(const weir_memory_table& table) {
  return *static_cast<Allocator*>(table.allocator());
}

/// Touches every page, so that it is backed by memory that can go back.
void use(const weir_memory_table& table, std::size_t bytes) {
  const Buffer buffer = allocator(table).malloc(bytes);
  std::memset(static_cast<char*>(const_cast<void*>(buffer.ptr())) + table.raw_offset, 1, bytes);
  allocator(table).free(buffer);
}

ledger::PageReading own_page(const std::string& folder) {
  const auto name = ledger::page_file_name(kRun, ::getpid());
  auto page = value_or_throw(value_or_throw(ledger::GovernedPage::open(folder + "/" + name)).read());
  page.alive = true;
  return page;
}

std::string own_socket(const std::string& folder) {
  return folder + "/" + std::to_string(kRun) + "-" + std::to_string(::getpid()) + ".sock";
}

ledger::ControlAnswer ask(const std::string& folder, wire::ControlRequest request) {
  auto client = value_or_throw(ledger::ControlClient::connect(folder, own_page(folder)));
  return value_or_throw(client.ask(request, std::chrono::seconds(20)));
}

ledger::ControlAnswer ask(const std::string& folder, Verb verb) {
  wire::ControlRequest request;
  request.verb = static_cast<std::uint16_t>(verb);
  return ask(folder, request);
}

ledger::ControlAnswer set(const std::string& folder, std::uint32_t flag, std::uint64_t bytes) {
  wire::ControlRequest request;
  request.verb = static_cast<std::uint16_t>(Verb::kSet);
  request.flags = flag;
  (flag == wire::kSetsCacheLimit ? request.cache_limit : request.memory_limit) = bytes;
  return ask(folder, request);
}

std::size_t sockets(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.path().extension() == ".sock" ? 1 : 0;
  return count;
}

class ProcessControlTest : public ::testing::Test {
 protected:
  ScratchFolder scratch_;
  const std::string folder_ = scratch_.path().string();
};

TEST_F(ProcessControlTest, LimitsOfAPoolActAtOnceOnAnIdleProcessAndAreLifted) {
  for (const auto kind : {wire::Allocator::kWeir, wire::Allocator::kMlxPolicy}) {
    EXPECT_EQ(0, status_in_child([&] {
                const weir_memory_table& table = governed(folder_, kind);
                MUST(set(folder_, wire::kSetsCacheLimit, wire::kNoLimit).status == ControlStatus::kDone);
                use(table, 64 * kMiB);
                MUST(own_page(folder_).retained >= static_cast<std::int64_t>(32 * kMiB));
                const auto lowered = set(folder_, wire::kSetsCacheLimit, 0);
                MUST(lowered.status == ControlStatus::kDone && lowered.released > 0);
                MUST(lowered.cache_limit == 0 && own_page(folder_).retained == 0);
                MUST(set(folder_, wire::kSetsCacheLimit, 256 * kMiB).cache_limit == 256 * kMiB);
                use(table, 64 * kMiB);
                MUST(own_page(folder_).retained >= static_cast<std::int64_t>(32 * kMiB));
                MUST(ask(folder_, Verb::kTrim).released > 0 && own_page(folder_).retained == 0);
                const auto acts = own_page(folder_).acts;
                MUST(acts.size() == 4 && acts.back().kind == wire::ActKind::kTrim);
              }));
  }
}

TEST_F(ProcessControlTest, AMemoryLimitRefusesFromThenOnAndTheProgramsOwnStaysTheTighter) {
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed(folder_, wire::Allocator::kWeir);
              MUST(set(folder_, wire::kSetsMemoryLimit, 0).status == ControlStatus::kRefused);
              MUST(set(folder_, wire::kSetsMemoryLimit, 16 * kMiB).memory_limit == 16 * kMiB);
              bool refused = false;
              try {
                use(table, 64 * kMiB);
              } catch (const std::bad_alloc&) {
                refused = true;
              }
              MUST(refused);
              MUST(set(folder_, wire::kSetsMemoryLimit, wire::kNoLimit).memory_limit == wire::kNoLimit);
              use(table, 64 * kMiB);
              table.set_cache_limit(1'000'000);
              const auto wider = set(folder_, wire::kSetsCacheLimit, 64 * kMiB);
              MUST(wider.status == ControlStatus::kDone && wider.cache_limit == 1'000'000);
              MUST(wider.text.find("1000000 bytes") != std::string::npos);
            }));
}

TEST_F(ProcessControlTest, UnderMlxsOwnAllocatorTheCallerDoesItAtItsNextAllocation) {
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed(folder_, wire::Allocator::kMlx);
              use(table, 8 * kMiB);
              MUST(table.get_cache_memory() == 8 * kMiB);
              MUST(set(folder_, wire::kSetsMemoryLimit, kMiB).status == ControlStatus::kRefused);
              MUST(ask(folder_, Verb::kReturn).status == ControlStatus::kPending);
              MUST(set(folder_, wire::kSetsCacheLimit, 4 * kMiB).status == ControlStatus::kPending);
              MUST(table.get_cache_memory() == 8 * kMiB && own_page(folder_).acts_done == 0);
              use(table, 1000);
              MUST(table.get_cache_memory() == 1000 && own_page(folder_).cache_limit == 4 * kMiB);
              for (int i = 0; i < 500 && own_page(folder_).acts_done < 2; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
              MUST(own_page(folder_).acts_done == 2);
              MUST(set(folder_, wire::kSetsCacheLimit, 16 * kMiB).status == ControlStatus::kPending);
              use(table, 1000);
              MUST(own_page(folder_).cache_limit == 16 * kMiB);
            }));
}

TEST_F(ProcessControlTest, AForksChildUnderMlxRefusesWhatWouldWaitForThreadsThatItHasNot) {
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed(folder_, wire::Allocator::kMlx);
              MUST(ask(folder_, Verb::kTrim).status == ControlStatus::kPending);
              MUST(0 == status_in_child([&] {
                     use(table, 1000);
                     MUST(ask(folder_, Verb::kTrim).status == ControlStatus::kRefused);
                     use(table, 1000);
                   }));
            }));
}

TEST_F(ProcessControlTest, ThreeHundredForksAmidVerbsLeaveThreeHundredUsableChildren) {
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed(folder_, wire::Allocator::kWeir);
              std::atomic<bool> stop = false;
              std::thread asking([&] {
                while (!stop)
                  for (const Verb verb : {Verb::kTrim, Verb::kSample, Verb::kReturn})
                    (void)ask(folder_, verb);
              });
              for (int i = 0; i < 300; ++i) {
                MUST(0 == status_in_child([&] {
                       use(table, 100'000);
                       MUST(ask(folder_, Verb::kTrim).status == ControlStatus::kDone);
                       if (i % 3 == 0) std::exit(0);  // with the handlers of a normal end
                       end_process();
                     }));
              }
              MUST(sockets(folder_) == 1);
              stop = true;
              asking.join();
            }));
}

TEST_F(ProcessControlTest, AChildThatCallsMlxNoMoreHasNoSocketAndLeavesItsParentsAlone) {
  EXPECT_EQ(0, status_in_child([&] {
              (void)governed(folder_, wire::Allocator::kWeir);
              MUST(0 == status_in_child([&] {
                     MUST(!std::filesystem::exists(own_socket(folder_)));
                     std::exit(0);
                   }));
              MUST(std::filesystem::exists(own_socket(folder_)));
              MUST(ask(folder_, Verb::kTrim).status == ControlStatus::kDone);
            }));
}

TEST_F(ProcessControlTest, TheSocketGoesAtTheEndAndThatOfAKilledProcessWithItsRun) {
  EXPECT_EQ(0, status_in_child([&] {
              (void)governed(folder_, wire::Allocator::kWeir);
              MUST(sockets(folder_) == 1);
              end_process();
              MUST(sockets(folder_) == 0);
              end_process();
            }));
  EXPECT_NE(0, status_in_child([&] {
              (void)governed(folder_, wire::Allocator::kWeir);
              ::raise(SIGKILL);
            }));
  EXPECT_EQ(sockets(folder_), 1u);
  EXPECT_EQ(ledger::remove_run_pages(folder_, kRun), 2u);
  EXPECT_EQ(sockets(folder_), 0u);
}

/// Sends stderr into a file; its lines that weir wrote.
class Lines {
 public:
  explicit Lines(const std::string& folder) : path_(folder + "/stderr") {
    MUST(std::freopen(path_.c_str(), "w", stderr) != nullptr);
  }
  [[nodiscard]] int of_weir() const {
    std::ifstream file(path_);
    int count = 0;
    for (std::string line; std::getline(file, line);)
      count += line.starts_with("weir: ") ? 1 : 0;
    return count;
  }

 private:
  std::string path_;
};

/// Governed, without a socket, after one line and one trouble.
void must_run_without_control(const std::string& folder) {
  const Lines lines(folder);
  const weir_memory_table& table = governed(folder, wire::Allocator::kWeir);
  use(table, kMiB);
  const auto page = own_page(folder);
  MUST(page.state == wire::PageState::kGoverned && page.allocations == 1 && page.troubles == 1);
  MUST(sockets(folder) == 0);
  MUST(lines.of_weir() == 1);
}

TEST_F(ProcessControlTest, WhereSocketsAreForbiddenTheProcessIsGovernedAllTheSame) {
  EXPECT_EQ(0, status_in_child([&] {
              sock_filter rules[] = {
                  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
              };
              const sock_fprog program{sizeof rules / sizeof rules[0], rules};
              MUST(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
              MUST(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
              must_run_without_control(folder_);
            }));
}

TEST_F(ProcessControlTest, WithoutAThreadThereIsNoSocketThatNobodyAnswers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user without threads";
  EXPECT_EQ(0, status_in_child([&] {
              MUST(::chown(folder_.c_str(), kOtherUser, kOtherUser) == 0);
              MUST(::setresgid(kOtherUser, kOtherUser, kOtherUser) == 0);
              MUST(::setresuid(kOtherUser, kOtherUser, kOtherUser) == 0);
              const rlimit none{0, 0};
              MUST(::setrlimit(RLIMIT_NPROC, &none) == 0);
              must_run_without_control(folder_);
            }));
}

TEST_F(ProcessControlTest, WithoutDescriptorsNothingIsSeenAndEverythingRuns) {
  EXPECT_EQ(0, status_in_child([&] {
              const rlimit none{0, 0};
              real_functions();  // reads files
              MUST(::setrlimit(RLIMIT_NOFILE, &none) == 0);
              use(governed(folder_, wire::Allocator::kMlxPolicy), kMiB);
              MUST(process_pool()->counters().allocations == 1);
            }));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace weir::govern
