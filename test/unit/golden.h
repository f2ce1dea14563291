/* The bytes of a record of every kind, header and fields, as test_message.c fills them; in hexadecimal, in the order of
 * the kinds. Never to be changed: a later release appends to a line what it appends to the record. */
#ifndef DLSI_UNIT_GOLDEN_H
#define DLSI_UNIT_GOLDEN_H

#include <stddef.h>

extern const char *const unit_golden[];
extern const size_t unit_golden_count;

#endif
