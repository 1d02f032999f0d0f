// libpq, loaded when the first cluster is asked for: whoever has one machine needs no library of
// PostgreSQL, and no command takes longer to start.

#include <dlfcn.h>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// The library, or null where it is not installed, or older than 14, which knows no pipeline.
static inline void *libpq_handle(void) {
    static void *handle;
    void *known = __atomic_load_n(&handle, __ATOMIC_ACQUIRE);
    if (!known) {
        known = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
        if (known && !dlsym(known, "PQenterPipelineMode")) known = 0;
        __atomic_store_n(&handle, known, __ATOMIC_RELEASE);
    }
    return known;
}

// A function of the library, with the type that its header gives it; looked up once.
#define LIBPQ(name) \
    ({ \
        static __typeof__(&name) found; \
        __typeof__(&name) known = __atomic_load_n(&found, __ATOMIC_ACQUIRE); \
        if (!known) { \
            known = (__typeof__(&name))dlsym(libpq_handle(), #name); \
            __atomic_store_n(&found, known, __ATOMIC_RELEASE); \
        } \
        known; \
    })

static inline PQconninfoOption *libpq_conninfoParse(const char *text, char **error) {
    return LIBPQ(PQconninfoParse)(text, error);
}

static inline void libpq_conninfoFree(PQconninfoOption *options) {
    LIBPQ(PQconninfoFree)(options);
}

static inline PGconn *libpq_connectdbParams(const char *const *names, const char *const *values, int expands) {
    return LIBPQ(PQconnectdbParams)(names, values, expands);
}

static inline PQconninfoOption *libpq_conninfo(PGconn *conn) {
    return LIBPQ(PQconninfo)(conn);
}

static inline char *libpq_host(const PGconn *conn) {
    return LIBPQ(PQhost)(conn);
}

static inline char *libpq_port(const PGconn *conn) {
    return LIBPQ(PQport)(conn);
}

static inline ConnStatusType libpq_status(const PGconn *conn) {
    return LIBPQ(PQstatus)(conn);
}

static inline void libpq_finish(PGconn *conn) {
    LIBPQ(PQfinish)(conn);
}

static inline char *libpq_errorMessage(const PGconn *conn) {
    return LIBPQ(PQerrorMessage)(conn);
}

static inline int libpq_serverVersion(const PGconn *conn) {
    return LIBPQ(PQserverVersion)(conn);
}

static inline int libpq_backendPID(const PGconn *conn) {
    return LIBPQ(PQbackendPID)(conn);
}

static inline int libpq_socket(const PGconn *conn) {
    return LIBPQ(PQsocket)(conn);
}

static inline int libpq_setnonblocking(PGconn *conn, int value) {
    return LIBPQ(PQsetnonblocking)(conn, value);
}

static inline PQnoticeReceiver libpq_setNoticeReceiver(PGconn *conn, PQnoticeReceiver receiver, void *box) {
    return LIBPQ(PQsetNoticeReceiver)(conn, receiver, box);
}

static inline int libpq_enterPipelineMode(PGconn *conn) {
    return LIBPQ(PQenterPipelineMode)(conn);
}

static inline int libpq_exitPipelineMode(PGconn *conn) {
    return LIBPQ(PQexitPipelineMode)(conn);
}

static inline int libpq_pipelineSync(PGconn *conn) {
    return LIBPQ(PQpipelineSync)(conn);
}

static inline int libpq_sendPrepare(PGconn *conn, const char *name, const char *sql, int count, const Oid *types) {
    return LIBPQ(PQsendPrepare)(conn, name, sql, count, types);
}

static inline int libpq_sendQueryPrepared(PGconn *conn, const char *name, int count, const char *const *values, const int *lengths, const int *formats, int format) {
    return LIBPQ(PQsendQueryPrepared)(conn, name, count, values, lengths, formats, format);
}

static inline int libpq_flush(PGconn *conn) {
    return LIBPQ(PQflush)(conn);
}

static inline int libpq_isBusy(PGconn *conn) {
    return LIBPQ(PQisBusy)(conn);
}

static inline int libpq_consumeInput(PGconn *conn) {
    return LIBPQ(PQconsumeInput)(conn);
}

static inline PGresult *libpq_getResult(PGconn *conn) {
    return LIBPQ(PQgetResult)(conn);
}

static inline PGnotify *libpq_notifies(PGconn *conn) {
    return LIBPQ(PQnotifies)(conn);
}

static inline void libpq_freemem(void *bytes) {
    LIBPQ(PQfreemem)(bytes);
}

static inline void libpq_clear(PGresult *result) {
    LIBPQ(PQclear)(result);
}

static inline ExecStatusType libpq_resultStatus(const PGresult *result) {
    return LIBPQ(PQresultStatus)(result);
}

static inline char *libpq_resultErrorField(const PGresult *result, int field) {
    return LIBPQ(PQresultErrorField)(result, field);
}

static inline int libpq_ntuples(const PGresult *result) {
    return LIBPQ(PQntuples)(result);
}

static inline int libpq_nfields(const PGresult *result) {
    return LIBPQ(PQnfields)(result);
}

static inline int libpq_getisnull(const PGresult *result, int row, int column) {
    return LIBPQ(PQgetisnull)(result, row, column);
}

static inline char *libpq_getvalue(const PGresult *result, int row, int column) {
    return LIBPQ(PQgetvalue)(result, row, column);
}

static inline int libpq_getlength(const PGresult *result, int row, int column) {
    return LIBPQ(PQgetlength)(result, row, column);
}
