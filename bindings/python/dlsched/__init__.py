"""Distributed deep-learning inference: jobs, and workers whose handlers are Python functions, on libdlsched.

    with dlsched.Client("tcp://127.0.0.1:7700") as client:
        for result in client.job(model="efficientnet-lite0").add_file("cat.jpg").submit():
            print(result.outputs[0].indices, result.outputs[0].values)

or a cluster on this machine: with dlsched.LocalCluster(2) as cluster: cluster.client.job(...); or a model in this process:
dlsched.Model("efficientnet-lite0")(array).
"""

from . import errors
from ._tables import VERSION as __version__
from .client import Client
from .cluster import LocalCluster
from .errors import Error
from .job import Job, Output, Progress, Result, as_completed
from .master import Master
from .model import Model, Port
from .worker import Interrupted, Item, Worker

__all__ = [
    "Client",
    "Error",
    "Interrupted",
    "Item",
    "Job",
    "LocalCluster",
    "Master",
    "Model",
    "Output",
    "Port",
    "Progress",
    "Result",
    "Worker",
    "as_completed",
    "errors",
]
