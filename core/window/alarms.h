/* Windows that wait for the clock: a heap of cells by the clock at which a delay or an idleness may be due. A cell is in
 * it at most once; where its alarm has moved to a later time it stays until the earlier one comes. */
#ifndef LN_WINDOW_ALARMS_H
#define LN_WINDOW_ALARMS_H

#include "window/cell.h"

typedef struct ln_alarms {
    ln_mem *mem;
    ln_cell **heap; /* by alarm_us */
    size_t count, cap;
} ln_alarms;

void ln_alarms_init(ln_alarms *a, ln_mem *mem);
void ln_alarms_free(ln_alarms *a);
/* Files a cell for that time, unless it is filed for an earlier one; 0, or -1 where memory is short. */
int ln_alarms_set(ln_alarms *a, ln_cell *cell, int64_t at_us);
void ln_alarms_remove(ln_alarms *a, ln_cell *cell);
/* Takes out the cell that is due first, if that is at or before `upto_us`; else NULL. */
ln_cell *ln_alarms_pop(ln_alarms *a, int64_t upto_us);
const char *ln_alarms_verify(const ln_alarms *a);

#endif
