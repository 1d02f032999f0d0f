/*
 * A preloaded recorder: notes what a process asks of the disk, in order.
 *
 * RECORDER_TRACE names the file that is written, RECORDER_ROOT the directory whose files are
 * followed; locks and views are passed over.
 * Standard output is followed too: what stands on it was acknowledged.
 *
 * A record: u8 kind, u16 length of the path, u32 length of the data, u64 offset, path, data.
 * Renames carry the new path as data. Calls that change something are noted before they are made,
 * syncs after they have succeeded, and failed calls are followed by an 'x'.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    WRITE = 'w', DURABLE_WRITE = 'd', SYNC = 's', TRUNCATE = 't', CREATE = 'c',
    RENAME = 'r', REMOVE = 'u', MAKE_DIRECTORY = 'm', ACKNOWLEDGE = 'a', FAILED = 'x'
};

#define LIMIT 4096
struct followed { char *path; int durable; };
static struct followed files[LIMIT];
static int trace = -1;
static const char *root;
static size_t root_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("RECORDER_TRACE");
    root = getenv("RECORDER_ROOT");
    if (!path || !root) return;
    root_length = strlen(root);
    trace = (int) syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static void emit(int kind, const char *path, uint64_t offset, const void *data, size_t length) {
    if (trace < 0) return;
    unsigned char head[15];
    uint16_t path_length = path ? (uint16_t) strlen(path) : 0;
    uint32_t data_length = (uint32_t) length;
    head[0] = (unsigned char) kind;
    memcpy(head + 1, &path_length, 2);
    memcpy(head + 3, &data_length, 4);
    memcpy(head + 7, &offset, 8);
    struct iovec parts[3] = {
        {head, sizeof head}, {(void *) path, path_length}, {(void *) data, length}};
    int saved = errno;
    pthread_mutex_lock(&lock);
    syscall(SYS_writev, trace, parts, 3);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* The path within the root, or NULL. Lives in a buffer of the caller. */
static const char *within(const char *path, char *buffer) {
    char plain[PATH_MAX];
    if (trace < 0 || !path) return NULL;
    if (path[0] != '/') {
        char here[PATH_MAX / 2];
        if (!getcwd(here, sizeof here)) return NULL;
        snprintf(plain, sizeof plain, "%s/%s", here, path);
    } else {
        snprintf(plain, sizeof plain, "%s", path);
    }
    if (strstr(plain, "/..")) {
        char real[PATH_MAX];
        if (realpath(plain, real)) snprintf(plain, sizeof plain, "%s", real);
    }
    if (strncmp(plain, root, root_length)) return NULL;
    const char *rest = plain + root_length;
    if (*rest && *rest != '/') return NULL;
    while (*rest == '/') rest++;
    if (strstr(rest, "lock.mdb") || strstr(rest, "writer.lock") || strstr(rest, "views"))
        return NULL;
    snprintf(buffer, PATH_MAX, "%s", *rest ? rest : ".");
    size_t length = strlen(buffer);
    while (length > 1 && buffer[length - 1] == '/') buffer[--length] = 0;
    return buffer;
}

static int opened(int descriptor, const char *path, int flags, int existed) {
    char buffer[PATH_MAX];
    if (descriptor < 0 || descriptor >= LIMIT) return descriptor;
    int saved = errno;
    free(files[descriptor].path);
    files[descriptor].path = NULL;
    const char *inside = within(path, buffer);
    if (inside) {
        if ((flags & O_CREAT) && !existed) emit(CREATE, inside, 0, NULL, 0);
        if ((flags & O_TRUNC) && existed) emit(TRUNCATE, inside, 0, NULL, 0);
        files[descriptor].path = strdup(inside);
        files[descriptor].durable = (flags & O_DSYNC) != 0;
    }
    errno = saved;
    return descriptor;
}

static int exists(int at, const char *path) {
    struct stat status;
    int saved = errno;
    int found = trace >= 0 && fstatat(at, path, &status, 0) == 0;
    errno = saved;
    return found;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) {
    MODE(flags)
    int existed = exists(AT_FDCWD, path);
    return opened(REAL(open)(path, flags, mode), path, flags, existed);
}
int open64(const char *path, int flags, ...) {
    MODE(flags)
    int existed = exists(AT_FDCWD, path);
    return opened(REAL(open64)(path, flags, mode), path, flags, existed);
}
int openat(int at, const char *path, int flags, ...) {
    MODE(flags)
    int existed = exists(at, path);
    int made = REAL(openat)(at, path, flags, mode);
    return at == AT_FDCWD || path[0] == '/' ? opened(made, path, flags, existed) : made;
}
int openat64(int at, const char *path, int flags, ...) {
    MODE(flags)
    int existed = exists(at, path);
    int made = REAL(openat64)(at, path, flags, mode);
    return at == AT_FDCWD || path[0] == '/' ? opened(made, path, flags, existed) : made;
}
int close(int descriptor) {
    if (descriptor >= 0 && descriptor < LIMIT && files[descriptor].path) {
        free(files[descriptor].path);
        files[descriptor].path = NULL;
    }
    return REAL(close)(descriptor);
}

static struct followed *file(int descriptor) {
    return descriptor >= 0 && descriptor < LIMIT && files[descriptor].path ? &files[descriptor]
                                                                          : NULL;
}

static void note_parts(int descriptor, const struct iovec *parts, int count, off_t offset) {
    struct followed *f = file(descriptor);
    if (!f) return;
    for (int i = 0; i < count; i++) {
        emit(f->durable ? DURABLE_WRITE : WRITE, f->path, (uint64_t) offset, parts[i].iov_base,
             parts[i].iov_len);
        offset += (off_t) parts[i].iov_len;
    }
}

static off_t place(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    struct stat status;
    if (flags >= 0 && (flags & O_APPEND) && fstat(descriptor, &status) == 0) return status.st_size;
    return lseek(descriptor, 0, SEEK_CUR);
}

static ssize_t told(int descriptor, ssize_t done) {
    if (done < 0 && file(descriptor)) emit(FAILED, file(descriptor)->path, 0, NULL, 0);
    return done;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    struct iovec part = {(void *) bytes, count};
    if (descriptor == STDOUT_FILENO) emit(ACKNOWLEDGE, NULL, 0, bytes, count);
    else if (file(descriptor)) note_parts(descriptor, &part, 1, place(descriptor));
    return told(descriptor, REAL(write)(descriptor, bytes, count));
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (descriptor == STDOUT_FILENO) {
        for (int i = 0; i < count; i++)
            emit(ACKNOWLEDGE, NULL, 0, parts[i].iov_base, parts[i].iov_len);
    } else if (file(descriptor)) note_parts(descriptor, parts, count, place(descriptor));
    return told(descriptor, REAL(writev)(descriptor, parts, count));
}
#define POSITIONED(name, offset_type) \
    ssize_t name(int descriptor, const void *bytes, size_t count, offset_type offset) { \
        struct iovec part = {(void *) bytes, count}; \
        note_parts(descriptor, &part, 1, (off_t) offset); \
        return told(descriptor, REAL(name)(descriptor, bytes, count, offset)); \
    }
POSITIONED(pwrite, off_t)
POSITIONED(pwrite64, off64_t)
#define POSITIONED_PARTS(name, offset_type) \
    ssize_t name(int descriptor, const struct iovec *parts, int count, offset_type offset) { \
        note_parts(descriptor, parts, count, (off_t) offset); \
        return told(descriptor, REAL(name)(descriptor, parts, count, offset)); \
    }
POSITIONED_PARTS(pwritev, off_t)
POSITIONED_PARTS(pwritev64, off64_t)

static int synced(int descriptor, int result) {
    if (result == 0 && file(descriptor)) emit(SYNC, file(descriptor)->path, 0, NULL, 0);
    return result;
}
int fsync(int descriptor) { return synced(descriptor, REAL(fsync)(descriptor)); }
int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync)(descriptor)); }

static void note_length(int descriptor, uint64_t length) {
    if (file(descriptor)) emit(TRUNCATE, file(descriptor)->path, length, NULL, 0);
}
int ftruncate(int descriptor, off_t length) {
    note_length(descriptor, (uint64_t) length);
    return REAL(ftruncate)(descriptor, length);
}
int ftruncate64(int descriptor, off64_t length) {
    note_length(descriptor, (uint64_t) length);
    return REAL(ftruncate64)(descriptor, length);
}

static void note_rename(const char *from, const char *to) {
    char a[PATH_MAX], b[PATH_MAX];
    const char *old = within(from, a), *new = within(to, b);
    if (old && new) emit(RENAME, old, 0, new, strlen(new));
}
int rename(const char *from, const char *to) {
    note_rename(from, to);
    return REAL(rename)(from, to);
}
int renameat(int at, const char *from, int to_at, const char *to) {
    note_rename(from, to);
    return REAL(renameat)(at, from, to_at, to);
}
int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags) {
    note_rename(from, to);
    return REAL(renameat2)(at, from, to_at, to, flags);
}
int unlink(const char *path) {
    char buffer[PATH_MAX];
    const char *inside = within(path, buffer);
    if (inside) emit(REMOVE, inside, 0, NULL, 0);
    return REAL(unlink)(path);
}
int mkdir(const char *path, mode_t mode) {
    char buffer[PATH_MAX];
    const char *inside = within(path, buffer);
    int existed = exists(AT_FDCWD, path);
    int result = REAL(mkdir)(path, mode);
    if (inside && result == 0 && !existed) emit(MAKE_DIRECTORY, inside, 0, NULL, 0);
    return result;
}
