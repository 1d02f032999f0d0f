#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* glibc's own, which it declares only where they are asked for (_GNU_SOURCE): the folder of a process that
   is started, and from which descriptor on nothing of ours stays open in it. */
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/* What a process holds in memory goes into no core file and to no other process of its user; what it
   starts writes no core file either. Swift cannot call prctl(2), which takes any number of arguments.
   0: it is so. */
static inline int linux_close_memory(void) {
    struct rlimit none = {0, 0};
    int limited = setrlimit(RLIMIT_CORE, &none);
    int closed = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return limited | closed;
}
