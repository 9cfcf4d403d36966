#include "agent/recognition.h"

#include <dlfcn.h>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

LibraryFacts good_facts() {
  return {.version = "0.32.4", .missing = nullptr, .cpu_only = true, .bound_inside = nullptr};
}

/// What a library is, seen through its loaded form. It stays loaded.
LibraryFacts facts_of_file(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    ADD_FAILURE() << ::dlerror();
    return {};
  }
  return facts_of(::dlsym(handle, "_ZN3mlx4core17get_active_memoryEv"));
}

std::string fake(const std::string& which) {
  return std::string(WEIR_FAKE_MLX) + "/" + which + "/libmlx.so";
}

TEST(Recognition, AcceptsEveryKnownVersionAndNoOther) {
  for (const char* version : {"0.32.0", "0.32.1", "0.32.2", "0.32.3", "0.32.4"}) {
    LibraryFacts facts = good_facts();
    facts.version = version;
    EXPECT_EQ(objection(facts), "") << version;
  }
  for (const char* version :
       {"0.31.9", "0.32.5", "0.32.40", "0.32.4.dev20261130+ab12cd3", "0.33.0", "1.0.0", ""}) {
    LibraryFacts facts = good_facts();
    facts.version = version;
    EXPECT_THAT(objection(facts), HasSubstr("expected a CPU build of MLX 0.32.0 to 0.32.4")) << version;
  }
}

TEST(Recognition, NamesWhatIsMissing) {
  LibraryFacts facts = good_facts();
  facts.missing = "_ZN3mlx4core15set_wired_limitEm";
  EXPECT_THAT(objection(facts), HasSubstr("has no mlx::core::set_wired_limit(unsigned long)"));
  facts = good_facts();
  facts.cpu_only = false;
  EXPECT_THAT(objection(facts), HasSubstr("GPU"));
  facts = good_facts();
  facts.bound_inside = "_ZN3mlx4core9allocator9allocatorEv";
  EXPECT_THAT(objection(facts), HasSubstr("reaches its own mlx::core::allocator::allocator()"));
}

TEST(Recognition, KnowsTheWheel) {
  const std::string path = std::string(WEIR_MLX_ROOT) + "/lib/libmlx.so";
  const LibraryFacts facts = facts_of_file(path);
  EXPECT_THAT(facts.version, StartsWith("0.32."));
  EXPECT_EQ(facts.missing, nullptr);
  EXPECT_TRUE(facts.cpu_only);
  EXPECT_EQ(facts.bound_inside, nullptr);
  EXPECT_EQ(objection(facts), "");
}

TEST(Recognition, ReadsWhatALoadedLibraryExports) {
  EXPECT_EQ(objection(facts_of_file(fake("whole"))), "");
  EXPECT_STREQ(facts_of_file(fake("ten")).missing, "_ZN3mlx4core15set_wired_limitEm");
  EXPECT_EQ(facts_of_file(fake("newer")).version, "0.33.0");
  EXPECT_FALSE(facts_of_file(fake("gpu")).cpu_only);
  EXPECT_STREQ(facts_of_file(fake("inside")).bound_inside, "_ZN3mlx4core9allocator9allocatorEv");
}

TEST(Recognition, KnowsNothingOfAnAddressThatNoLibraryHolds) {
  int local = 0;
  EXPECT_NE(objection(facts_of(&local)), "");
  EXPECT_NE(objection(facts_of(nullptr)), "");
  EXPECT_NE(objection(facts_of(reinterpret_cast<const void*>(&std::abort))), "");
}

TEST(LoadedLibrary, FindsExactlyWhatTheObjectItselfDefines) {
  const auto libc = LoadedLibrary::holding(::dlsym(RTLD_DEFAULT, "getenv"));
  ASSERT_TRUE(libc);
  for (const char* name : {"getenv", "malloc", "qsort", "write", "dl_iterate_phdr"}) {
    EXPECT_NE(libc->symbol(name), nullptr) << name;
  }
  EXPECT_EQ(libc->symbol("getenv"), ::dlsym(RTLD_DEFAULT, "getenv"));
  EXPECT_EQ(libc->symbol("no_such_function"), nullptr);
  EXPECT_EQ(libc->symbol(""), nullptr);
  const auto libstdcxx = LoadedLibrary::holding(::dlsym(RTLD_DEFAULT, "_ZSt9terminatev"));
  ASSERT_TRUE(libstdcxx);
  EXPECT_EQ(libstdcxx->symbol("getenv"), nullptr) << "undefined there, though known";
  EXPECT_TRUE(libstdcxx->asks_linker_for("malloc"));
  EXPECT_FALSE(libstdcxx->asks_linker_for("qsort"));
}

}  // namespace
}  // namespace weir::agent
