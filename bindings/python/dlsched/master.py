"""A master in this process."""

from . import _options as options
from ._handle import Context, Handle
from ._library import MasterOptions, lib


class Master(Handle):
    """Takes in workers and jobs at an address, which `address` is with its real port; by default a free port of this machine.

    `insecure` allows it to listen beyond this machine, although nothing is encrypted or authenticated. `policy` and
    `policy_params`, a dict, are as for Client.set_policy(); `plugins` is a folder with policies in C. Every `heartbeat`
    seconds it hears of each peer; a worker that is silent for `worker_timeout` seconds is lost, and jobs of a lost client
    are kept for `client_timeout` seconds. None means the library's default.
    """

    def __init__(
        self,
        bind="tcp://127.0.0.1:0",
        *,
        insecure=False,
        policy=None,
        policy_params=None,
        plugins=None,
        heartbeat=None,
        worker_timeout=None,
        client_timeout=None,
    ):
        said = MasterOptions(
            bind=options.needed("bind", bind),
            insecure=options.flag("insecure", insecure),
            policy=options.text("policy", policy),
            policy_params=options.json_object("policy_params", policy_params),
            plugins=options.path("plugins", plugins),
            heartbeat_ms=options.duration("heartbeat", heartbeat, options.DAY),
            worker_timeout_ms=options.duration("worker_timeout", worker_timeout, options.DAY),
            client_timeout_ms=options.duration("client_timeout", client_timeout, options.DAY),
        )
        self._context = Context()
        super().__init__(self._context.create(lib.dls_master_create, said))
        self.address = lib.dls_master_endpoint(self._pointer).decode()

    def _destroy(self, pointer):
        lib.dls_master_destroy(pointer)
        self._context.destroy()
