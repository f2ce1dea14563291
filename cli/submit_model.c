/* The verbs about a model on this machine, without any cluster: model show, model profile. */
#include "cli/failure.h"
#include "cli/show.h"
#include "cli/submit.h"
#include "cli/tensors.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the model is, and as the last member of that object what its plan takes (NULL: only a run could tell). */
static int show(
	const struct submit *submit, const char *json, const struct dls_model_memory *memory, struct dls_error *err)
{
	static const char machine[] = "%.*s,\"plan\":{\"batch\":%" PRId64 ",\"weight_bytes\":%" PRIu64
				      ",\"activation_bytes\":%" PRIu64 "}}\n";
	static const char people[] =
		"plan:\n  batch: %" PRId64 "\n  weight_bytes: %" PRIu64 "\n  activation_bytes: %" PRIu64 "\n";
	int64_t batch = submit->values->batch;
	int rc = submit->values->json ? 0 : cli_show_text(json, err);

	if (rc)
		return rc;
	if (submit->values->json && !memory)
		printf("%s\n", json);
	else if (submit->values->json)
		printf(machine, (int)strlen(json) - 1, json, batch, memory->weight_bytes, memory->activation_bytes);
	else if (memory)
		printf(people, batch, memory->weight_bytes, memory->activation_bytes);
	return cli_check_output(err);
}

int submit_model_show(const struct submit *submit, struct dls_error *err)
{
	struct dls_model_memory memory = DLS_MODEL_MEMORY_INIT;
	struct dls_model *model;
	char *json = NULL;
	bool open;
	int rc = dls_model_open(submit->ctx, submit->operands[0], &model, err);

	if (rc)
		return -1;
	rc = dls_model_prepare(model, submit->values->batch, &memory, err);
	open = rc == DLS_ESTATE;
	if (rc == 0 || open)
		rc = dls_model_describe(model, &json, err);
	if (rc == 0)
		rc = show(submit, json, open ? NULL : &memory, err);
	dls_free(submit->ctx, json);
	dls_model_destroy(model);
	return rc ? -1 : 0;
}

/* The JSON is freed. */
static int print(const struct submit *submit, char *json, struct dls_error *err)
{
	int rc = 0;

	if (submit->values->json)
		printf("%s\n", json);
	else
		rc = cli_show_text(json, err);
	dls_free(submit->ctx, json);
	return rc ? rc : cli_check_output(err);
}

int submit_model_profile(const struct submit *submit, struct dls_error *err)
{
	bool made_up = submit->operand_count == 1;
	struct cli_tensors files = {0};
	struct dls_model *model;
	char *json;
	int rc = dls_model_open(submit->ctx, submit->operands[0], &model, err);

	if (rc)
		return -1;
	if (!made_up)
		rc = cli_tensors_read(submit->ctx, model, submit->operands + 1, submit->operand_count - 1, &files, err);
	if (rc == 0)
		rc = dls_model_profile(model, files.inputs, files.count, made_up ? submit->values->batch : 0,
			(uint32_t)submit->values->runs, &json, err);
	if (rc == 0)
		rc = print(submit, json, err);
	cli_tensors_fini(&files);
	dls_model_destroy(model);
	return rc ? -1 : 0;
}
