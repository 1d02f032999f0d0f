// LMDB and a fold with nothing on top: the references of tools/bench, one JSON line each.
//
//   lmdb append RECORDS DIRECTORY BATCH           a log, BATCH records a commit
//   lmdb append-indexed RECORDS DIRECTORY BATCH   and two B-trees: digest, (stream, sequence)
//   lmdb get COUNT OPERATIONS SEED DIRECTORY      mdb_get of 16-byte keys, 64-byte values
//   lmdb fold RECORDS                             one state for each stream
//   lmdb version
//
// Times are of the monotonic clock; latencies in microseconds.
#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "peers/Sources/CRecords/include/records.h"

static void check(int code, const char *what) {
    if (code == 0) return;
    fprintf(stderr, "lmdb: %s: %s\n", what, mdb_strerror(code));
    exit(2);
}

static void *allocated(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (memory == NULL) check(ENOMEM, "memory");
    return memory;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t word) {  // splitmix64 (Steele and others 2014)
    word += 0x9E3779B97F4A7C15u;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

// MARK: Figures

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void report(uint64_t records, double seconds, double *latencies, size_t count) {
    qsort(latencies, count, sizeof *latencies, ascending);
    printf("{\"count\":%llu,\"seconds\":%.9f,\"p50\":%.3f,\"p99\":%.3f}\n",
        (unsigned long long)records, seconds, 1e6 * latencies[count / 2],
        1e6 * latencies[count * 99 / 100]);
}

// MARK: Environment

static MDB_env *environment_at(const char *directory) {
    MDB_env *environment;
    check(mdb_env_create(&environment), "create");
    check(mdb_env_set_mapsize(environment, (size_t)1 << 37), "map size");
    check(mdb_env_set_maxdbs(environment, 3), "tables");
    // No flags: each commit is synchronous, pages are copied, the file grows as it must.
    check(mdb_env_open(environment, directory, 0, 0600), "open");
    return environment;
}

static MDB_txn *begin(MDB_env *environment, unsigned flags) {
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, NULL, flags, &transaction), "begin");
    return transaction;
}

static void put(MDB_txn *transaction, MDB_dbi table, void *key, size_t key_count, const void *value,
    size_t value_count, unsigned flags) {
    MDB_val k = {key_count, key}, v = {value_count, (void *)value};
    check(mdb_put(transaction, table, &k, &v, flags), "put");
}

// MARK: Append

typedef struct {
    uint8_t key[16];
    uint64_t sequence;
} index_entry;

static int by_key(const void *left, const void *right) {
    return memcmp(left, right, sizeof((index_entry *)0)->key);
}

static void put_big_endian(uint8_t *to, uint64_t value) {
    value = __builtin_bswap64(value);
    memcpy(to, &value, sizeof value);
}

// Puts a batch's entries in the order of their keys, which touches the fewest pages.
static void put_entries(MDB_txn *transaction, MDB_dbi table, index_entry *entries, size_t count) {
    qsort(entries, count, sizeof *entries, by_key);
    for (size_t i = 0; i < count; i++)
        put(transaction, table, entries[i].key, 16, &entries[i].sequence, 8, 0);
}

static void append(const char *path, const char *directory, size_t batch, bool is_indexed) {
    records_file file = records_open(path);
    if (file.bytes == NULL || batch == 0) check(EINVAL, "records");
    MDB_env *environment = environment_at(directory);
    MDB_txn *transaction = begin(environment, 0);
    MDB_dbi log, by_digest, by_stream;
    check(mdb_dbi_open(transaction, "log", MDB_CREATE | MDB_INTEGERKEY, &log), "log");
    check(mdb_dbi_open(transaction, "digest", MDB_CREATE, &by_digest), "digest");
    check(mdb_dbi_open(transaction, "stream", MDB_CREATE, &by_stream), "stream");
    check(mdb_txn_commit(transaction), "commit");

    index_entry *digests = allocated(batch, sizeof *digests);
    index_entry *streams = allocated(batch, sizeof *streams);
    double *latencies = allocated(file.records, sizeof *latencies);
    size_t offset = 0, commits = 0;
    uint64_t sequence = 0;
    record next;
    bool has_next = records_next(file, &offset, &next);
    double start = now();
    while (has_next) {
        double began = now();
        size_t count = 0;
        transaction = begin(environment, 0);
        for (; count < batch && has_next; count++, sequence++) {
            put(transaction, log, &sequence, 8, next.bytes, next.length, MDB_APPEND);
            memcpy(digests[count].key, record_digest(next), RECORD_DIGEST_BYTES);
            put_big_endian(streams[count].key, record_stream(next));
            put_big_endian(streams[count].key + 8, sequence);
            digests[count].sequence = streams[count].sequence = sequence;
            has_next = records_next(file, &offset, &next);
        }
        if (is_indexed) {
            put_entries(transaction, by_digest, digests, count);
            put_entries(transaction, by_stream, streams, count);
        }
        check(mdb_txn_commit(transaction), "commit");
        latencies[commits++] = now() - began;
    }
    double seconds = now() - start;
    MDB_stat found;
    transaction = begin(environment, MDB_RDONLY);
    check(mdb_stat(transaction, log, &found), "stat");
    mdb_txn_abort(transaction);
    if (found.ms_entries != file.records) check(EIO, "records are missing");
    mdb_env_close(environment);
    report(sequence, seconds, latencies, commits);
}

// MARK: Look-ups

typedef struct {
    uint64_t words[2];
} wide_key;

static wide_key key_of(uint64_t number) {
    wide_key key = {{mix(number), mix(mix(number))}};
    return key;
}

static int by_bytes(const void *left, const void *right) {
    return memcmp(left, right, sizeof(wide_key));
}

static void get(uint64_t count, size_t operations, uint64_t seed, const char *directory) {
    if (count == 0 || operations == 0) check(EINVAL, "get");
    MDB_env *environment = environment_at(directory);
    MDB_txn *transaction = begin(environment, 0);
    MDB_dbi table;
    uint8_t value[64] = {1};
    check(mdb_dbi_open(transaction, "values", MDB_CREATE, &table), "values");
    wide_key *keys = allocated(count, sizeof *keys);
    for (uint64_t i = 0; i < count; i++) keys[i] = key_of(i);
    // Loaded in the order of the keys: the fullest pages that the tree can have.
    qsort(keys, count, sizeof *keys, by_bytes);
    for (uint64_t i = 0; i < count; i++)
        put(transaction, table, &keys[i], sizeof keys[i], value, sizeof value, MDB_APPEND);
    check(mdb_txn_commit(transaction), "commit");

    double *latencies = allocated(operations, sizeof *latencies);
    transaction = begin(environment, MDB_RDONLY);
    double start = 0;
    // The first round warms what the second measures.
    for (int round = 0; round < 2; round++) {
        start = now();
        for (size_t i = 0; i < operations; i++) {
            wide_key key = key_of(mix(seed + i) % count);
            MDB_val k = {sizeof key, &key}, v;
            double began = now();
            int code = mdb_get(transaction, table, &k, &v);
            latencies[i] = now() - began;
            check(code, "get");
            if (((uint8_t *)v.mv_data)[0] != 1) check(EIO, "another value");
        }
    }
    report(operations, now() - start, latencies, operations);
    mdb_txn_abort(transaction);
    mdb_env_close(environment);
}

// MARK: Fold

// What is kept of a stream: of a purchase its latest period and owner, of a customer what was used.
typedef struct {
    int64_t ends, changed, micros;
    uint64_t transaction, product, owner, used;
    uint32_t events;
} stream_state;

enum { SHARD_BITS = 12, FIRST_STREAMS = 1 << 16 };

typedef struct {
    stream_state *states;
    uint64_t capacity, streams;
} population;

// The state of a stream: its counter is its place.
static stream_state *state_of(population *all, uint64_t stream) {
    uint64_t place = stream >> SHARD_BITS;
    if (place >= all->capacity) {
        uint64_t capacity = all->capacity;
        while (place >= capacity) capacity *= 2;
        stream_state *states = allocated(capacity, sizeof *states);
        memcpy(states, all->states, all->capacity * sizeof *states);
        free(all->states);
        all->states = states;
        all->capacity = capacity;
    }
    stream_state *state = &all->states[place];
    all->streams += state->events == 0;
    return state;
}

static uint64_t hash_of(const uint8_t *text, uint16_t count) {  // FNV-1a
    uint64_t hash = 0xCBF29CE484222325u;
    for (uint16_t i = 0; i < count; i++) hash = (hash ^ text[i]) * 0x100000001B3u;
    return hash;
}

static void fold_record(population *all, record r) {
    int64_t ends = 0, micros = 0, amount = 1;
    uint64_t transaction = 0, product = 0, other = 0;
    record_facts facts = record_facts_of(r);
    record_fact fact = {0};
    while (record_facts_next(&facts, &fact)) {
        switch (fact.mark) {
        case 1: transaction = (uint64_t)fact.number; break;
        case 2: product = hash_of(fact.text, fact.text_count); break;
        case 4: ends = fact.number; break;
        case 5: micros = fact.number; break;
        case 22: other = (uint64_t)fact.number; break;
        case 30: amount = fact.number; break;
        default: break;
        }
    }
    stream_state *state = state_of(all, record_stream(r));
    state->events++;
    if (record_time(r) > state->changed) state->changed = record_time(r);
    switch (record_kind(r)) {
    case 1: case 2: case 3:
        state->micros += micros;
        if (ends <= state->ends) break;
        state->ends = ends;
        state->transaction = transaction;
        state->product = product;
        break;
    case 16: case 17:
        if (transaction == state->transaction) state->ends = record_time(r);
        break;
    case 21: {
        stream_state *purchase = state_of(all, other);
        if (purchase->owner == 0) purchase->owner = record_stream(r);
        break;
    }
    case 29: state->used += (uint64_t)amount; break;
    default: break;
    }
}

static void fold(const char *path) {
    records_file file = records_open(path);
    if (file.bytes == NULL) check(EINVAL, "records");
    population all = {allocated(FIRST_STREAMS, sizeof(stream_state)), FIRST_STREAMS, 0};
    uint64_t count = 0, owned = 0;
    size_t offset = 0;
    record next;
    double start = now();
    for (; records_next(file, &offset, &next); count++) fold_record(&all, next);
    double seconds = now() - start;
    if (count != file.records) check(EIO, "records are missing");
    for (uint64_t i = 0; i < all.capacity; i++) owned += all.states[i].owner != 0;
    printf("{\"count\":%llu,\"seconds\":%.9f,\"streams\":%llu,\"owned\":%llu}\n",
        (unsigned long long)count, seconds, (unsigned long long)all.streams,
        (unsigned long long)owned);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (strcmp(what, "append") == 0 && count == 5) {
        append(words[2], words[3], strtoull(words[4], NULL, 10), false);
    } else if (strcmp(what, "append-indexed") == 0 && count == 5) {
        append(words[2], words[3], strtoull(words[4], NULL, 10), true);
    } else if (strcmp(what, "get") == 0 && count == 6) {
        get(strtoull(words[2], NULL, 10), strtoull(words[3], NULL, 10),
            strtoull(words[4], NULL, 10), words[5]);
    } else if (strcmp(what, "fold") == 0 && count == 3) {
        fold(words[2]);
    } else if (strcmp(what, "version") == 0) {
        printf("%s\n", mdb_version(NULL, NULL, NULL));
    } else {
        fprintf(stderr, "lmdb append|append-indexed|get|fold|version …\n");
        return 64;
    }
    return 0;
}
