/* A terminal as rows of text, each with a look: the letter that its text begins with. 'h' head, 't' title, 'w' warning,
 * 'd' dim, 'n' normal. Where the program was built without a terminal library there is none. */
#ifndef LN_CLI_SCREEN_H
#define LN_CLI_SCREEN_H

enum { LN_SCREEN_NO_KEY = -1, LN_SCREEN_RESIZED = -2 };

/* Takes the terminal; 0, or -1 where it can't be drawn on. */
int ln_screen_open(void);
/* Gives it back as it was. */
void ln_screen_close(void);
int ln_screen_rows(void);
int ln_screen_columns(void);
void ln_screen_clear(void);
/* What goes past the right edge is cut. */
void ln_screen_line(int row, const char *text);
void ln_screen_show(void);
/* Waits for a key, for at most so long. */
int ln_screen_key(int wait_ms);

#endif
