/* Addresses: how they are read, which are local, and what is said of those that cannot be used. */
#include "net/endpoint.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void test_parts(void **state)
{
	struct dlsi_endpoint endpoint;

	(void)state;
	assert_int_equal(dlsi_endpoint_parse("tcp://node7.example:5555", &endpoint, NULL), 0);
	assert_int_equal(endpoint.scheme, DLSI_SCHEME_TCP);
	assert_string_equal(endpoint.host, "node7.example");
	assert_string_equal(endpoint.port, "5555");
	assert_false(endpoint.ipv6);
	assert_int_equal(dlsi_endpoint_parse("tcp://[fe80::1]:*", &endpoint, NULL), 0);
	assert_string_equal(endpoint.host, "fe80::1");
	assert_string_equal(endpoint.port, "*");
	assert_true(endpoint.ipv6);
	assert_int_equal(dlsi_endpoint_parse("ipc:///run/dls/master", &endpoint, NULL), 0);
	assert_int_equal(endpoint.scheme, DLSI_SCHEME_IPC);
	assert_string_equal(endpoint.host, "/run/dls/master");
	assert_int_equal(dlsi_endpoint_parse("inproc://master", &endpoint, NULL), 0);
	assert_int_equal(endpoint.scheme, DLSI_SCHEME_INPROC);
	assert_string_equal(endpoint.host, "master");
}

static void test_what_is_no_address(void **state)
{
	static const char *const bad[] = {"", "node7", "node7:5555", "http://node7:5555", "tcp://", "tcp://node7",
		"tcp://:5555", "tcp://node7:", "tcp://node7:55x", "tcp://node7:-1", "tcp://::1:5555", "tcp://[]:5555",
		"ipc://", "inproc://", "TCP://node7:5555"};
	char text[DLSI_ENDPOINT_BYTES + 10] = "ipc:///";
	struct dlsi_endpoint endpoint = {0};
	struct dls_error err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err.text[0] = '\0';
		assert_int_equal(dlsi_endpoint_parse(bad[i], &endpoint, &err), DLS_EADDRESS);
		assert_non_null(strstr(err.text, bad[i]));
		assert_non_null(strstr(err.text, "tcp://HOST:PORT"));
		assert_false(dlsi_endpoint_is_local(bad[i]));
	}
	memset(text + 7, 'x', sizeof text - 8);
	assert_int_equal(dlsi_endpoint_parse(text, &endpoint, &err), DLS_EADDRESS);
	assert_int_equal(endpoint.scheme, 0);
}

static void test_ports_that_are_out_of_range(void **state)
{
	static const char *const bad[] = {"tcp://node7:65536", "tcp://[::1]:80000", "tcp://node7:00000000000000000000"};
	struct dlsi_endpoint endpoint;
	struct dls_error err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(dlsi_endpoint_parse(bad[i], &endpoint, &err), DLS_EADDRESS);
		assert_non_null(strstr(err.text, bad[i]));
		assert_non_null(strstr(err.text, "out of range: 65535 is the highest"));
	}
	assert_int_equal(dlsi_endpoint_parse("tcp://node7:65535", &endpoint, NULL), 0);
}

static void test_local(void **state)
{
	(void)state;
	assert_true(dlsi_endpoint_is_local("tcp://127.0.0.1:5555"));
	assert_true(dlsi_endpoint_is_local("tcp://127.9.9.9:*"));
	assert_true(dlsi_endpoint_is_local("tcp://localhost:0"));
	assert_true(dlsi_endpoint_is_local("tcp://[::1]:5555"));
	assert_true(dlsi_endpoint_is_local("ipc:///tmp/x"));
	assert_true(dlsi_endpoint_is_local("inproc://x"));
	assert_false(dlsi_endpoint_is_local("tcp://*:5555"));
	assert_false(dlsi_endpoint_is_local("tcp://0.0.0.0:5555"));
	assert_false(dlsi_endpoint_is_local("tcp://[::]:5555"));
	assert_false(dlsi_endpoint_is_local("tcp://192.0.2.1:5555"));
	assert_false(dlsi_endpoint_is_local("tcp://no-such-host.invalid:5555"));
}

static void test_listeners_get_numbers(void **state)
{
	char out[DLSI_ENDPOINT_BYTES + 1];
	struct dls_error err;
	bool ipv6;

	(void)state;
	assert_int_equal(dlsi_endpoint_listen("tcp://localhost:0", out, &ipv6, NULL), 0);
	assert_string_equal(out, "tcp://127.0.0.1:0");
	assert_false(ipv6);
	assert_int_equal(dlsi_endpoint_listen("tcp://*:0", out, &ipv6, NULL), 0);
	assert_string_equal(out, "tcp://*:0");
	assert_int_equal(dlsi_endpoint_listen("tcp://[0:0::1]:77", out, &ipv6, NULL), 0);
	assert_string_equal(out, "tcp://[::1]:77");
	assert_true(ipv6);
	assert_int_equal(dlsi_endpoint_listen("tcp://no-such-host.invalid:1", out, &ipv6, &err), DLS_EADDRESS);
	assert_non_null(strstr(err.text, "the host name \"no-such-host.invalid\""));
}

static void test_numbers_need_no_name_server(void **state)
{
	struct dls_error err;

	(void)state;
	assert_int_equal(dlsi_endpoint_check_numeric("tcp://192.0.2.1:77", NULL), 0);
	assert_int_equal(dlsi_endpoint_check_numeric("tcp://[2001:db8::1]:77", NULL), 0);
	assert_int_equal(dlsi_endpoint_check_numeric("inproc://x", NULL), 0);
	assert_int_equal(dlsi_endpoint_check_numeric("tcp://localhost:77", &err), DLS_EADDRESS);
	assert_non_null(strstr(err.text, "localhost"));
	assert_int_equal(dlsi_endpoint_check_numeric("tcp://*:77", NULL), DLS_EADDRESS);
	assert_int_equal(dlsi_endpoint_check_numeric("nonsense", NULL), DLS_EADDRESS);
}

static void test_dialers_keep_names(void **state)
{
	char out[DLSI_ENDPOINT_BYTES + 1] = "untouched";
	bool ipv6;

	(void)state;
	assert_int_equal(dlsi_endpoint_dial("tcp://no-such-host.invalid:1", out, &ipv6, NULL), DLS_EADDRESS);
	assert_int_equal(dlsi_endpoint_dial("tcp://*:1", out, &ipv6, NULL), DLS_EADDRESS);
	assert_int_equal(dlsi_endpoint_dial("tcp://localhost:0", out, &ipv6, NULL), DLS_EADDRESS);
	assert_int_equal(dlsi_endpoint_dial("tcp://localhost:*", out, &ipv6, NULL), DLS_EADDRESS);
	assert_int_equal(dlsi_endpoint_dial("ipc://*", out, &ipv6, NULL), DLS_EADDRESS);
	assert_string_equal(out, "untouched");
	assert_int_equal(dlsi_endpoint_dial("tcp://localhost:1", out, &ipv6, NULL), 0);
	assert_string_equal(out, "tcp://localhost:1");
}

static void test_ipc_paths_in_use(void **state)
{
	char folder[] = "/tmp/dlsched-test-XXXXXX", text[DLSI_ENDPOINT_BYTES + 1], out[DLSI_ENDPOINT_BYTES + 1];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct dls_error err;
	bool ipv6;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
	snprintf(text, sizeof text, "ipc://%s", address.sun_path);
	assert_int_equal(dlsi_endpoint_listen(text, out, &ipv6, NULL), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(dlsi_endpoint_listen(text, out, &ipv6, &err), DLS_EADDRESS);
	assert_non_null(strstr(err.text, "another process"));
	close(fd); /* the file stays, but nobody answers */
	assert_int_equal(dlsi_endpoint_listen(text, out, &ipv6, NULL), 0);
	unlink(address.sun_path);
	file = fopen(address.sun_path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(dlsi_endpoint_listen(text, out, &ipv6, &err), DLS_EADDRESS);
	assert_non_null(strstr(err.text, "a file of that name"));
	unlink(address.sun_path);
	rmdir(folder);
	snprintf(text, sizeof text, "ipc:///%0200d", 0);
	assert_int_equal(dlsi_endpoint_listen(text, out, &ipv6, &err), DLS_EADDRESS);
	assert_non_null(strstr(err.text, "longer than"));
}

static void test_host_text_stays_the_same(void **state)
{
	char first[DLSI_HOST_TEXT_BYTES], second[DLSI_HOST_TEXT_BYTES];

	(void)state;
	dlsi_host_text(first);
	dlsi_host_text(second);
	assert_int_equal(strlen(first), DLSI_HOST_TEXT_BYTES - 1);
	assert_string_equal(first, second);
}

UNIT_MAIN(test_parts, test_what_is_no_address, test_ports_that_are_out_of_range, test_local, test_listeners_get_numbers,
	test_numbers_need_no_name_server, test_dialers_keep_names, test_ipc_paths_in_use, test_host_text_stays_the_same)
