/* Runs a model on files in this process, without any master or worker.
 *
 *	run_model MODEL FILE...
 *
 * MODEL is a model folder or an ONNX file with one input. Each FILE (a photo, .npy or .pb) is an item, or several; all
 *of them are run as one batch, and of the first output the highest value of each item is printed. */
#include <dlsched/dlsched.h>
#include <stdio.h>

/* The largest of an item's values, and the name of its class if the model has names. */
static void print_best(const struct dls_model *model, const float *values, size_t count)
{
	size_t best = 0;
	const char *label;

	for (size_t i = 1; i < count; i++)
		if (values[i] > values[best])
			best = i;
	label = dls_model_label(model, (uint32_t)best);
	if (label)
		printf("%s %.2f\n", label, (double)values[best]);
	else
		printf("element %zu is the largest: %g\n", best, (double)values[best]);
}

static void print(const struct dls_model *model, const struct dls_tensor *output)
{
	size_t items = output->rank ? (size_t)output->dims[0] : 1;
	size_t count = output->bytes / sizeof(float) / (items ? items : 1);

	if (output->dtype != DLS_FLOAT32 || !count) {
		printf("%zu bytes of %s\n", output->bytes, dls_dtype_name(output->dtype));
		return;
	}
	for (size_t i = 0; i < items; i++)
		print_best(model, (const float *)output->data + i * count, count);
}

/* The tensors that the library hands out are one block each, freed with dls_free. */
static int run(struct dls_ctx *ctx, struct dls_model *model, char **files, uint32_t count, struct dls_error *err)
{
	struct dls_tensor *input = NULL, *outputs = NULL;
	uint32_t output_count;
	int rc = dls_model_read(model, 0, (const char *const *)files, count, &input, err);

	if (rc == 0)
		rc = dls_model_run(model, input, 1, &outputs, &output_count, err);
	if (rc == 0)
		print(model, outputs);
	dls_free(ctx, outputs);
	dls_free(ctx, input);
	return rc;
}

int main(int argc, char **argv)
{
	struct dls_ctx *ctx = NULL;
	struct dls_model *model = NULL;
	struct dls_error err;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: run_model MODEL FILE...\n");
		return 2;
	}
	rc = dls_ctx_create(NULL, &ctx, &err);
	if (rc == 0)
		rc = dls_model_open(ctx, argv[1], &model, &err);
	if (rc == 0)
		rc = run(ctx, model, argv + 2, (uint32_t)argc - 2, &err);
	if (rc)
		fprintf(stderr, "run_model: %s\n", err.text);
	dls_model_destroy(model);
	dls_ctx_destroy(ctx);
	return rc ? dls_error_exit_code(rc) : 0;
}
