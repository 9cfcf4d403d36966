#include "pool/stand_in_library.h"

#include <thread>

namespace weir::pool {

void run_on_library_thread(void (*body)()) {
  volatile bool done = false;
  std::thread thread([body, &done] {
    body();
    done = true;  // work after the call: its frame stays, as that of a loop does
  });
  thread.join();
}

}  // namespace weir::pool
