/* What the operator is told, while the worker, the peer or the job is still in the tables. */
#ifndef DLSI_MASTER_NEWS_H
#define DLSI_MASTER_NEWS_H

#include "core/master_state.h"

void dlsi_news_joined(struct dlsi_master *master, const struct worker *worker);
void dlsi_news_of_worker(struct dlsi_master *master, const struct worker *worker, const char *what);
void dlsi_news_silent(struct dlsi_master *master, const struct peer *peer);

/* Messages have been lost on a connection. */
void dlsi_news_gap(struct dlsi_master *master, uint64_t sent, uint64_t received);
void dlsi_news_accepted(struct dlsi_master *master, const struct job *job);

/* Somebody has commanded something: "paused". */
void dlsi_news_commanded(struct dlsi_master *master, const struct job *job, const char *what, const char *by);
void dlsi_news_ended(struct dlsi_master *master, const struct job *job, struct dlsi_text sentence);

#endif
