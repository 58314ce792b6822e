/* See env.h. The map is a range of addresses, not memory: it grows by doubling when it is full. */
#define _GNU_SOURCE
#include "ledger/env.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>

static const size_t MAP_FIRST = (size_t)64 << 20, MAP_LAST = (size_t)1 << 42; /* bytes */

static const char *const table_name[LN_LEDGER_TABLES] = {"0", "1", "2", "3"};

/* Readers that died without a word are forgotten. */
static void check_readers(MDB_env *env) {
    int dead;
    (void)mdb_reader_check(env, &dead);
}

int ln_ledger_env_open(ln_ledger_env *e, const char *path, int look) {
    unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (look ? MDB_RDONLY : 0);
    int err;
    *e = (ln_ledger_env){0};
    err = mdb_env_create(&e->env);
    if (err) return err;
    err = mdb_env_set_maxdbs(e->env, LN_LEDGER_TABLES);
    if (!err) err = mdb_env_set_mapsize(e->env, MAP_FIRST);
    if (!err) err = mdb_env_open(e->env, path, flags, 0600);
    if (err) ln_ledger_env_close(e);
    else check_readers(e->env);
    return err;
}

void ln_ledger_env_close(ln_ledger_env *e) {
    if (e->env) mdb_env_close(e->env);
    *e = (ln_ledger_env){0};
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* The handles of tables that a transaction has made are lost where it fails. */
static int open_tables(ln_ledger_env *e, MDB_txn *txn, unsigned flags) {
    int err = 0;
    for (unsigned i = 0; i < LN_LEDGER_TABLES && !err; i++) err = mdb_dbi_open(txn, table_name[i], flags, &e->table[i]);
    return err;
}

/* Sought anew each time: a cursor does not stand reliably behind what it has deleted. */
static int delete_range(MDB_txn *txn, MDB_dbi table, MDB_val from, MDB_val to) {
    MDB_cursor *cursor;
    int err = mdb_cursor_open(txn, table, &cursor);
    if (err) return err;
    while (!err) {
        MDB_val key = from, value;
        err = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
        if (err || mdb_cmp(txn, table, &key, &to) >= 0) break;
        err = mdb_cursor_del(cursor, 0);
    }
    mdb_cursor_close(cursor);
    return err == MDB_NOTFOUND ? 0 : err;
}

static int apply_change(MDB_txn *txn, const MDB_dbi *table, const ln_change_read *c) {
    MDB_val key = {.mv_size = c->key_bytes, .mv_data = (void *)(uintptr_t)c->key};
    MDB_val value = {.mv_size = c->value_bytes, .mv_data = (void *)(uintptr_t)c->value};
    int err;
    switch (c->kind) {
    case LN_CHANGE_PUT: return mdb_put(txn, table[c->table], &key, &value, 0);
    case LN_CHANGE_DELETE: err = mdb_del(txn, table[c->table], &key, NULL); return err == MDB_NOTFOUND ? 0 : err;
    default: return delete_range(txn, table[c->table], key, value);
    }
}

static int apply_once(ln_ledger_env *e, const ln_batch_writer *batch) {
    MDB_txn *txn;
    ln_change_read change;
    size_t at = 0;
    int err = mdb_txn_begin(e->env, NULL, 0, &txn);
    if (err) return err;
    if (!e->has_tables) err = open_tables(e, txn, MDB_CREATE);
    while (!err && ln_batch_next(batch, &at, &change)) err = apply_change(txn, e->table, &change);
    if (err) mdb_txn_abort(txn);
    else err = mdb_txn_commit(txn);
    if (!err) e->has_tables = 1;
    return err;
}

static int grow(ln_ledger_env *e) {
    MDB_envinfo info;
    int err = mdb_env_info(e->env, &info);
    if (err) return err;
    return info.me_mapsize < MAP_LAST ? mdb_env_set_mapsize(e->env, info.me_mapsize * 2) : MDB_MAP_FULL;
}

/* Asks for room on the disk before anything is written: LMDB calls a write that was cut short an I/O error, after which
 * all would have to be written anew. */
static int reserve(const ln_ledger_env *e, const ln_batch_writer *batch) {
    enum { MORE = 1 << 20 };
    MDB_envinfo info;
    MDB_stat stat;
    int fd, err = mdb_env_info(e->env, &info);
    if (!err) err = mdb_env_stat(e->env, &stat);
    if (!err) err = mdb_env_get_fd(e->env, &fd);
    if (err) return err;
    if (!fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)((info.me_last_pgno + 1) * stat.ms_psize),
                   (off_t)batch->bytes.len + MORE))
        return 0;
    return errno == EOPNOTSUPP || errno == EINTR ? 0 : errno;
}

/* An I/O error on a disk with so little left is taken for a full one. */
static int judge(const ln_ledger_env *e, int err) {
    enum { LEFT = 4 << 20 };
    struct statvfs disk;
    int fd;
    if (err != EIO || mdb_env_get_fd(e->env, &fd) || fstatvfs(fd, &disk)) return err;
    return disk.f_bavail * disk.f_frsize < LEFT ? ENOSPC : err;
}

int ln_ledger_env_apply(ln_ledger_env *e, const ln_batch_writer *batch) {
    int err, grown;
    check_readers(e->env);
    err = reserve(e, batch);
    if (err) return err;
    while ((err = apply_once(e, batch)) == MDB_MAP_FULL) {
        grown = grow(e);
        if (grown) return grown;
    }
    return judge(e, err);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int begin_look(ln_ledger_env *e, MDB_txn **txn) {
    int err = mdb_txn_begin(e->env, NULL, MDB_RDONLY, txn);
    if (err == MDB_MAP_RESIZED) { /* another process has made the file larger than our map */
        err = mdb_env_set_mapsize(e->env, 0);
        if (!err) err = mdb_txn_begin(e->env, NULL, MDB_RDONLY, txn);
    }
    if (err || e->has_tables) return err;
    err = open_tables(e, *txn, 0);
    if (err) mdb_txn_abort(*txn);
    return err;
}

/* Handles opened by a transaction count once it is committed. */
static void end_look(ln_ledger_env *e, MDB_txn *txn) {
    if (e->has_tables) mdb_txn_abort(txn);
    else e->has_tables = !mdb_txn_commit(txn);
}

int ln_ledger_env_scan(ln_ledger_env *e, unsigned table, MDB_val from, ln_ledger_visit *visit, void *ctx, int *result) {
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key = from, value;
    int err = begin_look(e, &txn);
    *result = 0;
    if (err) return err == MDB_NOTFOUND ? 0 : err; /* no batch has made the tables */
    err = mdb_cursor_open(txn, e->table[table], &cursor);
    if (!err) {
        err = mdb_cursor_get(cursor, &key, &value, from.mv_size ? MDB_SET_RANGE : MDB_FIRST);
        while (!err) {
            *result = visit(ctx, key.mv_data, key.mv_size, value.mv_data, value.mv_size);
            if (*result) break;
            err = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
        }
        mdb_cursor_close(cursor);
    }
    end_look(e, txn);
    return err == MDB_NOTFOUND ? 0 : err;
}

int ln_ledger_env_size(ln_ledger_env *e, ln_ledger_size *out) {
    MDB_envinfo info;
    MDB_stat stat;
    MDB_txn *txn;
    uint64_t pages = 2; /* the heads */
    int err = mdb_env_info(e->env, &info);
    if (!err) err = begin_look(e, &txn);
    if (err) return err;
    for (unsigned i = 0; i < LN_LEDGER_TABLES && !err; i++) {
        err = mdb_stat(txn, e->table[i], &stat);
        pages += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
    }
    end_look(e, txn);
    if (err) return err;
    out->file_bytes = (uint64_t)(info.me_last_pgno + 1) * stat.ms_psize;
    out->used_bytes = pages * stat.ms_psize;
    return 0;
}
