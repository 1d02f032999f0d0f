// A client of PostgreSQL for tools/bench; one JSON line of figures.
//
//   postgres insert RECORDS CONNECTION CALLERS   one record a transaction, each caller waits for its own
//   postgres copy RECORDS CONNECTION BATCH       BATCH records a transaction, by one caller
//
// One thread serves all callers' connections (epoll), so that the client takes little of what the
// server has. Statements are prepared, parameters binary. Latencies in microseconds.
#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "peers/Sources/CRecords/include/records.h"

// Object ids of types: PostgreSQL's catalog/pg_type.dat.
enum { COLUMNS = 5, INT8_OID = 20, BYTEA_OID = 17 };

static const char *const TABLE =
    "DROP TABLE IF EXISTS event;"
    "CREATE TABLE event (sequence bigint GENERATED ALWAYS AS IDENTITY, stream bigint NOT NULL,"
    " kind bigint NOT NULL, time bigint NOT NULL, digest bytea NOT NULL, body bytea NOT NULL);"
    "CREATE INDEX by_stream ON event (stream, sequence);"
    "CREATE UNIQUE INDEX by_digest ON event (digest);"
    "ALTER TABLE event ALTER body SET STORAGE PLAIN";

static void fail(const char *what, PGconn *connection) {
    fprintf(stderr, "postgres: %s: %s\n", what, connection ? PQerrorMessage(connection) : "");
    exit(2);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static PGconn *connected(const char *where) {
    PGconn *connection = PQconnectdb(where);
    if (PQstatus(connection) != CONNECTION_OK) fail("connect", connection);
    return connection;
}

// The one value that a command answers; what is not OK ends the program.
static long long answered(PGconn *connection, const char *command) {
    PGresult *result = PQexec(connection, command);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(command, connection);
    long long value = PQntuples(result) > 0 ? atoll(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    return value;
}

// MARK: Figures

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void report(PGconn *connection, size_t records, double seconds, double *latencies,
    size_t count) {
    long long found = answered(connection, "SELECT count(*) FROM event");
    if (found != (long long)records || count == 0) fail("events are missing", NULL);
    qsort(latencies, count, sizeof *latencies, ascending);
    printf("{\"count\":%zu,\"seconds\":%.9f,\"p50\":%.3f,\"p99\":%.3f}\n", records, seconds,
        1e6 * latencies[count / 2], 1e6 * latencies[count * 99 / 100]);
}

// MARK: Columns

typedef struct {
    uint64_t stream, kind, time;
    const char *values[COLUMNS];
    int lengths[COLUMNS];
} row;

static void fill(row *to, record r) {
    to->stream = htobe64(record_stream(r));
    to->kind = htobe64(record_kind(r));
    to->time = htobe64((uint64_t)record_time(r));
    const void *values[COLUMNS] = {&to->stream, &to->kind, &to->time, record_digest(r), r.bytes};
    int lengths[COLUMNS] = {8, 8, 8, RECORD_DIGEST_BYTES, (int)r.length};
    memcpy(to->values, values, sizeof values);
    memcpy(to->lengths, lengths, sizeof lengths);
}

// MARK: Callers that wait

typedef struct {
    PGconn *connection;
    row row;
    double began;
} caller;

static void prepare(PGconn *connection) {
    static const Oid types[COLUMNS] = {INT8_OID, INT8_OID, INT8_OID, BYTEA_OID, BYTEA_OID};
    PGresult *result = PQprepare(connection, "insert",
        "INSERT INTO event (stream, kind, time, digest, body) VALUES ($1, $2, $3, $4, $5)",
        COLUMNS, types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("prepare", connection);
    PQclear(result);
}

static void send_record(caller *one, record r) {
    static const int formats[COLUMNS] = {1, 1, 1, 1, 1};
    fill(&one->row, r);
    one->began = now();
    if (!PQsendQueryPrepared(one->connection, "insert", COLUMNS, one->row.values,
            one->row.lengths, formats, 0) || PQflush(one->connection) < 0)
        fail("insert", one->connection);
}

// Whether the caller's answer has come in whole; an answer other than OK ends the program.
static bool has_answer(caller *one) {
    PGresult *result;
    if (!PQconsumeInput(one->connection)) fail("read", one->connection);
    if (PQisBusy(one->connection)) return false;
    while ((result = PQgetResult(one->connection)) != NULL) {
        if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("insert", one->connection);
        PQclear(result);
    }
    return true;
}

static void insert(records_file file, const char *where, size_t callers) {
    caller *all = calloc(callers, sizeof *all);
    struct epoll_event *ready = calloc(callers, sizeof *ready);
    double *latencies = calloc(file.records, sizeof *latencies);
    int waiting = epoll_create1(0);
    size_t offset = 0, sent = 0, done = 0;
    record next;
    if (!all || !ready || !latencies || waiting < 0) fail("memory", NULL);
    for (size_t i = 0; i < callers; i++) {
        all[i].connection = connected(where);
        if (i == 0) answered(all[i].connection, TABLE);
        prepare(all[i].connection);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(waiting, EPOLL_CTL_ADD, PQsocket(all[i].connection), &event);
    }
    double start = now();
    for (size_t i = 0; i < callers && records_next(file, &offset, &next); i++, sent++)
        send_record(&all[i], next);
    while (done < sent) {
        int count = epoll_wait(waiting, ready, (int)callers, -1);
        for (int i = 0; i < count; i++) {
            caller *one = ready[i].data.ptr;
            if (!has_answer(one)) continue;
            latencies[done++] = now() - one->began;
            if (!records_next(file, &offset, &next)) continue;
            send_record(one, next);
            sent++;
        }
    }
    double seconds = now() - start;
    report(all[0].connection, done, seconds, latencies, done);
    for (size_t i = 0; i < callers; i++) PQfinish(all[i].connection);
}

// MARK: Groups

static void copy_bytes(PGconn *connection, const void *bytes, int count) {
    if (PQputCopyData(connection, bytes, count) != 1) fail("copy", connection);
}

static void copy_row(PGconn *connection, record r) {
    row one;
    uint16_t columns = htobe16(COLUMNS);
    fill(&one, r);
    copy_bytes(connection, &columns, sizeof columns);
    for (int i = 0; i < COLUMNS; i++) {
        uint32_t length = htobe32((uint32_t)one.lengths[i]);
        copy_bytes(connection, &length, sizeof length);
        copy_bytes(connection, one.values[i], one.lengths[i]);
    }
}

static void copy(records_file file, const char *where, size_t batch) {
    // The signature, no flags, no extension (PostgreSQL manual, COPY, "Binary Format").
    static const char header[19] = "PGCOPY\n\377\r\n";
    static const char trailer[2] = "\377\377";
    double *latencies = calloc(file.records, sizeof *latencies);
    size_t offset = 0, records = 0, commits = 0;
    record next;
    PGconn *connection = connected(where);
    if (!latencies) fail("memory", NULL);
    answered(connection, TABLE);
    bool has_next = records_next(file, &offset, &next);
    double start = now();
    while (has_next) {
        double began = now();
        PGresult *result = PQexec(connection,
            "COPY event (stream, kind, time, digest, body) FROM STDIN (FORMAT binary)");
        if (PQresultStatus(result) != PGRES_COPY_IN) fail("copy", connection);
        PQclear(result);
        copy_bytes(connection, header, sizeof header);
        for (size_t i = 0; i < batch && has_next; i++, records++) {
            copy_row(connection, next);
            has_next = records_next(file, &offset, &next);
        }
        copy_bytes(connection, trailer, sizeof trailer);
        if (PQputCopyEnd(connection, NULL) != 1) fail("copy", connection);
        while ((result = PQgetResult(connection)) != NULL) {
            if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("copy", connection);
            PQclear(result);
        }
        latencies[commits++] = now() - began;
    }
    double seconds = now() - start;
    report(connection, records, seconds, latencies, commits);
    PQfinish(connection);
}

int main(int count, char **words) {
    size_t amount = count == 5 ? strtoull(words[4], NULL, 10) : 0;
    if (amount == 0) fail("insert|copy RECORDS CONNECTION COUNT", NULL);
    records_file file = records_open(words[2]);
    if (file.bytes == NULL) fail("no records", NULL);
    if (strcmp(words[1], "insert") == 0) insert(file, words[3], amount);
    if (strcmp(words[1], "copy") == 0) copy(file, words[3], amount);
    return 0;
}
