#include "pool/fork_guard.h"

#include <pthread.h>

namespace weir::pool {

/// The living guards; a list that no destructor of the process ends.
struct ForkGuards {
  static inline pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static inline pthread_once_t registered = PTHREAD_ONCE_INIT;
  static inline ForkGuard* first = nullptr;

  static void before() {
    ::pthread_mutex_lock(&mutex);
    for (ForkGuard* guard = first; guard != nullptr; guard = guard->next_)
      guard->lock_.lock();
  }
  static void in_parent() {
    for (ForkGuard* guard = first; guard != nullptr; guard = guard->next_)
      guard->lock_.unlock();
    ::pthread_mutex_unlock(&mutex);
  }
  static void in_child() {
    for (ForkGuard* guard = first; guard != nullptr; guard = guard->next_) {
      guard->in_child_(guard->owner_);
      guard->lock_.renew();
    }
    ::pthread_mutex_init(&mutex, nullptr);
  }
  static void register_handlers() { static_cast<void>(::pthread_atfork(before, in_parent, in_child)); }
};

ForkGuard::ForkGuard(PoolLock& lock, InChild in_child, void* owner) noexcept
    : lock_(lock), in_child_(in_child), owner_(owner) {
  ::pthread_once(&ForkGuards::registered, ForkGuards::register_handlers);
  ::pthread_mutex_lock(&ForkGuards::mutex);
  next_ = ForkGuards::first;
  if (next_ != nullptr) next_->previous_ = this;
  ForkGuards::first = this;
  ::pthread_mutex_unlock(&ForkGuards::mutex);
}

ForkGuard::~ForkGuard() {
  ::pthread_mutex_lock(&ForkGuards::mutex);
  (previous_ == nullptr ? ForkGuards::first : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  ::pthread_mutex_unlock(&ForkGuards::mutex);
}

}  // namespace weir::pool
