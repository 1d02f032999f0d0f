/*
 * Holds read transactions of an LMDB environment: readers DIRECTORY COUNT
 *
 * Says on standard output how many it has, up to COUNT or until every slot is taken, and holds them
 * until standard input ends. With COUNT 0 it lists the readers instead: process, thread, and the
 * transaction that it reads ('-' for none), a line each.
 */
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>

static int print(const char *line, void *context) {
    (void) context;
    fputs(line, stdout);
    return 0;
}

int main(int count, char **words) {
    MDB_env *environment;
    if (count != 3 || mdb_env_create(&environment)) return 64;
    if (mdb_env_set_mapsize(environment, (size_t) 1 << 36)) return 1;
    if (mdb_env_open(environment, words[1], MDB_RDONLY | MDB_NOTLS, 0600)) return 1;
    int wanted = atoi(words[2]), taken = 0;
    if (wanted == 0) return mdb_reader_list(environment, print, NULL) < 0;
    MDB_txn *transaction;
    while (taken < wanted && !mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction)) taken++;
    printf("%d\n", taken);
    fflush(stdout);
    while (getchar() != EOF) continue;
    /* The end of the process takes its slots away: kill -9 leaves them. */
    mdb_env_close(environment);
    return 0;
}
