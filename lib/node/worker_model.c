#include "node/worker_model.h"

#include "node/worker.h"

int dlsi_worker_model_hold(struct dlsi_worker_job *job, struct dlsi_worker_model **model_out, struct dls_error *err)
{
	(void)job;
	(void)model_out;
	return dlsi_fail(err, DLS_EUNSUPPORTED, "jobs that run a model are not possible yet");
}

void dlsi_worker_model_drop(struct dlsi_worker_model *model)
{
	model->tasks--;
}

struct dlsi_model_files dlsi_worker_model_files(const struct dlsi_worker_model *model)
{
	return (struct dlsi_model_files){
		.id = model->bundle.name, .onnx = model->files[0].pin.path, .json = model->files[1].pin.path};
}

void dlsi_worker_models_fini(struct dls_worker *worker)
{
	(void)worker;
}
