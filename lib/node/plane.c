#include "node/plane.h"

#include "net/endpoint.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WITHIN_PROCESS "inproc://dlsched-data"
#define LOOPBACK       "tcp://127.0.0.1:*"

struct plane {
	struct dlsi_list node;
	struct dlsi_dataplane *data;
	unsigned users;
	char bind[DLSI_ENDPOINT_BYTES + 1];
};

/* The address of this machine from which a packet to that one would leave; nothing is sent. Returns 0 or an errno. */
static int find_source(const struct addrinfo *to, char *out, size_t room)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof from;
	char host[NI_MAXHOST];
	int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), os_error = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, to->ai_addr, to->ai_addrlen) || getsockname(fd, (struct sockaddr *)&from, &length))
		os_error = errno;
	close(fd);
	if (os_error)
		return os_error;
	if (getnameinfo((struct sockaddr *)&from, length, host, sizeof host, NULL, 0, NI_NUMERICHOST))
		return EADDRNOTAVAIL;
	snprintf(out, room, from.ss_family == AF_INET6 ? "tcp://[%s]:*" : "tcp://%s:*", host);
	return 0;
}

/* An address that means all of this machine's: a listener's, but nobody can fetch from there. */
static bool is_wildcard(const char *resolved)
{
	struct dlsi_endpoint endpoint;

	return dlsi_endpoint_parse(resolved, &endpoint, NULL) == 0 && endpoint.scheme == DLSI_SCHEME_TCP &&
	       (strcmp(endpoint.host, "*") == 0 || strcmp(endpoint.host, "0.0.0.0") == 0 ||
		       strcmp(endpoint.host, "::") == 0);
}

static int find_interface(const char *master, char *out, size_t room, struct dls_error *err)
{
	struct dlsi_endpoint endpoint;
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *addresses;
	int rc = dlsi_endpoint_parse(master, &endpoint, err);

	if (rc)
		return rc;
	hints.ai_family = endpoint.ipv6 ? AF_INET6 : AF_INET;
	rc = getaddrinfo(endpoint.host, endpoint.port, &hints, &addresses);
	if (rc)
		return dlsi_fail(err, DLS_EADDRESS, "the host name \"%s\" in %s cannot be resolved: %s", endpoint.host,
			master, gai_strerror(rc));
	rc = find_source(addresses, out, room);
	freeaddrinfo(addresses);
	if (rc)
		return dlsi_fail_errno(err, DLS_EADDRESS, rc,
			"no interface of this machine reaches %s; name one with data_bind", master);
	return 0;
}

/* What the program asked for. */
static int check_bind(const struct dlsi_plane_options *options, struct dls_error *err)
{
	char resolved[DLSI_ENDPOINT_BYTES + 1];
	bool ipv6;
	int rc = dlsi_endpoint_listen(options->data_bind, resolved, &ipv6, err);

	if (rc)
		return rc;
	if (!options->insecure && !dlsi_endpoint_is_local(options->data_bind))
		return dlsi_fail(err, DLS_EDENIED,
			"serving data at %s would be open to other machines, unencrypted; allow it with insecure "
			"(--insecure), or "
			"use a loopback address",
			options->data_bind);
	if (is_wildcard(resolved))
		return dlsi_fail(err, DLS_EADDRESS,
			"nobody can fetch from %s, which stands for every address of this machine; name in data_bind "
			"the one "
			"that the others reach",
			options->data_bind);
	return 0;
}

static bool hides(const struct dlsi_plane_options *options)
{
	return options->may_hide && options->data_bind && strcmp(options->data_bind, DLSI_PLANE_NONE) == 0;
}

/* Whether the master can be dialed, and may be. */
static int check_master(const struct dlsi_plane_options *options, struct dls_error *err)
{
	char resolved[DLSI_ENDPOINT_BYTES + 1];
	bool ipv6;
	int rc = dlsi_endpoint_dial(options->master, resolved, &ipv6, err);

	if (rc)
		return rc;
	if (!options->insecure && !dlsi_endpoint_is_local(options->master))
		return dlsi_fail(err, DLS_EDENIED,
			"the master %s is not on loopback, and nothing is encrypted; allow it with insecure "
			"(--insecure)",
			options->master);
	return 0;
}

/* Where this handle is to serve. */
static int choose_bind(
	const struct dlsi_plane_options *options, char out[DLSI_ENDPOINT_BYTES + 1], struct dls_error *err)
{
	struct dlsi_endpoint endpoint;
	const char *bind = options->data_bind;
	int rc = check_master(options, err);

	if (rc == 0)
		rc = dlsi_endpoint_parse(options->master, &endpoint, err);
	if (rc == 0 && bind && !hides(options))
		rc = check_bind(options, err);
	if (rc)
		return rc;
	if (!bind && endpoint.scheme == DLSI_SCHEME_INPROC)
		bind = WITHIN_PROCESS;
	if (!bind && dlsi_endpoint_is_local(options->master))
		bind = LOOPBACK;
	if (!bind)
		return find_interface(options->master, out, DLSI_ENDPOINT_BYTES + 1, err);
	memcpy(out, bind, strlen(bind) + 1);
	return 0;
}

int dlsi_plane_check(const struct dlsi_plane_options *options, struct dls_error *err)
{
	char bind[DLSI_ENDPOINT_BYTES + 1];

	return choose_bind(options, bind, err);
}

static struct plane *find(struct dls_ctx *ctx, const char *bind)
{
	dlsi_list_each (node, &ctx->planes) {
		struct plane *plane = dlsi_list_entry(node, struct plane, node);

		if (strcmp(plane->bind, bind) == 0)
			return plane;
	}
	return NULL;
}

static int add(struct dls_ctx *ctx, const char *bind, struct plane **plane_out, struct dls_error *err)
{
	struct dlsi_dataplane_config config = {.context = ctx->zmq};
	struct plane *plane = dlsi_calloc(&ctx->alloc, 1, sizeof *plane);
	int rc;

	if (!plane)
		return dlsi_fail_memory(err);
	memcpy(plane->bind, bind, strlen(bind) + 1);
	config.endpoint = strcmp(bind, DLSI_PLANE_NONE) == 0 ? NULL : plane->bind;
	rc = dlsi_dataplane_create(&ctx->alloc, &config, &plane->data, err);
	if (rc) {
		dlsi_free(&ctx->alloc, plane);
		return rc;
	}
	dlsi_list_append(&ctx->planes, &plane->node);
	*plane_out = plane;
	return 0;
}

int dlsi_plane_ref(struct dls_ctx *ctx, const struct dlsi_plane_options *options, struct dlsi_dataplane **plane_out,
	struct dls_error *err)
{
	char bind[DLSI_ENDPOINT_BYTES + 1];
	struct plane *plane;
	int rc = choose_bind(options, bind, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&ctx->planes_mutex);
	plane = find(ctx, bind);
	if (!plane)
		rc = add(ctx, bind, &plane, err);
	if (rc == 0) {
		plane->users++;
		*plane_out = plane->data;
	}
	pthread_mutex_unlock(&ctx->planes_mutex);
	return rc;
}

void dlsi_plane_unref(struct dls_ctx *ctx, struct dlsi_dataplane *data)
{
	pthread_mutex_lock(&ctx->planes_mutex);
	dlsi_list_each (node, &ctx->planes) {
		struct plane *plane = dlsi_list_entry(node, struct plane, node);

		if (plane->data == data && --plane->users == 0) {
			dlsi_list_remove(&plane->node);
			dlsi_dataplane_destroy(plane->data);
			dlsi_free(&ctx->alloc, plane);
		}
	}
	pthread_mutex_unlock(&ctx->planes_mutex);
}
