/* dls-master check DIR: proves the data folder of a master and says what is in it. */
#ifndef DLSI_CLI_MASTER_CHECK_H
#define DLSI_CLI_MASTER_CHECK_H

/* Of a command line whose first operand is "check". Returns the exit code. */
int master_check_main(int argc, char **argv);

#endif
