/* A model folder: model.onnx with the files in which it keeps data, model.json (how inputs are prepared and outputs
 * read) and labels.txt (line n names class n - 1), opened here to be looked at, to name classes, or to be run without
 * any cluster. An ONNX file alone, with its data beside it, is a model that takes tensors and gives tensors. */
#ifndef DLSCHED_MODEL_H
#define DLSCHED_MODEL_H

#include <dlsched/ctx.h>
#include <dlsched/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_model;

/* Reads and checks the whole folder (or the one ONNX file): the graph with its operators, model.json against the graph,
 * and the number of labels against the classes. A folder without model.json takes tensors and gives tensors; labels.txt
 * may be absent.
 * Errors: DLS_ENOTFOUND, DLS_EFORMAT, DLS_EUNSUPPORTED, DLS_EINVAL, DLS_ELIMIT, DLS_ENOMEM; the sentence names file,
 * node or key. */
int dls_model_open(struct dls_ctx *ctx, const char *path, struct dls_model **model_out, struct dls_error *err);
void dls_model_destroy(struct dls_model *model);

/* The name of a class, NULL if there is none. */
const char *dls_model_label(const struct dls_model *model, uint32_t index);

/* How many inputs and outputs the model has, and their names in the order in which dls_model_run takes and gives them;
 * 0 and NULL where there is none. */
uint32_t dls_model_inputs(const struct dls_model *model);
uint32_t dls_model_outputs(const struct dls_model *model);
const char *dls_model_input_name(const struct dls_model *model, uint32_t input);
const char *dls_model_output_name(const struct dls_model *model, uint32_t output);

/* What the model takes and gives, as a JSON object: inputs and outputs with name, dtype and dims, operators,
 * parameters, max_batch, whether it can be batched and if not, why. An output that is "bounded" has at most these dims.
 * null stands for a dimension that the file leaves open; where that is another one than the first, and model.json does
 * not say it (as it does of pictures), it is not known before a run whether the model can be batched, and not told.
 * The caller frees *json_out with dls_free. */
int dls_model_describe(struct dls_model *model, char **json_out, struct dls_error *err);

/* Runs one batch on this machine: a tensor per model input, all with the same first dimension, the
 * batch; where the model mixes rows of the batch, a first dimension that the file leaves open is a size like
 * others. The graph alone is run: inputs are not prepared, outputs are as they come, whatever model.json says.
 * *outputs_out is an array of *count_out tensors in one block, freed by the caller with dls_free. Waits for the
 * context's executor thread; a first run of a batch size takes longer, and so does one of sizes that the file leaves
 * open: the model is made ready for each set of them anew, and the four used last are kept. An output whose size
 * depends on its elements has the dims of this run. Errors: DLS_EINVAL (shapes that do not fit, named), DLS_ENOMEM; of
 * DLS_ISA as dls_worker_create. */
int dls_model_run(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count,
	struct dls_tensor **outputs_out, uint32_t *count_out, struct dls_error *err);

/* Reads a tensor from a file: numpy's .npy, or a serialised TensorProto as the test data of ONNX is (.pb). *tensor_out
 * is one block, freed by the caller with dls_free.
 * Errors: DLS_ENOTFOUND, DLS_EIO, DLS_EFORMAT, DLS_EUNSUPPORTED (a type of elements, say), DLS_ELIMIT, DLS_ENOMEM; the
 * sentence names the file. */
int dls_tensor_read(struct dls_ctx *ctx, const char *path, struct dls_tensor **tensor_out, struct dls_error *err);

/* Makes files the model's input number `input` (from 0), prepared as model.json says, one behind the other: a JPEG or
 * PNG photo is an item; an .npy or .pb file is one too or, with the input's own shape but for the first dimension, as
 * many as that says (or one, of so many rows, where the model mixes rows and its file leaves that dimension open); an
 * idx file is as many as it has rows. *tensor_out, which dls_model_run takes, is one block, freed
 * by the caller with dls_free. Errors: as dls_tensor_read; DLS_EINVAL (a file that cannot become this input, several
 * items for a model that is not batched), DLS_ELIMIT (more than the 4,096 items of a run). */
int dls_model_read(struct dls_model *model, uint32_t input, const char *const *paths, uint32_t count,
	struct dls_tensor **tensor_out, struct dls_error *err);

/* What a model takes of this machine's memory, in bytes. */
struct dls_model_memory {
	size_t size;
	uint64_t weight_bytes;     /* its constants, and those of them that are laid out again for kernels */
	uint64_t activation_bytes; /* what nodes hand on shares this by the time it is needed: the peak of the largest
				      plan so far, once for each thread that has computed items apart */
};

#define DLS_MODEL_MEMORY_INIT DLS_SIZED(struct dls_model_memory)

/* Makes ready for runs of `batch` items, which the first of them would do else. *memory_out, unless NULL, is what they
 * take; the input and output tensors are not part of it. Waits for the context's executor thread.
 * Errors: DLS_EINVAL (a batch that the model does not take), DLS_ESTATE (the file leaves sizes open, so that only a run
 * can tell), DLS_EUNSUPPORTED (a form of an operator that the device has no kernel for), DLS_ENOMEM. */
int dls_model_prepare(
	struct dls_model *model, int64_t batch, struct dls_model_memory *memory_out, struct dls_error *err);

/* Runs the model `runs` times (1 to 1,000), after a run that does not count, and tells how long each node took: on
 * `count` inputs as dls_model_run takes them, or where `inputs` is NULL on made-up ones of `batch` items. *json_out is
 * a JSON object, freed by the caller with dls_free: batch, piece (items of it that are computed at once; all times are
 * of a piece), threads (that compute a piece together: all, or 1 where a batch has pieces enough for them to take them
 * apart), runs, `nodes` in the order of a run, ms and gflops of the whole, weight_bytes and activation_bytes as above.
 * A node has `node` (its name), `operator`, `kernel` (the implementation as oneDNN names it, or "own:" and a kernel of
 * the library's; "eval" is plain C, "none" that nothing is to be done; several steps are separated by commas), `ms`
 * (the median), `share` of the whole, and for convolutions and products of matrices `gflops` (the operations that their
 * definition has, in 10^9 a second). What rewriting has joined with another node has no entry. Errors: as
 * dls_model_prepare and dls_model_run. */
int dls_model_profile(struct dls_model *model, const struct dls_tensor *inputs, uint32_t count, int64_t batch,
	uint32_t runs, char **json_out, struct dls_error *err);

#ifdef __cplusplus
}
#endif
#endif
