/*
 * A preloaded killer: ends a process by SIGKILL at a call that changes a file below a folder.
 *
 * KILLER_ROOT names the folder, KILLER_AT the call, from 1 on; 0: none. With KILLER_HALF a write that
 * is met is made by half before. Without a kill, the number of calls is written to KILLER_COUNT at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *root;
static long at;
static int half;
static atomic_long count;

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    root = getenv("KILLER_ROOT");
    at = getenv("KILLER_AT") ? atol(getenv("KILLER_AT")) : 0;
    half = getenv("KILLER_HALF") != NULL;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("KILLER_COUNT");
    if (!root || !path) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld\n", atomic_load(&count));
    fclose(file);
}

static int is_within(const char *path) {
    return root && path && strncmp(path, root, strlen(root)) == 0;
}

/* Whether this call is the one. */
static int is_met(void) { return atomic_fetch_add(&count, 1) + 1 == at; }

static void meet(void) {
    if (is_met()) kill(getpid(), SIGKILL);
}

static int is_followed(int file) {
    char name[64], path[PATH_MAX];
    if (!root) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_within(path);
}

ssize_t write(int file, const void *data, size_t length) {
    if (is_followed(file) && is_met()) {
        if (half) syscall(SYS_write, file, data, length / 2);
        kill(getpid(), SIGKILL);
    }
    return REAL(write)(file, data, length);
}

int fsync(int file) {
    if (is_followed(file)) meet();
    return REAL(fsync)(file);
}

int ftruncate(int file, off_t length) {
    if (is_followed(file)) meet();
    return REAL(ftruncate)(file, length);
}

int close(int file) {
    if (is_followed(file)) meet();
    return REAL(close)(file);
}

int rename(const char *from, const char *to) {
    if (is_within(from)) meet();
    return REAL(rename)(from, to);
}

int unlink(const char *path) {
    if (is_within(path)) meet();
    return REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    if (is_within(path)) meet();
    return REAL(mkdir)(path, mode);
}
