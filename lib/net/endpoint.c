#include "net/endpoint.h"

#include "base/hash.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define FORMS "tcp://HOST:PORT, ipc://PATH or inproc://NAME"

/* `text` is what stands behind the last colon of `address`. */
static int check_port(const char *address, const char *text, struct dls_error *err)
{
	size_t length = strlen(text);

	if (strcmp(text, "*") == 0)
		return 0;
	if (!length || strspn(text, "0123456789") != length)
		return dlsi_fail(
			err, DLS_EADDRESS, "the address \"%s\" has no port; it must be tcp://HOST:PORT", address);
	if (length > 5 || strtoimax(text, NULL, 10) > UINT16_MAX)
		return dlsi_fail(err, DLS_EADDRESS, "the port of \"%s\" is out of range: %d is the highest", address,
			UINT16_MAX);
	return 0;
}

/* Splits HOST:PORT, where an IPv6 host is in brackets. */
static int parse_tcp(const char *text, const char *rest, struct dlsi_endpoint *endpoint, struct dls_error *err)
{
	const char *colon = strrchr(rest, ':');
	size_t length = colon ? (size_t)(colon - rest) : 0;
	int rc = check_port(text, colon ? colon + 1 : "", err);

	if (rc)
		return rc;
	endpoint->ipv6 = length > 2 && rest[0] == '[' && rest[length - 1] == ']';
	if (endpoint->ipv6) {
		rest++;
		length -= 2;
	}
	if (length == 0 || (!endpoint->ipv6 && (*rest == '[' || memchr(rest, ':', length))))
		return dlsi_fail(err, DLS_EADDRESS,
			"the address \"%s\" has no host; it must be tcp://HOST:PORT, with an IPv6 address in brackets",
			text);
	memcpy(endpoint->host, rest, length);
	snprintf(endpoint->port, sizeof endpoint->port, "%s", colon + 1);
	return 0;
}

int dlsi_endpoint_parse(const char *text, struct dlsi_endpoint *endpoint_out, struct dls_error *err)
{
	static const struct {
		const char *prefix;
		enum dlsi_scheme scheme;
	} schemes[] = {{"tcp://", DLSI_SCHEME_TCP}, {"ipc://", DLSI_SCHEME_IPC}, {"inproc://", DLSI_SCHEME_INPROC}};
	struct dlsi_endpoint endpoint = {0};
	const char *rest = NULL;
	int rc = 0;

	for (size_t i = 0; i < sizeof schemes / sizeof *schemes && !rest; i++) {
		size_t length = strlen(schemes[i].prefix);

		if (strncmp(text, schemes[i].prefix, length) == 0) {
			endpoint.scheme = schemes[i].scheme;
			rest = text + length;
		}
	}
	if (!rest || !*rest)
		return dlsi_fail(err, DLS_EADDRESS, "\"%s\" is not an address; it must be " FORMS, text);
	if (strlen(text) > DLSI_ENDPOINT_BYTES)
		return dlsi_fail(err, DLS_EADDRESS, "an address of %zu characters; %d are the limit", strlen(text),
			DLSI_ENDPOINT_BYTES);
	if (endpoint.scheme == DLSI_SCHEME_TCP)
		rc = parse_tcp(text, rest, &endpoint, err);
	else
		memcpy(endpoint.host, rest, strlen(rest));
	if (rc == 0)
		*endpoint_out = endpoint;
	return rc;
}

static bool is_wildcard(const struct dlsi_endpoint *endpoint)
{
	return strcmp(endpoint->host, "*") == 0;
}

/* The addresses of a tcp endpoint's host, to be freed by freeaddrinfo. */
static int resolve(
	const char *text, const struct dlsi_endpoint *endpoint, struct addrinfo **addresses_out, struct dls_error *err)
{
	struct addrinfo hints = {.ai_family = endpoint->ipv6 ? AF_INET6 : AF_INET, .ai_socktype = SOCK_STREAM};
	int rc = getaddrinfo(endpoint->host, NULL, &hints, addresses_out);

	if (rc == 0)
		return 0;
	if (rc == EAI_SYSTEM)
		return dlsi_fail_errno(err, DLS_EADDRESS, errno, "the host name \"%s\" in %s cannot be resolved",
			endpoint->host, text);
	return dlsi_fail(err, DLS_EADDRESS, "the host name \"%s\" in %s cannot be resolved: %s", endpoint->host, text,
		gai_strerror(rc));
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)(const void *)address;

		return ntohl(ipv4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

bool dlsi_endpoint_is_local(const char *text)
{
	struct dlsi_endpoint endpoint;
	struct addrinfo *addresses;
	bool local = true;

	if (dlsi_endpoint_parse(text, &endpoint, NULL))
		return false;
	if (endpoint.scheme != DLSI_SCHEME_TCP)
		return true;
	if (is_wildcard(&endpoint) || resolve(text, &endpoint, &addresses, NULL))
		return false;
	for (const struct addrinfo *at = addresses; at; at = at->ai_next)
		local &= is_loopback(at->ai_addr);
	freeaddrinfo(addresses);
	return local;
}

int dlsi_endpoint_check_numeric(const char *text, struct dls_error *err)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *addresses;
	struct dlsi_endpoint endpoint;
	int rc = dlsi_endpoint_parse(text, &endpoint, err);

	if (rc || endpoint.scheme != DLSI_SCHEME_TCP)
		return rc;
	if (getaddrinfo(endpoint.host, NULL, &hints, &addresses))
		return dlsi_fail(err, DLS_EADDRESS, "the host \"%s\" in %s is no numeric address", endpoint.host, text);
	freeaddrinfo(addresses);
	return 0;
}

/* libzmq removes whatever is at the path before it binds. */
static int check_ipc_is_free(const char *path, struct dls_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	int fd, rc;

	if (strlen(path) >= sizeof address.sun_path)
		return dlsi_fail(err, DLS_EADDRESS,
			"the path of ipc://%s is longer than the %zu characters that a socket can have", path,
			sizeof address.sun_path - 1);
	if (strcmp(path, "*") == 0 || path[0] == '@' || lstat(path, &status))
		return 0;
	if (!S_ISSOCK(status.st_mode))
		return dlsi_fail(err, DLS_EADDRESS, "cannot listen at ipc://%s: there is a file of that name", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return dlsi_fail_errno(err, DLS_EADDRESS, errno, "cannot examine ipc://%s", path);
	memcpy(address.sun_path, path, strlen(path));
	rc = connect(fd, (const struct sockaddr *)(const void *)&address, sizeof address);
	close(fd);
	if (rc == 0)
		return dlsi_fail(err, DLS_EADDRESS, "cannot listen at ipc://%s: another process does", path);
	return 0;
}

void dlsi_endpoint_leave(const char *address)
{
	struct dlsi_endpoint endpoint;

	if (dlsi_endpoint_parse(address, &endpoint, NULL) == 0 && endpoint.scheme == DLSI_SCHEME_IPC &&
		endpoint.host[0] != '@')
		unlink(endpoint.host);
}

/* Writes tcp://HOST:PORT with the first of the addresses, as a number. */
static void write_numeric(const struct dlsi_endpoint *endpoint, const struct sockaddr *address, char *out)
{
	char host[INET6_ADDRSTRLEN];

	if (endpoint->ipv6)
		inet_ntop(
			AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, host, sizeof host);
	else
		inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, host, sizeof host);
	snprintf(out, DLSI_ENDPOINT_BYTES + 1, endpoint->ipv6 ? "tcp://[%s]:%s" : "tcp://%s:%s", host, endpoint->port);
}

int dlsi_endpoint_listen(const char *text, char out[DLSI_ENDPOINT_BYTES + 1], bool *ipv6_out, struct dls_error *err)
{
	struct dlsi_endpoint endpoint;
	struct addrinfo *addresses;
	int rc = dlsi_endpoint_parse(text, &endpoint, err);

	if (rc == 0 && endpoint.scheme == DLSI_SCHEME_IPC)
		rc = check_ipc_is_free(endpoint.host, err);
	if (rc)
		return rc;
	if (endpoint.scheme != DLSI_SCHEME_TCP || is_wildcard(&endpoint)) {
		snprintf(out, DLSI_ENDPOINT_BYTES + 1, "%s", text);
	} else {
		rc = resolve(text, &endpoint, &addresses, err);
		if (rc)
			return rc;
		write_numeric(&endpoint, addresses->ai_addr, out);
		freeaddrinfo(addresses);
	}
	*ipv6_out = endpoint.ipv6;
	return 0;
}

int dlsi_endpoint_dial(const char *text, char out[DLSI_ENDPOINT_BYTES + 1], bool *ipv6_out, struct dls_error *err)
{
	struct dlsi_endpoint endpoint;
	struct addrinfo *addresses;
	int rc = dlsi_endpoint_parse(text, &endpoint, err);

	if (rc)
		return rc;
	if (is_wildcard(&endpoint) || strcmp(endpoint.port, "*") == 0 || strcmp(endpoint.port, "0") == 0)
		return dlsi_fail(err, DLS_EADDRESS,
			"%s can be listened at but not connected to; name the host and the port", text);
	if (endpoint.scheme == DLSI_SCHEME_TCP) {
		rc = resolve(text, &endpoint, &addresses, err);
		if (rc)
			return rc;
		freeaddrinfo(addresses);
	}
	snprintf(out, DLSI_ENDPOINT_BYTES + 1, "%s", text);
	*ipv6_out = endpoint.ipv6;
	return 0;
}

void dlsi_host_text(char out[DLSI_HOST_TEXT_BYTES])
{
	char text[512] = "", name[256] = "";
	struct stat network = {0};
	struct dlsi_hash hash;
	ssize_t length = -1;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		length = read(fd, text, 64);
		close(fd);
	}
	if (length < 0)
		length = 0;
	gethostname(name, sizeof name - 1);
	stat("/proc/self/ns/net", &network);
	snprintf(text + length, sizeof text - (size_t)length, "/%s/%llu", name, (unsigned long long)network.st_ino);
	hash = dlsi_hash_of(text, strlen(text));
	dlsi_hex(hash.bytes, (DLSI_HOST_TEXT_BYTES - 1) / 2, out);
}
