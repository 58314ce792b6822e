/* The wall clock as the engine sees it: it never goes back, and whoever sets the system's clock neither repeats a
 * firing nor loses one. Set forward, it jumps, and several multiples of a period passed at once are one firing; set
 * back, it goes on at half its pace until the wall has caught up. Reads no clock itself: it is told both readings. */
#ifndef LN_SERVER_CLOCK_H
#define LN_SERVER_CLOCK_H

#include <stdint.h>

typedef struct ln_clock {
    int begun;
    int64_t now_us;    /* its last reading */
    int64_t steady_us; /* the steady clock's at that time */
    int64_t set_us;    /* by how much it was set, in all: its readings less the time that has passed */
} ln_clock;

/* The present reading, from those of the system's wall clock and of a steady one. */
int64_t ln_clock_read(ln_clock *c, int64_t wall_us, int64_t steady_us);

int64_t ln_clock_wall_us(void);
int64_t ln_clock_steady_us(void);

#endif
