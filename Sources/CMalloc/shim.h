#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* Hands what is free back to the system; 0 where nothing was, or where there is no way to. */
static inline int give_back_memory(void) {
#if defined(__GLIBC__)
    return malloc_trim(0);
#else
    return 0;
#endif
}
