/* See screen.h. On ncurses, whose names stay in this file. */
#include "cli/screen.h"

#ifdef LUNETTE_NCURSES
#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

static SCREEN *screen;

int ln_screen_open(void) {
    setlocale(LC_CTYPE, "");
    screen = newterm(NULL, stdout, stdin);
    if (!screen) return -1;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    if (has_colors()) {
        start_color();
        use_default_colors();
        init_pair(1, COLOR_YELLOW, -1);
        init_pair(2, COLOR_CYAN, -1);
    }
    return 0;
}

void ln_screen_close(void) {
    endwin();
    delscreen(screen);
    screen = NULL;
}

int ln_screen_rows(void) { return LINES; }

int ln_screen_columns(void) { return COLS; }

void ln_screen_clear(void) { erase(); }

static attr_t look_of(char letter) {
    switch (letter) {
    case 'h': return A_REVERSE | A_BOLD;
    case 't': return A_BOLD | (has_colors() ? (attr_t)COLOR_PAIR(2) : 0);
    case 'w': return A_BOLD | (has_colors() ? (attr_t)COLOR_PAIR(1) : 0);
    case 'd': return A_DIM;
    default: return A_NORMAL;
    }
}

void ln_screen_line(int row, const char *text) {
    attr_t look = look_of(*text);
    if (!*text || row >= LINES) return;
    attrset((int)look);
    if (*text == 'h') mvhline(row, 0, (chtype)' ' | look, COLS);
    mvaddnstr(row, 0, text + 1, COLS);
    attrset((int)A_NORMAL);
}

void ln_screen_show(void) { refresh(); }

int ln_screen_key(int wait_ms) {
    int key;
    timeout(wait_ms);
    key = getch();
    if (key == KEY_RESIZE) return LN_SCREEN_RESIZED;
    return key == ERR ? LN_SCREEN_NO_KEY : key;
}

#else

int ln_screen_open(void) { return -1; }
void ln_screen_close(void) {}
int ln_screen_rows(void) { return 0; }
int ln_screen_columns(void) { return 0; }
void ln_screen_clear(void) {}
void ln_screen_line(int row, const char *text) { (void)row, (void)text; }
void ln_screen_show(void) {}
int ln_screen_key(int wait_ms) {
    (void)wait_ms;
    return LN_SCREEN_NO_KEY;
}

#endif
