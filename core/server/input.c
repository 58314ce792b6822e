/* See source.h. Descriptors that others gave us keep their flags: others share them. */
#define _GNU_SOURCE
#include "server/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_PIECE_BYTES = 64 * 1024, PIPE_PIECE_BYTES = 64 * 1024 };

static const char STANDARD_INPUT[] = "standard input";

static int kind_of(const char *input) {
    lunette_address a;
    (void)lunette_address_parse(&a, input, LUNETTE_USE_SOURCE);
    return a.kind;
}

/* Adds what `input` will give to the total. */
static int examine(ln_input *s, const char *input) {
    int kind = kind_of(input);
    struct stat st;
    off_t at = 0;
    if (kind == LUNETTE_ADDRESS_NULL) return 0;
    s->name = kind == LUNETTE_ADDRESS_STANDARD ? STANDARD_INPUT : input;
    if (kind == LUNETTE_ADDRESS_STANDARD ? fstat(STDIN_FILENO, &st) : stat(input, &st)) return -1;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (kind == LUNETTE_ADDRESS_PATH && access(input, R_OK)) return -1;
    if (!S_ISREG(st.st_mode)) {
        s->files_only = 0;
        return 0;
    }
    if (kind == LUNETTE_ADDRESS_STANDARD) at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at >= 0 && at < st.st_size) s->total_bytes += (uint64_t)(st.st_size - at);
    return 0;
}

int ln_input_init(ln_input *s, const char *const *inputs, size_t count) {
    *s = (ln_input){.inputs = inputs, .inputs_count = count, .fd = -1, .files_only = 1};
    for (size_t i = 0; i < count; i++) {
        if (examine(s, inputs[i])) return -1;
    }
    return 0;
}

/* Opening a FIFO must not wait for its writer. Read before one has come it would look empty, but a FIFO is read only
 * once it has been found readable. */
static int open_input(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st)) return fd;
    if (S_ISREG(st.st_mode)) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return fd;
}

int ln_input_next(ln_input *s) {
    const char *input;
    struct stat st;
    ln_input_close(s);
    if (s->next == s->inputs_count) return 0;
    input = s->inputs[s->next++];
    s->name = input;
    s->pollable = 0;
    switch (kind_of(input)) {
    case LUNETTE_ADDRESS_NULL: return 1;
    case LUNETTE_ADDRESS_STANDARD:
        s->name = STANDARD_INPUT;
        s->fd = STDIN_FILENO;
        break;
    default:
        s->fd = open_input(input);
        if (s->fd < 0) return -1;
    }
    if (fstat(s->fd, &st)) return -1;
    s->pollable = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode);
    return 1;
}

enum ln_read ln_input_read(ln_input *s, ln_reader *reader) {
    size_t want = s->pollable ? PIPE_PIECE_BYTES : FILE_PIECE_BYTES;
    uint8_t *space;
    ssize_t got;
    if (s->fd < 0) return LN_READ_END;
    space = ln_reader_space(reader, want);
    if (!space) {
        errno = ENOMEM;
        return LN_READ_FAILED;
    }
    got = read(s->fd, space, want);
    if (got < 0) return errno == EAGAIN || errno == EINTR ? LN_READ_LATER : LN_READ_FAILED;
    if (ln_reader_commit(reader, (size_t)got)) {
        errno = ENOMEM;
        return LN_READ_FAILED;
    }
    s->read_bytes += (uint64_t)got;
    return got ? LN_READ_BYTES : LN_READ_END;
}

void ln_input_close(ln_input *s) {
    if (s->fd > STDERR_FILENO) close(s->fd);
    s->fd = -1;
}
