#include <sys/prctl.h>
#include <sys/resource.h>

/* What a process holds in memory goes into no core file and to no other process of its user; what it
   starts writes no core file either. Swift cannot call prctl(2), which takes any number of arguments.
   0: it is so. */
static inline int linux_close_memory(void) {
    struct rlimit none = {0, 0};
    int limited = setrlimit(RLIMIT_CORE, &none);
    int closed = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return limited | closed;
}
