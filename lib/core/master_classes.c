/* Classes: what specifications ask of a worker, each once. Whether a worker suits a class is decided here, and how many
 * do is counted, so that a job that suits nobody is known without asking them all.
 *
 *   "resources": {"cores": 2, "memory_bytes": 1e9, NAME: AMOUNT}, "labels": [NAME, ...] */
#include "core/master_places.h"

#include <string.h>

static bool has_label(const struct worker *worker, const struct dlsi_id *label)
{
	for (uint16_t i = 0; i < worker->label_count; i++)
		if (dlsi_id_equal(&worker->labels[i].key, label))
			return true;
	return false;
}

bool dlsi_class_suits(const struct class *class, const struct worker *worker)
{
	if (!dlsi_worker_has_handler(worker, class->handler))
		return false;
	for (uint16_t i = 0; i < class->label_count; i++)
		if (!has_label(worker, &class->labels[i]))
			return false;
	return dlsi_resources_cover(&worker->capacity, &class->policy.demand);
}

unsigned dlsi_class_likes(const struct class *class, const struct worker *worker)
{
	unsigned count = 0;

	for (uint16_t i = 0; i < class->preferred_count; i++)
		count += has_label(worker, &class->preferred[i]);
	return count;
}

static void count(struct class *class, const struct worker *worker, bool present)
{
	if (!dlsi_class_suits(class, worker))
		return;
	class->workers += present ? 1 : -1U;
	class->devices += present ? worker->device_count : -(uint32_t)worker->device_count;
}

void dlsi_classes_count(struct dlsi_master *master, const struct worker *worker, bool present)
{
	dlsi_list_each (node, &master->classes)
		count(dlsi_list_entry(node, struct class, node), worker, present);
	for (uint16_t i = 0; i < worker->device_count; i++)
		dlsi_list_each (node, &worker->devices[i].services)
			dlsi_service_count(dlsi_list_entry(node, struct service, device_node), present);
	if (present)
		dlsi_resources_add(&master->total, &worker->capacity);
	else
		dlsi_resources_take(&master->total, &worker->capacity);
}

int dlsi_class_object(const struct dlsi_master *master, const struct class *class, struct dls_error *err)
{
	struct dlsi_resources most = {0};
	unsigned workers = 0;

	if (class->workers)
		return 0;
	dlsi_list_each (node, &master->workers) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		if (!worker->peer || !dlsi_worker_has_handler(worker, class->handler))
			continue;
		if (dlsi_resources_cover(&worker->capacity, &class->policy.demand)) /* it lacks a label */
			return 0;
		dlsi_resources_raise(&most, &worker->capacity);
		workers++;
	}
	for (unsigned i = 0; workers && i < DLSI_RESOURCE_KINDS; i++)
		if (most.amount[i] < class->policy.demand.amount[i])
			return dlsi_fail(err, DLS_ELIMIT,
				"each task of the job asks for %.12g %s; the most that a worker has which could run it "
				"is %.12g",
				(double)class->policy.demand.amount[i] / DLSI_RESOURCE_UNIT, dlsi_kind_name(master, i),
				(double)most.amount[i] / DLSI_RESOURCE_UNIT);
	if (workers)
		return dlsi_fail(err, DLS_ELIMIT,
			"no worker that could run the job has all the resources together that "
			"each of its tasks asks for");
	return 0;
}

static int read_demand(
	struct dlsi_master *master, const cJSON *resources, struct dlsi_resources *demand, struct dls_error *err)
{
	static const char what[] = "the job specification: resources";

	if (cJSON_GetObjectItemCaseSensitive(resources, "devices"))
		return dlsi_fail(
			err, DLS_EINVAL, "%s: a task runs on one device, \"devices\" cannot be asked for", what);
	demand->amount[DLSI_RESOURCE_DEVICES] = DLSI_RESOURCE_UNIT;
	return dlsi_kinds_read(master, what, resources, demand, err);
}

/* `what` names the list in errors. *keys_out is freed also after one. */
static int read_labels(struct dlsi_master *master, const char *what, const cJSON *labels, struct dlsi_id **keys_out,
	uint16_t *count_out, struct dls_error *err)
{
	int count = cJSON_GetArraySize(labels);
	const cJSON *label;

	if (count > DLSI_CLASS_LABELS)
		return dlsi_fail(
			err, DLS_ELIMIT, "the job specification: %s: a job names %d at most", what, DLSI_CLASS_LABELS);
	*keys_out = dlsi_calloc(master->alloc, (size_t)count + 1, sizeof **keys_out);
	if (!*keys_out)
		return dlsi_fail_memory(err);
	cJSON_ArrayForEach (label, labels) {
		if (!cJSON_IsString(label) || !*label->valuestring || strlen(label->valuestring) > DLSI_NAME_BYTES)
			return dlsi_fail(
				err, DLS_EINVAL, "the job specification: %s: each is a text of 1 to 255 bytes", what);
		(*keys_out)[(*count_out)++] = dlsi_hash_key(label->valuestring, strlen(label->valuestring));
	}
	return 0;
}

static void destroy(struct dlsi_master *master, struct class *class)
{
	dlsi_list_each (node, &class->services)
		dlsi_service_destroy(master, dlsi_list_entry(node, struct service, class_node));
	dlsi_list_remove(&class->node);
	dlsi_kinds_unref(master, &class->policy.demand);
	dlsi_handler_unref(master, class->handler);
	dlsi_heap_fini(&class->policy.queues);
	dlsi_free(master->alloc, class->labels);
	dlsi_free(master->alloc, class->preferred);
	dlsi_free(master->alloc, class);
}

static int create(struct dlsi_master *master, struct dlsi_text handler, const struct dlsi_id *key,
	const cJSON *resources, const cJSON *labels, const cJSON *preferred, struct class **class_out,
	struct dls_error *err)
{
	struct class *class = dlsi_calloc(master->alloc, 1, sizeof *class);
	int rc;

	if (!class)
		return dlsi_fail_memory(err);
	class->key = *key;
	class->uses = 1;
	dlsi_list_init(&class->node);
	dlsi_list_init(&class->services);
	dlsi_list_init(&class->policy.node);
	dlsi_heap_init(&class->policy.queues, master->alloc);
	class->number = master->next_number++;
	class->handler = dlsi_handler_ref(master, handler);
	rc = class->handler ? read_demand(master, resources, &class->policy.demand, err) : dlsi_fail_memory(err);
	if (class->handler)
		class->policy.handler = class->handler->name;
	if (rc == 0)
		rc = read_labels(master, "labels", labels, &class->labels, &class->label_count, err);
	if (rc == 0)
		rc = read_labels(
			master, "preferred_labels", preferred, &class->preferred, &class->preferred_count, err);
	if (rc == 0 && dlsi_map_put(&master->class_by_key, key, class))
		rc = dlsi_fail_memory(err);
	if (rc) {
		destroy(master, class);
		return rc;
	}
	dlsi_list_append(&master->classes, &class->node);
	*class_out = class;
	return 0;
}

/* The key of what the members say: as text, in the order in which they are written. */
static int find_key(const struct dlsi_alloc *alloc, const cJSON *spec, struct dlsi_id *key_out, struct dls_error *err)
{
	static const char *const members[] = {"handler", "model", "resources", "labels", "preferred_labels"};
	cJSON *part = cJSON_CreateObject();
	char *text;

	for (size_t i = 0; part && i < sizeof members / sizeof *members; i++) {
		cJSON *member = cJSON_GetObjectItemCaseSensitive(spec, members[i]);

		if (member)
			cJSON_AddItemReferenceToObject(part, members[i], member);
	}
	text = part ? dlsi_json_print(alloc, part) : NULL;
	cJSON_Delete(part);
	if (!text)
		return dlsi_fail_memory(err);
	*key_out = dlsi_hash_key(text, strlen(text));
	dlsi_free(alloc, text);
	return 0;
}

/* What the specification says of it is checked by workers. */
static void find_model(const cJSON *spec, struct class *class)
{
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(spec, "model");
	const char *bundle = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "bundle"));

	class->has_model = bundle && dlsi_unhex(bundle, DLSI_HASH_BYTES, class->model.bytes);
}

int dlsi_class_intern(struct dlsi_master *master, const cJSON *spec, struct dlsi_text handler, const cJSON *resources,
	const cJSON *labels, const cJSON *preferred, struct class **class_out, struct dls_error *err)
{
	struct dlsi_id key;
	struct class *class;
	int rc = find_key(master->alloc, spec, &key, err);

	if (rc)
		return rc;
	class = dlsi_map_get(&master->class_by_key, &key);
	if (class) {
		class->uses++;
		*class_out = class;
		return 0;
	}
	rc = create(master, handler, &key, resources, labels, preferred, class_out, err);
	if (rc == 0)
		find_model(spec, *class_out);
	if (rc == 0)
		dlsi_list_each (node, &master->workers) {
			const struct worker *worker = dlsi_list_entry(node, struct worker, node);

			if (dlsi_worker_is_open(worker))
				count(*class_out, worker, true);
		}
	return rc;
}

void dlsi_class_unref(struct dlsi_master *master, struct class *class)
{
	if (!class || --class->uses)
		return;
	dlsi_map_remove(&master->class_by_key, &class->key);
	destroy(master, class);
}
