#include "cli/show.h"

#include "cli/failure.h"
#include "cli/text.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 32, CELL_BYTES = 256, INDENT = 2, GAP = 2 };

/* A value on one line. */
static void spell(const cJSON *value, char cell[CELL_BYTES])
{
	if (!value)
		snprintf(cell, CELL_BYTES, "-");
	else if (cJSON_IsString(value))
		snprintf(cell, CELL_BYTES, "%s", value->valuestring);
	else if (cJSON_IsNumber(value))
		snprintf(cell, CELL_BYTES, "%.15g", value->valuedouble);
	else if (!cJSON_PrintPreallocated((cJSON *)value, cell, CELL_BYTES, 0))
		snprintf(cell, CELL_BYTES, "...");
}

static bool is_list_of_objects(const cJSON *value)
{
	return cJSON_IsArray(value) && value->child && cJSON_IsObject(value->child);
}

struct column {
	const char *name;
	int width;
	bool numbers; /* and nothing else: they stand at the right, with as many decimals each */
	int decimals;
};

static int count_decimals(const char *cell)
{
	const char *point = strchr(cell, '.');

	return point && !strchr(cell, 'e') ? (int)strlen(point + 1) : 0;
}

/* As in its column. */
static void spell_in(const struct column *column, const cJSON *value, char cell[CELL_BYTES])
{
	if (column->numbers && column->decimals && cJSON_IsNumber(value))
		snprintf(cell, CELL_BYTES, "%.*f", column->decimals, value->valuedouble);
	else
		spell(value, cell);
}

/* The members of all rows that are no tables themselves, in the order in which they first appear. */
static int measure(const cJSON *rows, struct column columns[COLUMNS])
{
	char cell[CELL_BYTES];
	const cJSON *row, *member;
	int count = 0;

	cJSON_ArrayForEach (row, rows)
		cJSON_ArrayForEach (member, row) {
			int i = 0, width;

			if (is_list_of_objects(member))
				continue;
			spell(member, cell);
			width = cli_text_columns(cell);
			while (i < count && strcmp(columns[i].name, member->string) != 0)
				i++;
			if (i == COLUMNS)
				continue;
			if (i == count)
				columns[count++] = (struct column){
					member->string, cli_text_columns(member->string), .numbers = true};
			columns[i].numbers &= cJSON_IsNumber(member);
			if (columns[i].decimals < count_decimals(cell))
				columns[i].decimals = count_decimals(cell);
			if (width > columns[i].width)
				columns[i].width = width;
		}
	return count;
}

/* Decimals that a number gets to be like the others may make it wider. */
static void widen(const cJSON *rows, struct column *columns, int count)
{
	char cell[CELL_BYTES];
	const cJSON *row;

	cJSON_ArrayForEach (row, rows)
		for (int i = 0; i < count; i++) {
			spell_in(&columns[i], cJSON_GetObjectItemCaseSensitive(row, columns[i].name), cell);
			if (cli_text_columns(cell) > columns[i].width)
				columns[i].width = cli_text_columns(cell);
		}
}

static void print_cell(const char *cell, const struct column *column, bool last)
{
	int behind = last ? 0 : column->width + GAP;

	if (column->numbers) {
		printf("%*s", column->width - cli_text_columns(cell), "");
		behind = last ? 0 : cli_text_columns(cell) + GAP;
	}
	cli_text_print(cell, behind);
	if (last)
		putchar('\n');
}

static void print_table(const cJSON *rows, int indent);

/* The lists of objects inside the rows, each as a table of its own under the first member of its row. */
static void print_inner_tables(const cJSON *rows, int indent)
{
	char cell[CELL_BYTES];
	const cJSON *row, *member;

	cJSON_ArrayForEach (row, rows)
		cJSON_ArrayForEach (member, row) {
			if (!is_list_of_objects(member))
				continue;
			spell(row->child, cell);
			printf("%*s%s of ", indent, "", member->string);
			cli_text_print(cell, 0);
			printf(":\n");
			print_table(member, indent + INDENT); /* cJSON has bounded the depth */
		}
}

static void print_table(const cJSON *rows, int indent)
{
	struct column columns[COLUMNS];
	int count = measure(rows, columns);
	char cell[CELL_BYTES];
	const cJSON *row;

	widen(rows, columns, count);
	printf("%*s", indent, "");
	for (int i = 0; i < count; i++)
		print_cell(columns[i].name, &columns[i], i + 1 == count);
	cJSON_ArrayForEach (row, rows) {
		printf("%*s", indent, "");
		for (int i = 0; i < count; i++) {
			spell_in(&columns[i], cJSON_GetObjectItemCaseSensitive(row, columns[i].name), cell);
			print_cell(cell, &columns[i], i + 1 == count);
		}
	}
	print_inner_tables(rows, indent);
}

static void print_object(const cJSON *object, int indent)
{
	char cell[CELL_BYTES];
	const cJSON *member;

	cJSON_ArrayForEach (member, object) {
		if (cJSON_IsObject(member) && member->child) {
			printf("%*s%s:\n", indent, "", member->string);
			print_object(member, indent + INDENT); /* cJSON has bounded the depth */
		} else if (is_list_of_objects(member)) {
			printf("%*s%s:\n", indent, "", member->string);
			print_table(member, indent + INDENT);
		} else {
			spell(member, cell);
			printf("%*s%s: ", indent, "", member->string);
			cli_text_print(cell, 0);
			putchar('\n');
		}
	}
}

void cli_show(const cJSON *object)
{
	print_object(object, 0);
}

int cli_show_text(const char *json, struct dls_error *err)
{
	cJSON *object = cJSON_Parse(json);
	int rc = cJSON_IsObject(object) ? 0 : cli_fail(err, DLS_EFORMAT, "the answer is not a JSON object");

	if (rc == 0)
		cli_show(object);
	cJSON_Delete(object);
	return rc;
}
