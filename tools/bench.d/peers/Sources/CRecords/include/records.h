// Reads a file of records, each after its length (u32, little-endian), and what stands in clear in
// a record, as schemas/log-format.md says. Little-endian machines only. Checksums are not checked.
#pragma once
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const uint8_t *bytes;
    size_t count, records;
} records_file;

typedef struct {
    const uint8_t *bytes;
    uint32_t length;
} record;

static inline uint16_t record_u16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t record_u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t record_u64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

// The next record, which `offset` then stands behind; false at the end.
static inline bool records_next(records_file file, size_t *offset, record *next) {
    if (*offset + 4 > file.count) return false;
    next->length = record_u32(file.bytes + *offset);
    next->bytes = file.bytes + *offset + 4;
    *offset += 4 + (size_t)next->length;
    return *offset <= file.count;
}

// Maps the file and touches all of it; no bytes: it cannot be read, or its end is cut off.
static inline records_file records_open(const char *path) {
    records_file file = {NULL, 0, 0};
    struct stat status;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return file;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        void *start = mmap(
            NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
        if (start != MAP_FAILED) {
            file.bytes = (const uint8_t *)start;
            file.count = (size_t)status.st_size;
        }
    }
    close(descriptor);
    size_t offset = 0;
    record next;
    while (records_next(file, &offset, &next)) file.records++;
    if (offset != file.count) file.bytes = NULL;
    return file;
}

static inline int64_t record_time(record r) { return (int64_t)record_u64(r.bytes + 24); }
static inline uint64_t record_stream(record r) { return record_u64(r.bytes + 40); }
static inline uint8_t record_kind(record r) { return r.bytes[48]; }
static inline const uint8_t *record_digest(record r) { return r.bytes + 56; }

enum { RECORD_DIGEST_BYTES = 16 };

// One mark of the facts and its value: a number, or a text.
typedef struct {
    uint8_t mark;
    int64_t number;
    const uint8_t *text;
    uint16_t text_count;
} record_fact;

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} record_facts;

static inline record_facts record_facts_of(record r) {
    uint32_t start = r.bytes[51] == 0 ? 72 : 112;
    record_facts facts = {r.bytes + start, r.bytes + start + record_u16(r.bytes + 52)};
    return facts;
}

// The next fact; of a list of streams the first is its number. False at the end, and for marks that
// these benchmarks' events do not have.
static inline bool record_facts_next(record_facts *facts, record_fact *fact) {
    if (facts->at >= facts->end) return false;
    const uint8_t *value = facts->at + 1;
    fact->mark = facts->at[0];
    switch (fact->mark) {
    case 3: case 8: case 9: case 14: case 17: case 40:
        fact->number = value[0];
        facts->at = value + 1;
        return true;
    case 1: case 4: case 5: case 7: case 11: case 13: case 18: case 19: case 21: case 24: case 28:
    case 30: case 32:
        fact->number = (int64_t)record_u64(value);
        facts->at = value + 8;
        return true;
    case 16: case 22: case 23:
        fact->number = record_u16(value) > 0 ? (int64_t)record_u64(value + 2) : 0;
        facts->at = value + 2 + 8 * (size_t)record_u16(value);
        return true;
    case 25: case 34:
        return false;
    default:
        fact->text = value + 2;
        fact->text_count = record_u16(value);
        facts->at = value + 2 + fact->text_count;
        return true;
    }
}
