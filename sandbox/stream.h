/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/base/compiler.h"
#include "sandbox/base/err.h"
#include "sandbox/base/names.h"

/*
 * Tree streams
 *
 * A folder tree as bytes: the archive and the manifest of a frozen workspace, and the form in
 * which trees enter jails. A tree without owners, times, links or any mode but "executable" has
 * exactly one stream, and a stream is accepted only if it is that one: whoever hashes the stream
 * has hashed the tree. All numbers are little endian; reserved bits and bytes are zero.
 *
 *	stream  = magic entry* end                 and nothing behind it
 *	magic   = "proctree" version:u32=1 zero:u32
 *	entry   = header path content
 *	header  = kind:u8 flags:u8 reason:u8 zero:u8 path_len:u32 size:u64
 *	path    = name ("/" name)*                 path_len bytes, no zero byte behind them
 *	name    = 1..255 bytes, none of them zero or "/"; not "." and not ".."
 *	content = size bytes of a FILE, else nothing
 *	end     = header(END) folders:u64 files:u64 refused:u64 bytes:u64
 *
 *	kind      flags        reason      size                path_len
 *	FOLDER 1  0            0           0                   at most limits.path - 256
 *	FILE   2  1: may run   0           of the content      at most limits.path
 *	REFUSED 3 0            enum below  of what is OVERSIZE at most limits.path
 *	                                   or OVER_TOTAL, or 0
 *	END    4  0            0           0                   0
 *
 * The root has no entry. Each other folder has one, before all that it holds. Paths rise strictly
 * in the order of their bytes, where "/" sorts before every other byte: the order of a walk that
 * takes the names of a folder sorted and goes into each folder at once, so that neither side has
 * to remember more than one path. A name need not be text: newlines and bytes that are no UTF-8
 * are names like others.
 *
 * REFUSED names something that the tree had and the stream has not. Symbolic links are refused
 * whatever they point to; each name of a hard linked file is a file of its own.
 */
enum stream_kind {
	STREAM_FOLDER = 1,
	STREAM_FILE = 2,
	STREAM_REFUSED = 3,
	STREAM_KIND_END = 4, /* no entry has it */
};

#define STREAM_MAGIC "proctree\1\0\0\0\0\0\0" /* with the literal's own zero: 16 bytes */

/* Why an entry is REFUSED; the numbers are part of the grammar. */
enum stream_reason {
	STREAM_TAKEN = 0,      /* not refused */
	STREAM_SYMLINK = 1,    /* a symbolic link */
	STREAM_FIFO = 2,       /* a named pipe */
	STREAM_SOCKET = 3,     /* a socket */
	STREAM_DEVICE = 4,     /* a block or character device */
	STREAM_SETID = 5,      /* a file with the setuid or setgid bit */
	STREAM_OVERSIZE = 6,   /* larger than limits.file; never read */
	STREAM_OVER_TOTAL = 7, /* does not fit into what limits.total leaves; never read */
	STREAM_TOO_DEEP = 8,  /* a folder deeper than limits.depth; all that it holds is left out */
	STREAM_LONG_PATH = 9, /* a folder whose path leaves no room for names; the same */
	STREAM_TOO_MANY = 10, /* a folder that holds more than limits.entries leaves; the same */
	STREAM_CHANGED = 11,  /* it became something else, went away or was written to meanwhile */
	STREAM_UNREADABLE = 12, /* no right to read it */
	STREAM_MOUNT = 13,      /* another file system is mounted there */
	STREAM_REASONS = 14,
};

/* "symlink", "fifo" … for reports */
extern const struct name stream_reason_names[];

#define STREAM_NAME_MAX    255
#define STREAM_PATH_MAX    4096
#define STREAM_DEPTH_MAX   512
#define STREAM_ENTRIES_MAX UINT32_C(4000000)
#define STREAM_BYTES_MAX   (UINT64_C(1) << 50)

/*
 * What a stream may hold. Decoders refuse a stream that holds more; the collector leaves out
 * what is too much and lists it as REFUSED.
 */
struct stream_limits {
	uint64_t total;   /* bytes of all files together */
	uint64_t file;    /* bytes of one file */
	uint32_t entries; /* entries of every kind */
	uint32_t depth;   /* folders inside each other, the root not counted */
	uint32_t path;    /* bytes of one path, 512 to STREAM_PATH_MAX; folders get 256 less */
	uint32_t zero;
};

#define STREAM_LIMITS_DEFAULT \
	((struct stream_limits){ 4 * GIB, 1 * GIB, 1000000, 128, STREAM_PATH_MAX, 0 })

struct stream_entry {
	enum stream_kind kind;
	enum stream_reason reason; /* why REFUSED, else STREAM_TAKEN */
	bool executable;           /* of a FILE */
	uint64_t size;             /* as in the grammar */
	const char *path;          /* borrowed; a zero byte ends it */
	size_t path_len;
};

struct stream_counts {
	uint64_t folders;
	uint64_t files;
	uint64_t refused;
	uint64_t bytes; /* of all files together */
};

/*
 * Where a reader or writer is in a tree, and thereby what may come next. Not to be moved once
 * it is in use: entries point into it.
 */
struct stream_cursor {
	struct stream_limits limits;
	struct stream_counts counts;
	enum stream_kind kind; /* of the last entry; 0: there was none */
	size_t path_len;
	char path[STREAM_PATH_MAX +
		  1]; /* the last entry's; only its parents and it may hold more */
};

/**
 * stream_limits_check() - are these limits that this code can keep; an error names the limit
 */
int stream_limits_check(const struct stream_limits *limits, struct err *err) must_check;

/**
 * stream_compare() - compare two paths in the order of the grammar
 *
 * Return: less than, equal to or greater than 0, as strcmp().
 */
int stream_compare(const char *a, size_t a_len, const char *b, size_t b_len);

/**
 * stream_holds_parent() - may an entry of this path come next, as far as its folder is concerned
 *
 * False if the folder of @path has no FOLDER entry, or is past.
 */
bool stream_holds_parent(const struct stream_cursor *cursor, const char *path, size_t path_len);

/**
 * stream_cursor_advance() - go on to @entry, if the grammar and the limits let it come next
 *
 * An ERR_INPUT error says what is wrong with it, and the cursor stays where it was.
 */
int stream_cursor_advance(struct stream_cursor *cursor, const struct stream_entry *entry,
			  struct err *err) must_check;

/**
 * stream_show() - a path as messages may show it: escaped, and its middle left out if it is long
 */
void stream_show(char text[256], const char *path, size_t path_len);

#define STREAM_HEADER 16
#define STREAM_END    (STREAM_HEADER + 32)

/**
 * stream_encode_header() - the header of an entry, as in the grammar
 */
void stream_encode_header(uint8_t out[STREAM_HEADER], const struct stream_entry *entry);

/**
 * stream_encode_end() - the end record of a tree of these counts
 */
void stream_encode_end(uint8_t out[STREAM_END], const struct stream_counts *counts);

/* writer */

/*
 * Writes one stream to a descriptor; it can only write what the grammar allows. Large: keep it
 * on the heap where the stack is small.
 */
struct stream_writer {
	struct stream_cursor cursor;
	int fd;                /* borrowed */
	uint64_t content_left; /* of the last entry */
	size_t used;
	uint8_t bytes[64 * 1024];
};

/**
 * stream_writer_open() - start a stream
 * @fd:     written to in blocks; must outlive the writer
 * @limits: checked by stream_limits_check() before
 */
void stream_writer_open(struct stream_writer *writer, int fd, const struct stream_limits *limits);

/**
 * stream_writer_entry() - write the next entry; the content of the last one is complete
 *
 * An entry that may not come here, or is over a limit, is an ERR_INPUT error, and nothing of it
 * is written.
 */
int stream_writer_entry(struct stream_writer *writer, const struct stream_entry *entry,
			struct err *err) must_check;

/**
 * stream_writer_content() - write the next @len bytes of the last entry's content
 */
int stream_writer_content(struct stream_writer *writer, const void *bytes, size_t len,
			  struct err *err) must_check;

/**
 * stream_writer_close() - write the end record and all that is still in the buffer
 *
 * A stream that was not closed is not a stream: readers notice.
 */
int stream_writer_close(struct stream_writer *writer, struct err *err) must_check;

/* decoder */

enum stream_event {
	STREAM_WANT = 1,  /* all input is used up: give more */
	STREAM_GOT_ENTRY, /* decoder.entry is the next entry */
	STREAM_CONTENT,   /* decoder.content has bytes of the last entry's content */
	STREAM_ENDED,     /* the stream is complete and all of it was valid */
};

/*
 * Decodes a stream that comes in pieces of any size, and holds no content: it points into the
 * piece at hand. For who is handed bytes by a loop of his own; others take a stream_reader. Not
 * to be moved once it is in use.
 */
struct stream_decoder {
	struct stream_cursor cursor;
	struct stream_entry entry; /* path points into cursor */
	const uint8_t *content;    /* borrowed from the input; until the next call */
	size_t content_len;
	uint64_t content_left; /* of the entry's content, behind `content` */
	int state;             /* which part of the grammar is being read */
	const uint8_t *input;  /* borrowed */
	size_t input_len;
	size_t held; /* bytes in `hold`: the beginning of a part that is not complete yet */
	uint8_t hold[STREAM_PATH_MAX];
};

/**
 * stream_decoder_open() - start to decode one stream
 */
void stream_decoder_open(struct stream_decoder *decoder, const struct stream_limits *limits);

/**
 * stream_decoder_feed() - give the next piece; only at the start and after STREAM_WANT
 * @bytes: borrowed until the next STREAM_WANT
 */
void stream_decoder_feed(struct stream_decoder *decoder, const void *bytes, size_t len);

/**
 * stream_decoder_next() - what comes next in the stream
 *
 * Return: an enum stream_event, or -1: the stream is not valid, always ERR_INPUT, and nothing
 * but an error will ever follow. A stream that is cut off never gives STREAM_ENDED.
 */
int stream_decoder_next(struct stream_decoder *decoder, struct err *err) must_check;

/**
 * stream_decoder_cut() - raise the error of a stream that ends before its end record
 *
 * Return: -1.
 */
int stream_decoder_cut(const struct stream_decoder *decoder, struct err *err);

/* reader */

/*
 * Reads one stream from a descriptor, which holds nothing else, or from memory. Large, as the
 * writer, and not to be moved either.
 */
struct stream_reader {
	struct stream_decoder decoder;
	int fd; /* borrowed; -1: the stream is in memory */
	uint8_t bytes[64 * 1024];
};

/**
 * stream_reader_open() - read a stream from where @fd is up to the end of that file
 *
 * Blocks as long as the other end of a pipe neither writes nor closes it.
 */
void stream_reader_open(struct stream_reader *reader, int fd, const struct stream_limits *limits);

/**
 * stream_reader_open_memory() - read a stream of @len bytes in memory, which must outlive the
 * reader
 */
void stream_reader_open_memory(struct stream_reader *reader, const void *bytes, size_t len,
			       const struct stream_limits *limits);

/**
 * stream_reader_next() - what comes next: as stream_decoder_next(), without STREAM_WANT
 *
 * A stream that is cut off or followed by anything is an ERR_INPUT error; one that can not be
 * read an ERR_SYS.
 */
int stream_reader_next(struct stream_reader *reader, struct err *err) must_check;

/**
 * stream_reader_entry() - the next entry, what is left of the last one's content passed over
 *
 * Return: 1 and reader->decoder.entry; 0 at the end of the stream; -1 on error.
 */
int stream_reader_entry(struct stream_reader *reader, struct err *err) must_check;

/**
 * stream_reader_content() - the next bytes of the entry's content, at most @len
 *
 * Return: bytes read, as many as there are; 0 behind the last one; -1 on error.
 */
ssize_t stream_reader_content(struct stream_reader *reader, void *bytes, size_t len,
			      struct err *err) must_check;
