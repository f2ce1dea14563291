/* Operators on constants: graph/ evaluates them while it infers shapes, so that loading a model of a few lines is
 * enough to see what an operator's own evaluation gives. */
#ifndef DLSI_UNIT_OP_H
#define DLSI_UNIT_OP_H

/* Loads the model (test/unit/onnx.h; an input and the output `y` are added) and compares `y` with these numbers, in the
 * order in which they lie; NaN equals NaN. */
#define UNIT_GIVES(text, ...)                                                                                          \
	unit_op_gives(text, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})
void unit_op_gives(const char *text, unsigned count, const double *expected);

/* Checks that the model is refused with this code and a sentence that has `says` in it. */
void unit_op_refuses(const char *text, int code, const char *says);

#endif
