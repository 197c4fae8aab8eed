/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/relaying.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"

/* From the jail's end to the relay's last words: it drains, and syncs its log. */
enum { LAST_WORDS_MS = 30 * 1000 };

/* Its last words. */
struct told {
	uint32_t failed;
	struct err err;
	struct relaying_result result;
};

/* --- the log, written by the relay itself --- */

struct log {
	const struct services *services;
	int fd; /* -1: there is none */
	uint64_t bytes, unlogged;
	struct str text;
};

static int write_line(struct log *log, struct err *err)
{
	str_add(&log->text, "\n", 1);
	if (io_write_all(log->fd, log->text.text, log->text.len, RELAYING_LOG, err) == 0)
		return 0;
	if (err->sys == ENOSPC || err->sys == EDQUOT)
		err->kind = ERR_HOST;
	return -1;
}

static int log_connection(void *user, const struct relay_line *line, struct err *err)
{
	struct log *log = user;
	struct json_writer json;

	if (log->fd < 0)
		return 0;
	str_clear(&log->text);
	json_writer_init(&json, &log->text);
	json_put_object(&json, NULL);
	json_put_text(&json, "service", log->services->items[line->service].name);
	json_put_int(&json, "connection", (int64_t) line->number);
	json_put_int(&json, "opened_ns", line->opened_ns);
	json_put_int(&json, "closed_ns", line->closed_ns);
	json_put_int(&json, "sent", (int64_t) line->sent);
	json_put_int(&json, "received", (int64_t) line->received);
	json_put_text(&json, "ended", names_text(relay_how_names, (int) line->how));
	json_put_text(&json, "error", line->error != 0 ? strerrordesc_np(line->error) : NULL);
	json_put_end(&json);
	if (log->bytes + log->text.len >= RELAYING_LOG_MAX) {
		log->unlogged++;
		return 0;
	}
	log->bytes += log->text.len + 1;
	return write_line(log, err);
}

static void put_counts(struct json_writer *json, const struct relay_counts *counts)
{
	json_put_int(json, "connections", (int64_t) counts->connections);
	json_put_int(json, "refused", (int64_t) counts->refused);
	json_put_int(json, "unreachable", (int64_t) counts->unreachable);
	json_put_int(json, "sent", (int64_t) counts->sent);
	json_put_int(json, "received", (int64_t) counts->received);
	json_put_array(json, "capped");
	for (const struct name *how = relay_how_names; how->text; how++)
		if (counts->capped >> how->value & 1)
			json_put_text(json, NULL, how->text);
	json_put_end(json);
}

static int log_sums(struct log *log, const struct relaying_result *result, struct err *err)
{
	for (uint32_t i = 0; log->fd >= 0 && i < result->count; i++) {
		struct json_writer json;

		str_clear(&log->text);
		json_writer_init(&json, &log->text);
		json_put_object(&json, NULL);
		json_put_text(&json, "service", log->services->items[i].name);
		put_counts(&json, &result->services[i]);
		json_put_int(&json, "unlogged", (int64_t) result->unlogged);
		json_put_end(&json);
		if (write_line(log, err) < 0)
			return -1;
	}
	if (log->fd >= 0 && fsync(log->fd) < 0 && errno != EINVAL && errno != EROFS)
		return err_sys(err, "sync '" RELAYING_LOG "'");
	return 0;
}

/* --- the process --- */

static void fill_relay(const struct services *services, const struct started_fds *started,
		       struct relay *out)
{
	out->count = (uint32_t) services->count;
	for (uint32_t i = 0; i < out->count; i++) {
		const struct service *from = &services->items[i];
		struct relay_service *to = &out->services[i];

		to->listen_fd = started->service_fd[i];
		/* A policy that does not say an endpoint was not read. */
		best_effort(relay_endpoint_parse(from->connect, &to->endpoint));
		to->connections = (uint32_t) from->connections;
		to->total = from->total;
		to->sent = from->sent;
		to->received = from->received;
		to->idle_ms = from->idle_ms;
	}
	out->payload_fd = started->pid_fd;
}

static uint32_t sum_connections(const struct services *services)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < services->count; i++)
		sum += (uint32_t) services->items[i].connections;
	return sum;
}

static int confine(const struct relay *relay, const struct services *services, int log_fd,
		   pid_t parent, struct err *err)
{
	int keep[NET_SERVICES_MAX + 3] = { relay->parent_fd, relay->payload_fd };
	size_t count = 2;

	if (log_fd >= 0)
		keep[count++] = log_fd;
	for (uint32_t i = 0; i < relay->count; i++)
		keep[count++] = relay->services[i].listen_fd;
	return relay_confine(keep, count, parent, sum_connections(services), err);
}

no_return static void run_child(const struct services *services, const struct relay *given,
				int log_fd, pid_t parent)
{
	struct log log = { .services = services, .fd = log_fd, .text = STR_INIT };
	struct told told = { .result = { .count = given->count } };
	struct relay relay = *given;
	struct err ignored = ERR_INIT;

	relay.tell = log_connection;
	relay.user = &log;
	if (confine(&relay, services, log_fd, parent, &told.err) < 0 ||
	    relay_run(&relay, told.result.services, &told.err) < 0)
		told.failed = 1;
	told.result.unlogged = log.unlogged;
	if (!told.failed && log_sums(&log, &told.result, &told.err) < 0)
		told.failed = 1;
	/* Nobody is left to be told where this fails. */
	best_effort(io_write_all(relay.parent_fd, &told, sizeof(told), "last words", &ignored));
	_exit(0);
}

int relaying_start(const struct services *services, const struct started_fds *started, int log_fd,
		   struct relaying *out, struct err *err)
{
	struct relay relay = { .begun = clock_now() };
	cleanup(relaying_done) struct relaying made = RELAYING_INIT;
	const pid_t parent = getpid();
	auto_fd theirs = -1;
	int pair[2], child;

	if (started->service_count != services->count)
		return err_set(err, ERR_SYS, "the launcher sent %u sockets for %zu services",
			       started->service_count, services->count);
	if (message_pair(pair, err) < 0)
		return -1;
	made.socket_fd = pair[0];
	theirs = pair[1];
	fill_relay(services, started, &relay);
	relay.parent_fd = theirs;
	child = process_fork(&made.process, err);
	if (child == 0)
		run_child(services, &relay, log_fd, parent);
	if (child < 0)
		return -1;
	*out = take(made, RELAYING_INIT);
	return 0;
}

/* What its end without last words means. */
static int say_lost(int status, struct err *err)
{
	if ((status & 0x7f) != 0)
		return err_set(err, ERR_SYS, "the relay of the services was ended by signal %d",
			       status & 0x7f);
	return err_set(err, ERR_SYS, "the relay of the services ended without a word");
}

int relaying_finish(struct relaying *relaying, struct relaying_result *out, struct err *err)
{
	struct pollfd ready = { .fd = relaying->socket_fd, .events = POLLIN };
	const int64_t deadline = clock_after_ms(LAST_WORDS_MS);
	struct err ignored = ERR_INIT;
	struct told told;
	int status = 0;
	ssize_t len;

	shutdown(relaying->socket_fd, SHUT_WR);
	while (poll(&ready, 1, clock_poll_ms(deadline)) < 0 && errno == EINTR)
		continue;
	if (!ready.revents)
		return err_set(err, ERR_SYS, "the relay of the services does not end");
	len = message_receive(relaying->socket_fd, &told, sizeof(told), NULL, &ignored);
	if (process_wait(&relaying->process, deadline, &status, err) < 0)
		return -1;
	fd_close(&relaying->socket_fd);
	if (len != (ssize_t) sizeof(told))
		return say_lost(status, err);
	told.err.text[sizeof(told.err.text) - 1] = '\0';
	if (told.failed) {
		*err = told.err;
		return err_wrap(err, "services");
	}
	*out = told.result;
	return 0;
}

void relaying_done(struct relaying *relaying)
{
	process_kill(&relaying->process);
	fd_close(&relaying->socket_fd);
	*relaying = RELAYING_INIT;
}

/* --- what is said of them --- */

size_t relaying_flags(const struct services *services, const struct relaying_result *result,
		      struct relaying_flag out[RELAYING_FLAGS_MAX])
{
	size_t count = 0;

	for (uint32_t i = 0; i < result->count; i++) {
		const char *name = services->items[i].name;

		if (result->services[i].capped != 0)
			snprintf(out[count++].text, sizeof(out->text), "service_capped:%s", name);
		if (result->services[i].unreachable > 0)
			snprintf(out[count++].text, sizeof(out->text), "service_unreachable:%s",
				 name);
	}
	return count;
}

void relaying_put(struct json_writer *json, const char *key, const struct services *services,
		  const struct relaying_result *result)
{
	json_put_array(json, key);
	for (uint32_t i = 0; i < result->count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "name", services->items[i].name);
		put_counts(json, &result->services[i]);
		json_put_end(json);
	}
	json_put_end(json);
}
