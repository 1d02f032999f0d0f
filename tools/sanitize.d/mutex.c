/* Tells the thread sanitizer of locks that it cannot see.
 *
 * Swift's Mutex takes and leaves a lock that nobody waits for by atomic operations in our code, which
 * is instrumented; where somebody waits, the standard library does it, which is not. Loaded before
 * that library (LD_PRELOAD), these functions stand before its own and say what they do.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void lock_function(uint32_t state, SELF void *mutex);
typedef SWIFT void unlock_function(SELF void *mutex);

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock_slow(uint32_t state, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK);

static lock_function *library_lock;
static unlock_function *library_unlock;

__attribute__((constructor)) static void find_library(void) {
    library_lock = (lock_function *)dlsym(RTLD_NEXT, LOCK);
    library_unlock = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lock_slow(uint32_t state, SELF void *mutex) {
    library_lock(state, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    library_unlock(mutex);
}
