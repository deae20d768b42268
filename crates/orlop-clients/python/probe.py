"""Tries what users of the Python client do, against the server of the current kubeconfig.

Prints `ok NAME` or `FAIL NAME: why` for each thing, each in a namespace of its own, and exits with
1 if anything failed.
"""

import base64
import json
import sys
import threading
import traceback

import websocket
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException

STEPS = []
# How long a watch is waited for, in seconds.
WATCH_LIMIT = 30


def step(function):
    STEPS.append(function)
    return function


def expect(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def refused(status, reason, call, *arguments, **options):
    """Expects that the server refuses a call with a status."""
    try:
        call(*arguments, **options)
    except ApiException as error:
        expect("status", error.status, status)
        if f'"reason":"{reason}"' not in error.body.replace('": "', '":"'):
            raise AssertionError(f"no reason {reason}: {error.body}") from error
        return error
    raise AssertionError("it was not refused")


def config_map(name, **labels):
    metadata = client.V1ObjectMeta(name=name, labels=labels or None)
    return client.V1ConfigMap(metadata=metadata, data={"a": "1"})


def deployment(name):
    labels = {"app": name}
    container = client.V1Container(name="main", image="example.test/image:1")
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels=labels), template=template
    )
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=spec)


@step
def create_read_replace_delete(core, namespace):
    made = core.create_namespaced_config_map(namespace, config_map("a"))
    if not (made.metadata.uid and made.metadata.resource_version):
        raise AssertionError(f"metadata is missing: {made.metadata}")
    expect("api version", made.api_version, "v1")
    made.data["b"] = "2"
    replaced = core.replace_namespaced_config_map("a", namespace, made)
    expect("data", replaced.data, {"a": "1", "b": "2"})
    refused(409, "Conflict", core.replace_namespaced_config_map, "a", namespace, made)
    core.delete_namespaced_config_map("a", namespace)
    refused(404, "NotFound", core.read_namespaced_config_map, "a", namespace)


@step
def errors_have_reasons(core, namespace):
    core.create_namespaced_config_map(namespace, config_map("a"))
    refused(409, "AlreadyExists", core.create_namespaced_config_map, namespace, config_map("a"))
    error = refused(422, "Invalid", core.create_namespaced_config_map, namespace, config_map("A_"))
    if "metadata.name" not in error.body:
        raise AssertionError(error.body)
    refused(404, "NotFound", core.create_namespaced_config_map, "nowhere", config_map("a"))
    refused(400, "BadRequest", core.list_namespaced_pod, namespace, field_selector="spec.x=1")


@step
def secrets_are_base64(core, namespace):
    secret = client.V1Secret(metadata=client.V1ObjectMeta(name="a"), string_data={"k": "v"})
    made = core.create_namespaced_secret(namespace, secret)
    expect("data", made.data, {"k": base64.b64encode(b"v").decode()})
    expect("type", made.type, "Opaque")


@step
def lists_select_and_page(core, namespace):
    for index in range(5):
        labels = {"even": str(index % 2 == 0)}
        core.create_namespaced_config_map(namespace, config_map(f"map-{index}", **labels))
    even = core.list_namespaced_config_map(namespace, label_selector="even=True")
    expect("names", [item.metadata.name for item in even.items], ["map-0", "map-2", "map-4"])
    one = core.list_namespaced_config_map(namespace, field_selector="metadata.name=map-1")
    expect("by field", len(one.items), 1)
    seen, token = [], None
    while True:
        page = core.list_namespaced_config_map(namespace, limit=2, _continue=token)
        seen += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    expect("pages", seen, [f"map-{index}" for index in range(5)])
    everywhere = core.list_config_map_for_all_namespaces()
    expect("everywhere", len(everywhere.items) >= 5, True)


@step
def every_patch_type(core, namespace):
    core.create_namespaced_config_map(namespace, config_map("a"))
    patch = core.patch_namespaced_config_map
    patch("a", namespace, [{"op": "add", "path": "/data/json", "value": "x"}])
    patch("a", namespace, {"data": {"merge": "x"}}, _content_type="application/merge-patch+json")
    got = patch("a", namespace, {"data": {"strategic": "x", "a": None}})
    expect("data", got.data, {"json": "x", "merge": "x", "strategic": "x"})
    applied = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "b"},
        "data": {"k": "v"},
    }
    options = {"field_manager": "probe", "_content_type": "application/apply-patch+yaml"}
    got = patch("b", namespace, applied, force=True, **options)
    expect("manager", got.metadata.managed_fields[0].operation, "Apply")


@step
def deployments_scale(core, namespace):
    apps = client.AppsV1Api()
    made = apps.create_namespaced_deployment(namespace, deployment("web"))
    expect("strategy by default", made.spec.strategy.type, "RollingUpdate")
    apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 5}})
    scale = apps.read_namespaced_deployment_scale("web", namespace)
    expect("replicas", scale.spec.replicas, 5)
    expect("selector", scale.status.selector, "app=web")
    apps.patch_namespaced_deployment_status("web", namespace, {"status": {"replicas": 3}})
    expect("status", apps.read_namespaced_deployment_status("web", namespace).status.replicas, 3)
    apps.delete_collection_namespaced_deployment(namespace)
    expect("left", len(apps.list_namespaced_deployment(namespace).items), 0)


@step
def watches_stream(core, namespace):
    start = core.list_namespaced_config_map(namespace).metadata.resource_version

    def change():
        core.create_namespaced_config_map(namespace, config_map("a"))
        core.patch_namespaced_config_map("a", namespace, {"data": {"a": "2"}})
        core.delete_namespaced_config_map("a", namespace)

    changes = threading.Thread(target=change)
    changes.start()
    seen, stream = [], watch.Watch()
    events = stream.stream(
        core.list_namespaced_config_map,
        namespace,
        resource_version=start,
        timeout_seconds=WATCH_LIMIT,
    )
    for event in events:
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 3:
            stream.stop()
    changes.join()
    expect("events", seen, [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")])


@step
def watches_end_when_asked(core, namespace):
    core.create_namespaced_config_map(namespace, config_map("a"))
    seen = []
    for event in watch.Watch().stream(core.list_namespaced_config_map, namespace, timeout_seconds=1):
        seen.append(event["object"].metadata.name)
    expect("what was there", seen, ["a"])


@step
def watches_come_over_websockets(core, namespace):
    core.create_namespaced_config_map(namespace, config_map("a"))
    settings = core.api_client.configuration
    tls = {
        "ca_certs": settings.ssl_ca_cert,
        "certfile": settings.cert_file,
        "keyfile": settings.key_file,
    }
    url = settings.host.replace("https:", "wss:") + f"/api/v1/namespaces/{namespace}/configmaps"
    socket = websocket.create_connection(
        f"{url}?watch=1", timeout=WATCH_LIMIT, sslopt=tls, origin=settings.host
    )
    event = json.loads(socket.recv())
    expect("first", (event["type"], event["object"]["metadata"]["name"]), ("ADDED", "a"))
    socket.ping("there?")
    core.delete_namespaced_config_map("a", namespace)
    event = json.loads(socket.recv())
    expect("second", (event["type"], event["object"]["kind"]), ("DELETED", "ConfigMap"))
    socket.send_close()
    opcode, reason = socket.recv_data()
    expect("end", (opcode, reason), (websocket.ABNF.OPCODE_CLOSE, b"\x03\xe8"))


@step
def the_dynamic_client_discovers(core, namespace):
    untyped = dynamic.DynamicClient(client.ApiClient())
    maps = untyped.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}}
    maps.create(body=body, namespace=namespace)
    got = maps.get(name="a", namespace=namespace)
    expect("kind", got.kind, "ConfigMap")
    body["data"] = {"a": "2"}
    applied = maps.server_side_apply(
        body=body, namespace=namespace, field_manager="probe", force_conflicts=True
    )
    expect("applied", applied.data.a, "2")
    merged = maps.patch(
        body={"metadata": {"name": "a", "labels": {"x": "y"}}},
        namespace=namespace,
        content_type="application/merge-patch+json",
    )
    expect("label", merged.metadata.labels.x, "y")
    expect("list", len(maps.get(namespace=namespace, label_selector="x=y").items), 1)
    found = untyped.resources.search(kind="Deployment")
    expect("group", {resource.group for resource in found}, {"apps"})
    maps.delete(name="a", namespace=namespace)


@step
def objects_come_from_dictionaries(core, namespace):
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
    }
    utils.create_from_dict(client.ApiClient(), service, namespace=namespace)
    got = core.read_namespaced_service("web", namespace)
    expect("port", got.spec.ports[0].target_port, "http")
    expect("address", bool(got.spec.cluster_ip), True)


@step
def dry_runs_leave_nothing(core, namespace):
    core.create_namespaced_config_map(namespace, config_map("a"), dry_run="All")
    refused(404, "NotFound", core.read_namespaced_config_map, "a", namespace)


@step
def jobs_and_cron_jobs(core, namespace):
    batch = client.BatchV1Api()
    container = client.V1Container(name="main", image="example.test/image:1")
    spec = client.V1PodSpec(containers=[container], restart_policy="Never")
    job_spec = client.V1JobSpec(template=client.V1PodTemplateSpec(spec=spec))
    meta = client.V1ObjectMeta(name="a")
    made = batch.create_namespaced_job(namespace, client.V1Job(metadata=meta, spec=job_spec))
    expect("backoff limit by default", made.spec.backoff_limit, 6)
    expect("selector", "batch.kubernetes.io/controller-uid" in made.spec.selector.match_labels, True)
    cron = client.V1CronJob(
        metadata=meta,
        spec=client.V1CronJobSpec(
            schedule="*/5 * * * *", job_template=client.V1JobTemplateSpec(spec=job_spec)
        ),
    )
    made = batch.create_namespaced_cron_job(namespace, cron)
    expect("policy by default", made.spec.concurrency_policy, "Allow")


@step
def the_server_tells_about_itself(core, namespace):
    version = client.VersionApi().get_code()
    expect("major", version.major, "1")
    groups = [group.name for group in client.ApisApi().get_api_versions().groups]
    expect("apps is served", "apps" in groups, True)
    expect("core is served", client.CoreApi().get_api_versions().versions, ["v1"])
    resources = client.AppsV1Api().get_api_resources().resources
    expect("deployments are served", "deployments" in [one.name for one in resources], True)


GROUP = "python-probe.orlop.dev"


def definition():
    """Lamps, with a status, a scale and a rule."""
    watts = {"type": "integer", "minimum": 1, "default": 40}
    spec = {
        "type": "object",
        "required": ["color"],
        "properties": {"watts": watts, "count": {"type": "integer"}, "color": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.watts <= 100 || self.color == 'red'"}],
    }
    status = {"type": "object", "properties": {"count": {"type": "integer"}}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}
        },
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"},
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"lamps.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "lamps", "singular": "lamp", "kind": "Lamp"},
            "versions": [version],
        },
    }


def lamp(name, **spec):
    spec.setdefault("color", "white")
    metadata = {"name": name}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Lamp", "metadata": metadata, "spec": spec}


@step
def custom_resources(core, namespace):
    definitions = client.ApiextensionsV1Api()
    definitions.create_custom_resource_definition(definition())
    try:
        lamps(namespace, definitions)
    finally:
        definitions.delete_custom_resource_definition(f"lamps.{GROUP}")


def lamps(namespace, definitions):
    for event in watch.Watch().stream(
        definitions.list_custom_resource_definition,
        field_selector=f"metadata.name=lamps.{GROUP}",
        timeout_seconds=WATCH_LIMIT,
    ):
        conditions = event["object"].status.conditions or []
        if any(one.type == "Established" and one.status == "True" for one in conditions):
            break
    custom = client.CustomObjectsApi()
    where = {"group": GROUP, "version": "v1", "namespace": namespace, "plural": "lamps"}
    until_served(custom.list_namespaced_custom_object, **where)
    made = custom.create_namespaced_custom_object(body=lamp("a", count=1), **where)
    expect("default", made["spec"]["watts"], 40)
    refused(422, "Invalid", custom.create_namespaced_custom_object, body=lamp("b", watts=0), **where)
    refused(422, "Invalid", custom.create_namespaced_custom_object, body=lamp("b", watts=200), **where)
    made["spec"]["watts"] = 60
    made = custom.replace_namespaced_custom_object(name="a", body=made, **where)
    expect("generation", made["metadata"]["generation"], 2)
    patch = {"status": {"count": 1}, "spec": {"watts": 5}}
    made = custom.patch_namespaced_custom_object_status(name="a", body=patch, **where)
    expect("status", made["status"], {"count": 1})
    expect("spec beside status", made["spec"]["watts"], 60)
    scale = custom.patch_namespaced_custom_object_scale(
        name="a", body={"spec": {"replicas": 3}}, **where
    )
    expect("scale", scale["spec"]["replicas"], 3)
    listed = custom.list_cluster_custom_object(GROUP, "v1", "lamps")
    expect("items", [one["spec"]["count"] for one in listed["items"]], [3])
    resource = dynamic.DynamicClient(client.ApiClient()).resources.get(
        api_version=f"{GROUP}/v1", kind="Lamp"
    )
    applied = resource.server_side_apply(
        body=lamp("c", color="red", watts=150), namespace=namespace, field_manager="probe"
    )
    expect("applied", applied.spec.watts, 150)
    custom.delete_collection_namespaced_custom_object(**where)
    expect("left", custom.list_namespaced_custom_object(**where)["items"], [])


def until_served(call, **options):
    """Calls until the server knows the resource."""
    for _ in range(1000):
        try:
            return call(**options)
        except ApiException as error:
            if error.status != 404:
                raise
    raise AssertionError("it is not served")


def main():
    config.load_kube_config()
    core = client.CoreV1Api()
    failed = False
    for function in STEPS:
        name = function.__name__.replace("_", " ")
        try:
            meta = client.V1ObjectMeta(generate_name="python-probe-")
            namespace = core.create_namespace(client.V1Namespace(metadata=meta)).metadata.name
            function(core, namespace)
            print(f"ok {name}", flush=True)
        except Exception as error:
            failed = True
            where = traceback.extract_tb(error.__traceback__)[1:2]
            lines = " ".join(str(error).split())
            print(f"FAIL {name}: {where}: {type(error).__name__}: {lines}", flush=True)
    sys.exit(1 if failed else 0)


main()
