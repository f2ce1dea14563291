/* Every limit of the library in one place: nothing grows without bound, and whoever meets a limit is told its name.
 * Bytes unless the name says otherwise. */
#ifndef DLSI_LIMITS_H
#define DLSI_LIMITS_H

/* Messages (docs/PROTOCOL.md) */
#define DLSI_INLINE_BYTES       (64 * 1024)   /* larger payloads are blobs and go over the data plane */
#define DLSI_MESSAGE_BODY_BYTES (1024 * 1024) /* the records of one message */
#define DLSI_MESSAGE_RECORDS    4096
#define DLSI_MESSAGE_FRAMES     1024        /* payload frames behind one body */
#define DLSI_SPEC_BYTES         (64 * 1024) /* the JSON of one job specification */
#define DLSI_NAME_BYTES         255         /* names of workers, handlers, tenants, devices */
#define DLSI_ENDPOINT_BYTES     255
#define DLSI_SENTENCE_BYTES     511
#define DLSI_ITEM_ERROR_BYTES   4095 /* the sentence of an item's error, with room for a traceback of its handler */
#define DLSI_COMMAND_BYTES      (512 * 1024) /* the JSON of a command or an answer: fits a message with others */

/* Manifests and pages */
#define DLSI_PAGE_BYTES        (4 * 1024 * 1024)
#define DLSI_PAGE_ROWS         65536
#define DLSI_ROW_FIELDS        64 /* model inputs or outputs of one item */
#define DLSI_MANIFEST_RUNS     65536
#define DLSI_TENSOR_RANK       8
#define DLSI_RESULT_BYTES      (1ULL << 30)                        /* the results of one task */
#define DLSI_RESULT_PAGE_BYTES (DLSI_RESULT_BYTES + (64ULL << 20)) /* with what describes them, and errors */

/* Blobs */
#define DLSI_BLOB_CHUNK_BYTES      (256 * 1024)
#define DLSI_BLOB_CHUNKS_IN_FLIGHT 8                   /* per fetch */
#define DLSI_FETCHES_AT_ONCE       16                  /* per process */
#define DLSI_FETCHES_WAITING       4096                /* per process */
#define DLSI_FETCHER_HOLDERS       64                  /* connections to holders per process */
#define DLSI_REACH_MS              2000                /* in which a holder is connected to, or else called */
#define DLSI_OUTLETS               128                 /* connections to readers that cannot connect here ... */
#define DLSI_OUTLET_TOKENS         64                  /* ... what is said again on each of them, if it is lost ... */
#define DLSI_OUTLET_IDLE_S         60                  /* ... and when it goes, in seconds */
#define DLSI_SERVED_BYTES          (256 * 1024 * 1024) /* answers that readers have not taken, per process ... */
#define DLSI_SERVED_PEER_BYTES     (2 * 1024 * 1024)   /* ... and of them those of one; more only when it takes some */
#define DLSI_READS_WAITING         65536 /* questions of readers that wait for their answers, per process ... */
#define DLSI_PEER_READS_WAITING    288   /* ... and of one: twice what an honest reader asks for at once */
#define DLSI_POOL_BUFFERS          64    /* of what was fetched, kept for what is fetched next, per process ... */
#define DLSI_POOL_BYTES            (32 * 1024 * 1024)
#define DLSI_BLOBS_OFFERED         1048576 /* per process */
#define DLSI_BLOB_BYTES            (1ULL << 40)

/* Peers and their work, per master */
#define DLSI_PEERS              16384
#define DLSI_PEER_QUEUE         16384 /* messages that wait for one peer; above all credits of a worker */
#define DLSI_WORKER_DEVICES     64
#define DLSI_LOCAL_WORKERS      256 /* of a cluster inside one process */
#define DLSI_WORKER_HANDLERS    64
#define DLSI_WORKER_JOBS        65536 /* that a worker is told of at once */
#define DLSI_WORKER_TASKS       16384 /* that a worker holds, cancelled ones that still run included */
#define DLSI_DEVICE_CREDITS     64
#define DLSI_THREADS            1024         /* on which one model runs */
#define DLSI_JOBS_BYTES         (4ULL << 30) /* live jobs of one master, unless it is told otherwise ... */
#define DLSI_JOB_BYTES          640    /* ... what each counts for besides its inputs and what it says of itself */
#define DLSI_JOBS_PER_TURN      2048   /* that are moved or ended together, in one turn */
#define DLSI_SEARCHED_JOBS      262144 /* those looked at in one turn to find some by the beginning of their ids */
#define DLSI_JOB_ITEMS          (1ULL << 40)
#define DLSI_PRIORITY           1000000 /* a job's is between this and minus this */
#define DLSI_RESOURCE_KINDS     16      /* in use at once by one master */
#define DLSI_RESOURCE_MOST      1e15    /* of one kind */
#define DLSI_PLUGINS            32      /* in the folder of one master */
#define DLSI_CLASS_LABELS       16      /* that one job asks of a worker */
#define DLSI_TAGS               16      /* of a job */
#define DLSI_AFTER              16      /* jobs that one waits for */
#define DLSI_TIME_LIMIT_MS      (1000LL * 60 * 60 * 24 * 365 * 10)
#define DLSI_RETRY_TIMES        1000          /* that an item is tried again */
#define DLSI_RETRY_RUNS         16384         /* of items that failed and are tried again, of one job ... */
#define DLSI_ALL_RETRY_RUNS     (1024 * 1024) /* ... and of all; what fails beyond that is not tried again */
#define DLSI_TAG_BYTES          63
#define DLSI_ABOUT_BYTES        16384 /* what a submission says of its job alone */
#define DLSI_WORKER_LABELS      64
#define DLSI_TENANTS            4096
#define DLSI_TENANTS_KEPT       2048                    /* of them, those that stay because a weight was set for them */
#define DLSI_TENANT_WEIGHT      1000000                 /* a tenant's is at most this, and at least one over this */
#define DLSI_TASK_ITEMS         4096                    /* items of one task */
#define DLSI_CLIENT_SPECS       4096                    /* in use at once over one connection */
#define DLSI_SPECS              65536                   /* interned specifications ... */
#define DLSI_SPECS_BYTES        (512ULL * 1024 * 1024)  /* ... and their JSON */
#define DLSI_REFUSALS_BYTES     (16ULL * 1024 * 1024)   /* why specifications were refused */
#define DLSI_HELD_PAYLOAD_BYTES (1024ULL * 1024 * 1024) /* results a master keeps until clients have them */
#define DLSI_CLIENT_HELD_BYTES  (64ULL * 1024 * 1024)   /* of them, those of one client */
#define DLSI_HELD_RESULT_BYTES  512                     /* what each counts for besides its payload */
#define DLSI_CLIENT_OFFERS      65536                   /* that one client has not confirmed; then a task a job */
#define DLSI_RECEIVED_RANGES    16384                   /* ranges of a job's items that a client says it has ... */
#define DLSI_DONE_RANGES        (16 * 1024 * 1024)      /* ... and none while all jobs have so many done */
#define DLSI_ANSWERS_PER_TURN   16                      /* to the commands of one client */
#define DLSI_ANSWERED_BYTES     (256 * 1024)            /* the same in bytes: a few milliseconds to make */
#define DLSI_LISTED             256                     /* entries of a list in an answer ... */
#define DLSI_LOOKED_AT          4096                    /* ... and those looked at for it */
#define DLSI_COMMANDED_JOBS     128                     /* that one command changes */
#define DLSI_ENDED_JOBS         4096                    /* that a master still knows */

/* What a master keeps on disk */
#define DLSI_SEGMENT_BYTES      (16 * 1024 * 1024) /* a file of the log that has so many gets no more entries ... */
#define DLSI_SEGMENT_MOST_BYTES (64 * 1024 * 1024) /* ... so that none is larger than this */
#define DLSI_LOG_GROUP_BYTES    (4 * 1024 * 1024)  /* of entries that are written at once; one alone may be larger */
#define DLSI_LOG_WAITING_BYTES  (32 * 1024 * 1024) /* on their way to the log: then durable jobs get no more tasks */
#define DLSI_KEPT_BYTES         (1024ULL * 1024 * 1024)      /* results and inputs of durable jobs */
#define DLSI_LOG_DISK_BYTES     (16ULL * 1024 * 1024 * 1024) /* the log: then no durable job is taken */

/* Work at a client and at a worker */
#define DLSI_WINDOW_ITEMS    (16 * 1024 * 1024)     /* results kept for a job, unless its client says otherwise */
#define DLSI_WINDOW_BYTES    (256ULL * 1024 * 1024) /* the same in bytes */
#define DLSI_HELD_PRESENTED  1536                   /* tasks named in a REGISTER; others are given up */
#define DLSI_PREFETCH_BYTES  (256ULL * 1024 * 1024) /* inputs read ahead, and pages; one task alone may have more */
#define DLSI_TASK_READ_BYTES (16ULL * 1024 * 1024)  /* neighbouring inputs are joined to one read up to this */
#define DLSI_JOB_PAGES       4                      /* pages of a job kept besides those that tasks hold */

/* The log of a context */
#define DLSI_LOG_LINE_BYTES 1000
#define DLSI_LOG_BYTES      (256 * 1024) /* lines that wait to be taken */
#define DLSI_LOG_FLUSH_MS   1000         /* milliseconds, that its end waits for them */

/* Scripts of users */
#define DLSI_SCRIPT_BYTES        (64 * 1024)       /* their text */
#define DLSI_SCRIPT_MEMORY_BYTES (4 * 1024 * 1024) /* what one has, with what is not collected yet */
#define DLSI_SCRIPT_BLOCK_BYTES  (128 * 1024)      /* of it, a table's array or other part */
#define DLSI_SCRIPT_STRING_BYTES 1024              /* each string that one makes */
#define DLSI_SCRIPT_STEPS        200000            /* instructions of one call, and what functions count for */

/* What a master logs of its workers, and as much again of its jobs */
#define DLSI_NEWS_AT_ONCE    256 /* lines */
#define DLSI_NEWS_PER_SECOND 16  /* after that */

/* Model folders and caches */
#define DLSI_BUNDLE_FILES      1024 /* some exporters write a file per weight */
#define DLSI_BUNDLE_NAME_BYTES 255
#define DLSI_MODEL_FILE_BYTES  (4ULL * 1024 * 1024 * 1024)
#define DLSI_MODEL_JSON_BYTES  (1024 * 1024)
#define DLSI_TOP_CLASSES       65536
#define DLSI_PICTURE_SIDE      16384 /* pixels of what a model looks at */
#define DLSI_LABELS_BYTES      (16 * 1024 * 1024)
#define DLSI_CACHE_BYTES       (16ULL * 1024 * 1024 * 1024) /* models on a worker's disk */
#define DLSI_MODELS_LOADED     16    /* that a worker keeps in memory, and that it keeps ready on each device ... */
#define DLSI_MODELS_PART       4     /* ... in this part of its memory, and as much again on all devices together */
#define DLSI_TUNINGS           65536 /* choices of a kernel that a device remembers */
#define DLSI_PLANS_PER_MODEL   8     /* batch sizes kept ready per model */
#define DLSI_SIZES_PER_MODEL   4     /* sets of sizes that a model is kept ready for, where its file leaves them open */
#define DLSI_BATCH_BYTES       (256ULL * 1024 * 1024) /* inputs and outputs of one run */

/* Foreign files */
#define DLSI_ONNX_BYTES        (2147483647ULL) /* protobuf has no larger messages */
#define DLSI_ONNX_DEPTH        64
#define DLSI_ONNX_MESSAGES     (1024 * 1024) /* protobuf messages in one file */
#define DLSI_GRAPH_NODES       16384         /* operators of one model: some steps take time by their square */
#define DLSI_FOLD_BYTES        (1024ULL * 1024 * 1024) /* of constants that are computed when a model is loaded */
#define DLSI_FOLD_STEPS        (3ULL << 27) /* of about a nanosecond, that computing them may take (graph/work.h) ... */
#define DLSI_FOLD_SMALL_STEPS  1024 /* ... without those of nodes that take no more, whose values may be shapes */
#define DLSI_VALUE_BYTES       (1ULL << 46) /* of a model: above any memory, and sums of a few still fit 64 bits */
#define DLSI_IMAGE_PIXELS      100000000
#define DLSI_IMAGE_SIDE        65535 /* pixels */
#define DLSI_JPEG_SCANS        500
#define DLSI_PNG_CHUNK_BYTES   (16 * 1024 * 1024) /* text, colour profiles and EXIF, unpacked */
#define DLSI_NPY_HEADER_BYTES  65536
#define DLSI_TENSOR_FILE_BYTES (1ULL << 32) /* .npy and .pb that a program reads into its own memory */
#define DLSI_JSON_DEPTH        64
#define DLSI_JOB_FILE_BYTES    (16 * 1024 * 1024) /* a job that is described in a file */

#endif
