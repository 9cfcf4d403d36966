#define _GNU_SOURCE

// Preloaded into every process of a run, so it links libc alone and does nothing until MLX is called. Its
// eleven exported functions (shim.map) stand before MLX's own in every search of the dynamic linker; the
// first call of any of them finds the MLX that the caller means, loads the core beside this file, and lets it
// choose the table that answers from then on. Names are MLX's own, as the C++ compiler writes them.

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/memory_table.h"

#define COLD __attribute__((cold, noinline))

// raw_ptr() asks MLX's own function: before the start, and in a process that runs ungoverned.
#define ASK_MLX SIZE_MAX

struct mlx {
  struct weir_memory_table table;
  void* (*raw_ptr)(void**);
};

static _Atomic(const struct weir_memory_table*) in_force;
static atomic_size_t raw_offset = ASK_MLX;
static struct mlx real;
static char real_path[PATH_MAX];

// -- What answers where MLX exports nothing under the name --

static void* no_pointer(void) {
  return NULL;
}
static size_t no_bytes(void) {
  return 0;
}
static size_t no_limit(size_t limit) {
  (void)limit;
  return 0;
}
static void no_action(void) {}
static void* no_raw_pointer(void** buffer) {
  (void)buffer;
  return NULL;
}
static const struct mlx nothing = {{WEIR_MEMORY_TABLE_VERSION, 0, no_pointer, no_bytes, no_bytes, no_action,
                                    no_bytes, no_limit, no_bytes, no_limit, no_action, no_limit},
                                   no_raw_pointer};

static const struct {
  const char* name;
  size_t place;
} functions[] = {{WEIR_ALLOCATOR_SYMBOL, offsetof(struct mlx, table.allocator)},
                 {WEIR_RAW_POINTER_SYMBOL, offsetof(struct mlx, raw_ptr)},
#define WEIR_PLACE(member, symbol) {symbol, offsetof(struct mlx, table.member)},
                 WEIR_MEMORY_FUNCTIONS(WEIR_PLACE)
#undef WEIR_PLACE
};
enum { kFunctions = sizeof functions / sizeof functions[0] };

static void fill_holes(struct mlx* mlx) {
  for (int i = 0; i < kFunctions; ++i) {
    void** place = (void**)(void*)((char*)mlx + functions[i].place);
    if (*place == NULL) memcpy(place, (const char*)&nothing + functions[i].place, sizeof *place);
  }
}

// -- Finding MLX and the core: done by every thread that comes before the table, outside the once, because a
// thread inside dlopen may be waiting in one of our functions while we would wait for the linker's lock --

enum { kMostLibraries = 4 };

struct attempt {
  struct mlx found;
  char path[PATH_MAX];   // Of the object that defines `found`; "" when there is none.
  char other[PATH_MAX];  // A second one; "" when there is none.
  void* core;
  weir_agent_start_function start;
  weir_agent_stays_function stays;
  char trouble[512];  // Why `start` is NULL.
  int libraries;      // Loaded objects by the name of MLX.
  char library[kMostLibraries][PATH_MAX];
};

static COLD void say(const char* format, ...) {
  char line[2 * PATH_MAX];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line - 1, format, values);
  va_end(values);
  if (length < 0) return;
  if ((size_t)length > sizeof line - 2) length = (int)sizeof line - 2;
  line[length] = '\n';
  ssize_t written = write(STDERR_FILENO, line, (size_t)length + 1);
  (void)written;
}

extern const char __ehdr_start __attribute__((visibility("hidden")));  // The linker's marks: where this file
extern const char _end __attribute__((visibility("hidden")));          // is mapped.

static bool is_own(const void* address) {
  return (const char*)address >= &__ehdr_start && (const char*)address < &_end;
}

// Fills `found` from what `handle` leads to beside ourselves; false when that is nothing.
static bool fill_from(void* handle, struct attempt* attempt) {
  const void* defined = NULL;
  for (int i = 0; i < kFunctions; ++i) {
    void* symbol = dlsym(handle, functions[i].name);
    if (symbol == NULL || is_own(symbol)) continue;
    memcpy((char*)&attempt->found + functions[i].place, &symbol, sizeof symbol);
    if (defined == NULL) defined = symbol;
  }
  Dl_info info;
  if (defined == NULL || !dladdr(defined, &info) || info.dli_fname == NULL) return false;
  snprintf(attempt->path, sizeof attempt->path, "%s", info.dli_fname);
  dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE);  // Its functions stay where they are.
  return true;
}

static bool fill_from_object(const char* path, struct attempt* attempt) {
  void* handle = path == NULL || path[0] == '\0' ? NULL : dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == NULL) return false;
  const bool filled = fill_from(handle, attempt);
  dlclose(handle);
  return filled;
}

// Only copies names: the linker's list is locked while this runs.
static int note_library(struct dl_phdr_info* object, size_t size, void* into) {
  (void)size;
  struct attempt* attempt = into;
  if (object->dlpi_name == NULL) return 0;
  const char* slash = strrchr(object->dlpi_name, '/');
  if (strstr(slash ? slash : object->dlpi_name, "libmlx") == NULL) return 0;
  snprintf(attempt->library[attempt->libraries], PATH_MAX, "%s", object->dlpi_name);
  return ++attempt->libraries == kMostLibraries;
}

// A second library with an allocator of its own.
static void find_other(struct attempt* attempt) {
  for (int i = 0; i < attempt->libraries && attempt->other[0] == '\0'; ++i) {
    const char* path = attempt->library[i];
    void* handle = strcmp(path, attempt->path) == 0 ? NULL : dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == NULL) continue;
    Dl_info info;
    const void* symbol = dlsym(handle, functions[0].name);
    if (symbol && dladdr(symbol, &info) && strcmp(info.dli_fname, path) == 0)
      memcpy(attempt->other, path, PATH_MAX);
    dlclose(handle);
  }
}

// The caller's own object and what it depends on; else what follows us in the global scope; else, for
// callers that depend on nothing, the first loaded object of that name.
static bool find_mlx(const void* caller, struct attempt* attempt) {
  dl_iterate_phdr(note_library, attempt);
  Dl_info info;
  bool found = dladdr(caller, &info) && fill_from_object(info.dli_fname, attempt);
  if (!found) found = fill_from(RTLD_NEXT, attempt);
  for (int i = 0; i < attempt->libraries && !found; ++i)
    found = fill_from_object(attempt->library[i], attempt);
  if (found) find_other(attempt);
  return found;
}

static void load_core(struct attempt* attempt) {
  Dl_info own;
  char path[PATH_MAX];
  const char* slash = dladdr(&real, &own) && own.dli_fname ? strrchr(own.dli_fname, '/') : NULL;
  const int folder = slash ? (int)(slash + 1 - own.dli_fname) : 0;
  snprintf(path, sizeof path, "%.*slibweir_core.so", folder, folder ? own.dli_fname : "");
  attempt->core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* starts = attempt->core ? dlsym(attempt->core, "weir_agent_start") : NULL;
  void* stays = starts ? dlsym(attempt->core, "weir_agent_stays") : NULL;
  const char* trouble = stays ? NULL : dlerror();
  if (stays) memcpy(&attempt->start, &starts, sizeof starts);
  memcpy(&attempt->stays, &stays, sizeof stays);
  snprintf(attempt->trouble, sizeof attempt->trouble, "%s", trouble ? trouble : "");
}

// Every thread's attempt holds the core; where it stays out the last one to leave unmaps it. Outside the once
// too.
static void leave_core(const struct attempt* attempt) {
  if (attempt->core && !(attempt->stays && attempt->stays())) dlclose(attempt->core);
}

// -- The start --

static char settings_text[512];  // WEIR_AGENT and WEIR_AGENT_PAGES as the process found them.
static char pages_text[PATH_MAX];
static bool has_settings, has_pages;
static bool left;  // A child of the run that is not to be governed.

static pthread_once_t once = PTHREAD_ONCE_INIT;
// Set while this thread starts the agent. Initial-exec: the dynamic linker's own call stays out.
static _Thread_local struct attempt* mine __attribute__((tls_model("initial-exec")));

static void start_once(void) {
  real = mine->found;
  memcpy(real_path, mine->path, sizeof real_path);
  const struct weir_memory_table* answer = &real.table;
  if (mine->start) {
    answer = mine->start(&real.table, real_path, has_settings ? settings_text : NULL,
                         has_pages ? pages_text : NULL);
    if (mine->other[0] && answer != &real.table)
      say("weir: two MLX libraries are loaded: %s rules, and answers %s too", mine->path, mine->other);
  } else if (!left) {
    say("weir: MLX runs ungoverned: %s", mine->trouble);
  }
  if (answer != &real.table && answer->raw_offset != WEIR_RAW_POINTER_OF_MLX)
    atomic_store_explicit(&raw_offset, answer->raw_offset, memory_order_release);
  fill_holes(&real);
  atomic_store_explicit(&in_force, answer, memory_order_release);
}

// The table for a call that found none in force. Where no MLX is loaded (yet) the call gets an empty answer
// and the next one asks again.
static COLD const struct weir_memory_table* start(const void* caller) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (mine) return &mine->found.table;  // The core asks MLX while it starts.
  const int kept_errno = errno;
  struct attempt* attempt = calloc(1, sizeof *attempt);
  if (attempt && find_mlx(caller, attempt)) {
    if (!left) load_core(attempt);
    mine = attempt;
    pthread_once(&once, start_once);
    mine = NULL;
    leave_core(attempt);
  } else if (!atomic_flag_test_and_set(&told)) {
    say("weir: a call of MLX's memory functions, and no MLX is loaded: nothing is governed");
  }
  free(attempt);
  errno = kept_errno;
  const struct weir_memory_table* table = atomic_load_explicit(&in_force, memory_order_acquire);
  return table ? table : &nothing.table;
}

static inline const struct weir_memory_table* table_for(const void* caller) {
  const struct weir_memory_table* table = atomic_load_explicit(&in_force, memory_order_acquire);
  return __builtin_expect(table != NULL, 1) ? table : start(caller);
}

static COLD void* ask_raw_pointer(void** buffer, const void* caller) {
  if (table_for(caller) == &nothing.table) return NULL;
  const size_t offset = atomic_load_explicit(&raw_offset, memory_order_acquire);
  if (offset == ASK_MLX) return real.raw_ptr(buffer);
  return *buffer ? (char*)*buffer + offset : NULL;
}

// -- The eleven --

#define CALLER __builtin_return_address(0)

void* _ZN3mlx4core9allocator9allocatorEv(void) {
  return table_for(CALLER)->allocator();
}

// Called some thousands of times for every token.
void* _ZN3mlx4core9allocator6Buffer7raw_ptrEv(void** buffer) {
  const size_t offset = atomic_load_explicit(&raw_offset, memory_order_relaxed);
  if (__builtin_expect(offset == ASK_MLX, 0)) return ask_raw_pointer(buffer, CALLER);
  return *buffer ? (char*)*buffer + offset : NULL;
}

size_t _ZN3mlx4core17get_active_memoryEv(void) {
  return table_for(CALLER)->get_active_memory();
}
size_t _ZN3mlx4core15get_peak_memoryEv(void) {
  return table_for(CALLER)->get_peak_memory();
}
void _ZN3mlx4core17reset_peak_memoryEv(void) {
  table_for(CALLER)->reset_peak_memory();
}
size_t _ZN3mlx4core16get_cache_memoryEv(void) {
  return table_for(CALLER)->get_cache_memory();
}
size_t _ZN3mlx4core16set_memory_limitEm(size_t limit) {
  return table_for(CALLER)->set_memory_limit(limit);
}
size_t _ZN3mlx4core16get_memory_limitEv(void) {
  return table_for(CALLER)->get_memory_limit();
}
size_t _ZN3mlx4core15set_cache_limitEm(size_t limit) {
  return table_for(CALLER)->set_cache_limit(limit);
}
void _ZN3mlx4core11clear_cacheEv(void) {
  table_for(CALLER)->clear_cache();
}
size_t _ZN3mlx4core15set_wired_limitEm(size_t limit) {
  return table_for(CALLER)->set_wired_limit(limit);
}

// -- When the process begins --

// The value of `name` when `variable` is its NAME=VALUE.
static char* value_of(char* variable, const char* name) {
  const size_t length = strlen(name);
  return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : NULL;
}

static bool is_own_file(const char* entry, size_t length) {
  static const char own[] = "libweir_agent.so";
  const size_t own_length = sizeof own - 1;
  return length >= own_length && memcmp(entry + length - own_length, own, own_length) == 0 &&
         (length == own_length || entry[length - own_length - 1] == '/');
}

// Takes our entry out of a list parted by ':' or ' ', in place; every other one keeps the separator before
// it.
static void drop_own_file(char* list) {
  char* end = list;
  for (char* entry = list; *entry != '\0';) {
    const size_t length = strcspn(entry, ": ");
    if (length > 0 && !is_own_file(entry, length)) {
      if (end != list) *end++ = entry[-1];
      memmove(end, entry, length);
      end += length;
    }
    entry += length;
    if (*entry != '\0') ++entry;
  }
  *end = '\0';
}

// So that what this process executes is a process like any other. In place: nothing is allocated.
static void leave_environment(void) {
  char** kept = environ;
  for (char** variable = environ; *variable; ++variable) {
    char* preload = value_of(*variable, "LD_PRELOAD");
    if (preload) drop_own_file(preload);
    if (strncmp(*variable, "WEIR_AGENT", 10) == 0 || (preload && *preload == '\0')) continue;
    *kept++ = *variable;
  }
  *kept = NULL;
}

// Whether `run` (a process id; 0: nobody's) started this process itself, also through programs that executed
// others in its place.
static bool is_first_of(unsigned long run) {
  return run == 0 || run == (unsigned long)getpid() || run == (unsigned long)getppid();
}

// Cut where it is too long; the core then takes it for what it is.
static void keep_text(char* into, size_t size, const char* text) {
  const size_t length = strnlen(text, size - 1);
  memcpy(into, text, length);
}

// Every process of the run pays for this one at its start: without WEIR_AGENT it reads the environment once.
__attribute__((constructor)) static void begin(void) {
  const char* settings = getenv("WEIR_AGENT");
  const char* pages = getenv("WEIR_AGENT_PAGES");
  if (settings == NULL) return;
  has_settings = true;
  keep_text(settings_text, sizeof settings_text, settings);
  has_pages = pages != NULL;
  if (has_pages) keep_text(pages_text, sizeof pages_text, pages);
  if (strstr(settings_text, " children=0") == NULL) return;
  const char* run = strstr(settings_text, " run=");
  const unsigned long number = run ? strtoul(run + 5, NULL, 10) : 0;
  left = !is_first_of(number);
  if (left || number == 0) leave_environment();
}
