/* How many descriptors a program may have: by default a master would be full with a thousand connections, also of
 * strangers who say nothing. */
#ifndef DLSI_CLI_DESCRIPTORS_H
#define DLSI_CLI_DESCRIPTORS_H

/* Allows this process as many as the system lets it. */
void cli_descriptors_raise(void);

#endif
