/*
 * Makes an LMDB environment of some tables of another: older SOURCE TARGET TABLE…
 *
 * Of the table `end` only the entry under a key of zeros is taken: what else stands there is newer.
 * A table that the source does not have is passed over.
 */
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

#define TRY(call) do { \
    int code = (call); \
    if (code) { fprintf(stderr, "%s: %s\n", #call, mdb_strerror(code)); return 1; } \
} while (0)

static int is_zero(const MDB_val *key) {
    for (size_t i = 0; i < key->mv_size; i++) if (((const char *) key->mv_data)[i]) return 0;
    return 1;
}

static int copy(MDB_txn *from, MDB_txn *to, const char *name) {
    MDB_dbi source, target;
    MDB_cursor *cursor;
    MDB_val key, value;
    unsigned flags;
    int found = mdb_dbi_open(from, name, 0, &source);
    if (found == MDB_NOTFOUND) return 0;
    TRY(found);
    TRY(mdb_dbi_flags(from, source, &flags));
    TRY(mdb_dbi_open(to, name, flags | MDB_CREATE, &target));
    TRY(mdb_cursor_open(from, source, &cursor));
    while (!mdb_cursor_get(cursor, &key, &value, MDB_NEXT))
        if (strcmp(name, "end") || is_zero(&key)) TRY(mdb_put(to, target, &key, &value, 0));
    mdb_cursor_close(cursor);
    return 0;
}

int main(int count, char **words) {
    MDB_env *source, *target;
    MDB_txn *from, *to;
    if (count < 4) return 64;
    TRY(mdb_env_create(&source));
    TRY(mdb_env_create(&target));
    TRY(mdb_env_set_maxdbs(source, 64));
    TRY(mdb_env_set_maxdbs(target, 64));
    TRY(mdb_env_set_mapsize(target, (size_t) 1 << 30));
    TRY(mdb_env_open(source, words[1], MDB_RDONLY | MDB_NOTLS, 0600));
    TRY(mdb_env_open(target, words[2], 0, 0600));
    TRY(mdb_txn_begin(source, NULL, MDB_RDONLY, &from));
    TRY(mdb_txn_begin(target, NULL, 0, &to));
    for (int i = 3; i < count; i++) if (copy(from, to, words[i])) return 1;
    TRY(mdb_txn_commit(to));
    mdb_txn_abort(from);
    mdb_env_close(target);
    mdb_env_close(source);
    return 0;
}
