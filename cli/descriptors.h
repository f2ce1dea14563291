/* The descriptors of a program: which ones are taken when it starts, and how many it may have. By default a master
 * would be full with a thousand connections, also of strangers who say nothing. */
#ifndef DLSI_CLI_DESCRIPTORS_H
#define DLSI_CLI_DESCRIPTORS_H

/* Before anything is opened: keeps the places of the standard descriptors that are closed, or a socket would get one
 * and what is printed would go there. Using them fails as before. */
void cli_descriptors_hold(void);

/* Allows this process as many as the system lets it. */
void cli_descriptors_raise(void);

#endif
