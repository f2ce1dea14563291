/* JSON: what is refused, what reading an object gives, and the sentences that people see. */
#include "base/json.h"
#include "base/limits.h"
#include "test/unit/unit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dls_error err;

static cJSON *parsed(const char *text)
{
	cJSON *json = NULL;

	if (dlsi_json_parse("x.json", text, strlen(text), strlen(text), &json, &err))
		fail_msg("%s", err.text);
	return json;
}

static void assert_refused(const char *text, size_t length, int code, const char *sentence)
{
	cJSON untouched, *json = &untouched;

	assert_int_equal(dlsi_json_parse("x.json", text, length, 1000, &json, &err), code);
	assert_ptr_equal(json, &untouched);
	assert_int_equal(err.code, code);
	assert_string_equal(err.text, sentence);
}

static void refused(const char *text, const char *sentence)
{
	assert_refused(text, strlen(text), DLS_EFORMAT, sentence);
}

static void test_texts_that_are_refused(void **state)
{
	(void)state;
	refused("", "x.json: not JSON at line 1, column 1");
	refused("{\"a\": 1,\n \"b\" 2}", "x.json: not JSON at line 2, column 6");
	refused("[1, 2", "x.json: not JSON at line 1, column 5");
	refused("{} {}", "x.json: more after the end at line 1, column 4");
	refused("{\"a\": 1, \"b\": 2, \"a\": 3}", "x.json: the key \"a\" is there twice");
	refused("[{\"b\": {\"aa\": 1, \"aa\": 1}}]", "x.json: the key \"aa\" is there twice");
	refused("{\"a\": 1, \"\\u0061\": 3}", "x.json: the key \"a\" is there twice");
	refused("[\"a\\u0000b\"]", "x.json: an embedded NUL at line 1, column 4");
	refused("[\"a\nb\"]", "x.json: a control character at line 1, column 4");
	refused("[\x01]", "x.json: a control character at line 1, column 2");
	refused("[\"\xff\"]", "x.json: bytes that are not UTF-8 at line 1, column 3");
	refused("[1e999]", "x.json: a number is too large");
	assert_refused("[1]\0", 4, DLS_EFORMAT, "x.json: a control character at line 1, column 4");
	assert_refused("\"\xc3\xa9", 2, DLS_EFORMAT, "x.json: bytes that are not UTF-8 at line 1, column 2");
}

static void test_texts_that_pass(void **state)
{
	const char *const texts[] = {"{}", " [ ] ", "null", "1", "-1.5e3", "\"\\\\u0000\"", "\"\\\"\"", "\"{[\"",
		"{\"a\": {\"a\": 1}}", "{\"a\": 1, \"A\": 2}", "\"\xf0\x9f\x98\x80\"", "\"\\ud83d\\ude00\"",
		"\t{\r\n}\n"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cJSON_Delete(parsed(texts[i]));
}

static void test_limits(void **state)
{
	char text[3 * DLSI_JSON_DEPTH];
	const char *hidden = "[\"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\", ";
	cJSON *json;

	(void)state;
	memcpy(text, hidden, strlen(hidden)); /* brackets in a string close nothing */
	memset(text + strlen(hidden), '[', DLSI_JSON_DEPTH);
	assert_refused(text, strlen(hidden) + DLSI_JSON_DEPTH, DLS_ELIMIT,
		"x.json: nesting over the limit at line 1, column 143");
	for (int depth = DLSI_JSON_DEPTH; depth <= DLSI_JSON_DEPTH + 1; depth++) {
		bool fits = depth == DLSI_JSON_DEPTH;

		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		assert_int_equal(
			dlsi_json_parse("x", text, 2 * (size_t)depth, 1000, &json, &err), fits ? 0 : DLS_ELIMIT);
		if (fits)
			cJSON_Delete(json);
	}
	assert_string_equal(err.text, "x: nesting over the limit at line 1, column 65");
	assert_refused(NULL, 1001, DLS_ELIMIT, "x.json has 1001 bytes, more than the limit of 1000");
}

/* Never reads beyond the length, never leaks, and never crashes; the address sanitizer watches. */
static void test_damaged_texts(void **state)
{
	const char whole[] = "{\"name\": \"caf\\u00e9 \xc3\xa9\", \"list\": [1, -2.5e3, true, null, {\"deep\": [[]]}]}";

	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		size_t length = dlsi_rng_below(&rng, sizeof whole);
		char *text = malloc(length + !length);
		cJSON *json = NULL;

		memcpy(text, whole, length);
		for (uint64_t i = dlsi_rng_below(&rng, 3); i && length; i--)
			text[dlsi_rng_below(&rng, length)] = (char)dlsi_rng_below(&rng, 256);
		if (dlsi_json_parse("x", text, length, length, &json, &err) == 0)
			cJSON_Delete(json);
		free(text);
	}
}

static void test_reading(void **state)
{
	static const char *const known[] = {"t", "b", "n", "i", "big", "o", "a", "c", NULL};
	static const char *const words[] = {"red", "green", NULL};
	cJSON *json = parsed("{\"t\": \"text\", \"b\": true, \"n\": 1.5, \"i\": -3, \"big\": \"9223372036854775807\","
			     " \"o\": {}, \"a\": [], \"c\": \"green\"}");
	struct dlsi_json_reader reader = dlsi_json_read(json, "x", known, &err);

	(void)state;
	assert_string_equal(dlsi_json_text(&reader, "t", NULL), "text");
	assert_string_equal(dlsi_json_text(&reader, "T", "other"), "other");
	assert_true(dlsi_json_bool(&reader, "b", false));
	assert_true(dlsi_json_bool(&reader, "absent", true));
	assert_true(dlsi_json_number(&reader, "n", 0) == 1.5);
	assert_true(dlsi_json_number(&reader, "absent", 2.5) == 2.5);
	assert_int_equal(dlsi_json_integer(&reader, "i", 0, -3, 3), -3);
	assert_int_equal(dlsi_json_integer(&reader, "big", 0, 0, INT64_MAX), INT64_MAX);
	assert_int_equal(dlsi_json_integer(&reader, "absent", 77, 0, 1), 77);
	assert_int_equal(dlsi_json_choice(&reader, "c", words, 0), 1);
	assert_int_equal(dlsi_json_choice(&reader, "c", words + 1, 5), 0);
	assert_int_equal(dlsi_json_choice(&reader, "absent", words, 5), 5);
	assert_non_null(dlsi_json_object(&reader, "o"));
	assert_non_null(dlsi_json_array(&reader, "a"));
	assert_null(dlsi_json_object(&reader, "absent"));
	assert_null(dlsi_json_array(&reader, "absent"));
	dlsi_json_require(&reader, "t");
	assert_int_equal(reader.rc, 0);
	dlsi_json_require(&reader, "absent");
	assert_int_equal(reader.rc, DLS_EINVAL);
	assert_string_equal(err.text, "x: the key \"absent\" is missing");
	cJSON_Delete(json);
}

static void test_wrong_kinds(void **state)
{
	static const char *const known[] = {"k", NULL};
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"{\"k\": null}", "x: \"k\" must be a text, not null"},
		{"{\"k\": \"1\"}", "x: \"k\" must be true or false, not a text"},
		{"{\"k\": true}", "x: \"k\" must be a number, not true or false"},
		{"{\"k\": []}", "x: \"k\" must be an object, not an array"},
		{"{\"k\": {}}", "x: \"k\" must be an array, not an object"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cJSON *json = parsed(cases[i].text);
		struct dlsi_json_reader reader = dlsi_json_read(json, "x", known, &err);

		switch (i) {
		case 0:
			assert_string_equal(dlsi_json_text(&reader, "k", "other"), "other");
			break;
		case 1:
			assert_true(dlsi_json_bool(&reader, "k", true));
			break;
		case 2:
			assert_true(dlsi_json_number(&reader, "k", 3) == 3);
			break;
		case 3:
			assert_null(dlsi_json_object(&reader, "k"));
			break;
		default:
			assert_null(dlsi_json_array(&reader, "k"));
		}
		assert_int_equal(reader.rc, DLS_EINVAL);
		assert_string_equal(err.text, cases[i].sentence);
		cJSON_Delete(json);
	}
}

static void test_first_error_is_kept(void **state)
{
	static const char *const known[] = {"a", "b", NULL};
	cJSON *json = parsed("{\"a\": 1, \"b\": 2}");
	struct dlsi_json_reader reader = dlsi_json_read(json, "x", known, &err);

	(void)state;
	dlsi_json_text(&reader, "a", NULL);
	dlsi_json_bool(&reader, "b", false);
	dlsi_json_require(&reader, "c");
	assert_true(dlsi_json_number(&reader, "b", 7) == 7); /* nothing is read any more */
	assert_string_equal(err.text, "x: \"a\" must be a text, not a number");
	cJSON_Delete(json);
}

static void test_integers_out_of_range(void **state)
{
	static const char *const known[] = {"k", NULL};
	const char *const wrong[] = {"-1", "10", "1.5", "1e300", "9007199254740994", "\"10\"", "\"-1\"", "\"\"",
		"\" 1\"", "\"+1\"", "\"01\"", "\"1x\"", "\"-0\"", "\"9223372036854775808\"", "true", "null", "[1]"};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char text[64];
		cJSON *json;
		struct dlsi_json_reader reader;

		snprintf(text, sizeof text, "{\"k\": %s}", wrong[i]);
		json = parsed(text);
		reader = dlsi_json_read(json, "x", known, &err);
		assert_int_equal(dlsi_json_integer(&reader, "k", 5, 0, 9), 5);
		assert_int_equal(reader.rc, DLS_EINVAL);
		assert_string_equal(err.text, "x: \"k\" must be a whole number from 0 to 9 (above 2^53: as a text)");
		cJSON_Delete(json);
	}
}

static void test_names_nobody_knows(void **state)
{
	static const char *const known[] = {"inputs", "outputs", "max_batch", NULL}, *const none[] = {NULL};
	static const char *const words[] = {"roundrobin", "priority", NULL};
	cJSON *json = parsed("{\"inptus\": \"roundrobn\"}"), *array = parsed("[]");
	struct dlsi_json_reader reader = dlsi_json_read(json, "x", known, &err);

	(void)state;
	assert_int_equal(reader.rc, DLS_EINVAL);
	assert_string_equal(err.text, "x: unknown key \"inptus\"; did you mean \"inputs\"?");
	reader = dlsi_json_read(json, "x", none, &err);
	assert_string_equal(err.text, "x: unknown key \"inptus\"; no key is known here");
	reader = dlsi_json_read(array, "x", known, &err);
	assert_string_equal(err.text, "x must be an object");
	reader = (struct dlsi_json_reader){.object = json, .what = "x", .err = &err};
	assert_int_equal(dlsi_json_choice(&reader, "inptus", words, 9), 9);
	assert_string_equal(err.text, "x: \"inptus\" cannot be \"roundrobn\"; did you mean \"roundrobin\"?");
	cJSON_Delete(json);
	cJSON_Delete(array);
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"kitten", "sitting", "mitten", "", NULL}, *const none[] = {NULL};
	char longer[1000];

	(void)state;
	assert_string_equal(dlsi_json_nearest("kittn", words), "kitten");
	assert_string_equal(dlsi_json_nearest("siting", words), "sitting");
	assert_string_equal(dlsi_json_nearest("xitten", words), "kitten"); /* the first of the equally near */
	assert_string_equal(dlsi_json_nearest("q", words), "");
	assert_null(dlsi_json_nearest("q", none));
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_non_null(dlsi_json_nearest(longer, words));
}

static void test_printed(void **state)
{
	cJSON *json = parsed(" { \"a\" : [ 1 , \"\\u00e9\" ] } ");
	char *text = dlsi_json_print(unit_alloc(), json);

	(void)state;
	assert_string_equal(text, "{\"a\":[1,\"\xc3\xa9\"]}");
	dlsi_free(unit_alloc(), text);
	assert_null(dlsi_json_print(unit_alloc_failing_at(1), json));
	cJSON_Delete(json);
}

static unsigned allocations_left;

static void *failing_malloc(size_t size)
{
	if (allocations_left && --allocations_left)
		return malloc(size);
	errno = ENOMEM;
	return NULL;
}

static void test_memory_runs_out(void **state)
{
	const char text[] = "{\"a\": [1, \"x\", {\"b\": null}]}";
	cJSON_Hooks hooks = {failing_malloc, free};
	cJSON *json = NULL;
	unsigned n = 0;
	int rc = DLS_ENOMEM;

	(void)state;
	cJSON_InitHooks(&hooks);
	while (rc && ++n < 100) {
		allocations_left = n;
		rc = dlsi_json_parse("x", text, sizeof text - 1, 100, &json, &err);
		if (rc != DLS_ENOMEM)
			break;
		assert_null(json);
	}
	cJSON_InitHooks(NULL);
	assert_int_equal(rc, 0);
	assert_in_range(n, 8, 20);
	cJSON_Delete(json);
}

UNIT_MAIN(test_texts_that_are_refused, test_texts_that_pass, test_limits, test_damaged_texts, test_reading,
	test_wrong_kinds, test_first_error_is_kept, test_integers_out_of_range, test_names_nobody_knows, test_nearest,
	test_printed, test_memory_runs_out)
