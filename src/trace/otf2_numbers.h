/*
 * otf2_numbers -- the numbers of records in files of events, as libotf2 3.0 and 3.1 write them;
 * its headers do not have these. For what reads such files and what writes them.
 */
#ifndef SNAG_TRACE_OTF2_NUMBERS_H
#define SNAG_TRACE_OTF2_NUMBERS_H

enum {
    END_OF_CHUNK = 0,
    END_OF_FILE = 1,
    END_OF_BUFFER = 2, /* a file ends in one of these two */
    TIMESTAMP = 5,
    ATTRIBUTES = 6, /* of the event after it */
    FIRST_EVENT = 10,
    BUFFER_FLUSH = 10,
    ENTER = 12,
    LEAVE = 13,
    SEND = 14,
    ISEND = 15,
    ISEND_COMPLETE = 16,
    IRECV_REQUEST = 17,
    RECV = 18,
    IRECV = 19,
    REQUEST_TEST = 20,
    REQUEST_CANCELLED = 21,
    COLLECTIVE_BEGIN = 22,
    COLLECTIVE_END = 23,
    OMP_FORK = 24,
    OMP_TASK_CREATE = 28,
    OMP_TASK_SWITCH = 29,
    OMP_TASK_COMPLETE = 30,
    METRIC = 31,
    PARAMETER_STRING = 32,
    PARAMETER_INT = 33,
    PARAMETER_UNSIGNED_INT = 34,
    RMA_WIN_CREATE = 35,
    RMA_WIN_DESTROY = 36,
    RMA_COLLECTIVE_BEGIN = 37,
    RMA_COLLECTIVE_END = 38,
    RMA_GROUP_SYNC = 39,
    RMA_REQUEST_LOCK = 40,
    RMA_RELEASE_LOCK = 43,
    RMA_SYNC = 44,
    RMA_PUT = 46,
    RMA_GET = 47,
    RMA_ATOMIC = 48,
    RMA_OP_COMPLETE_BLOCKING = 49,
    RMA_OP_COMPLETE_NON_BLOCKING = 50,
    RMA_OP_COMPLETE_REMOTE = 52,
    THREAD_FORK = 53,
    THREAD_JOIN = 54,
    THREAD_TEAM_BEGIN = 55,
    THREAD_TEAM_END = 56,
    THREAD_CREATE = 62,
    THREAD_BEGIN = 63,
    THREAD_WAIT = 64,
    THREAD_END = 65,
    IO_CREATE_HANDLE = 69,
    IO_DESTROY_HANDLE = 70,
    IO_SEEK = 72,
    IO_DELETE_FILE = 74,
    IO_OPERATION_BEGIN = 75,
    IO_OPERATION_ISSUED = 77,
    IO_OPERATION_COMPLETE = 78,
    ICOLLECTIVE_REQUEST = 85,
    ICOLLECTIVE_COMPLETE = 86,
    LAST_EVENT = 88, /* of libotf2 3.0 and 3.1 */
};

#endif
