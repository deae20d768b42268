// Tries what users of the JavaScript client do, against the server of the current kubeconfig.
// Prints `ok NAME` or `FAIL NAME: why` for each thing, each in a namespace of its own, and exits
// with 1 if anything failed. The argument is the folder in which the packages are installed.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const entry = join(process.argv[2], 'node_modules/@kubernetes/client-node/dist/index.js');
const k8s = await import(pathToFileURL(entry).href);

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
// How long an event is waited for, in milliseconds.
const EVENT_LIMIT = 30000;

function configMap(name, labels) {
  return { metadata: { name, labels }, data: { a: '1' } };
}

function deployment(name) {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'example.test/image:1' }];
  return {
    metadata: { name },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

// Expects that the server refuses a call with a status and a reason.
async function refused(code, reason, call) {
  try {
    await call;
  } catch (error) {
    assert.equal(error.code, code, String(error));
    assert.equal(JSON.parse(error.body).reason, reason);
    return;
  }
  assert.fail('it was not refused');
}

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come`)), EVENT_LIMIT);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Collects words until there are as many as wanted.
function collector(wanted) {
  const words = [];
  let finish;
  const whole = new Promise((resolve) => {
    finish = resolve;
  });
  const add = (word) => {
    words.push(word);
    if (words.length === wanted) {
      finish();
    }
  };
  return { words, add, whole };
}

const GROUP = 'javascript-probe.orlop.dev';

// Lamps, with a status and a rule.
function lampDefinition() {
  const spec = {
    type: 'object',
    required: ['color'],
    properties: {
      color: { type: 'string', _enum: ['red', 'white'] },
      watts: { type: 'integer', minimum: 1, _default: 40 },
    },
    x_kubernetes_validations: [{ rule: "self.watts <= 100 || self.color == 'red'" }],
  };
  const status = { type: 'object', properties: { phase: { type: 'string' } } };
  return {
    metadata: { name: `lamps.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'lamps', singular: 'lamp', kind: 'Lamp' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
          subresources: { status: {} },
        },
      ],
    },
  };
}

function lamp(name, spec) {
  return { apiVersion: `${GROUP}/v1`, kind: 'Lamp', metadata: { name }, spec };
}

async function lamps(namespace, definitions) {
  const where = { group: GROUP, version: 'v1', namespace, plural: 'lamps' };
  const custom = config.makeApiClient(k8s.CustomObjectsApi);
  const isEstablished = async () => {
    const found = await definitions.readCustomResourceDefinition({ name: `lamps.${GROUP}` });
    const conditions = found.status?.conditions ?? [];
    return conditions.some((one) => one.type === 'Established' && one.status === 'True');
  };
  while (!(await isEstablished()));
  await untilServed(() => custom.listNamespacedCustomObject(where));
  const body = lamp('a', { color: 'white' });
  const made = await custom.createNamespacedCustomObject({ ...where, body });
  assert.equal(made.spec.watts, 40);
  for (const spec of [{ color: 'green' }, { color: 'white', watts: 200 }, {}]) {
    const bad = { ...where, body: lamp('b', spec) };
    await refused(422, 'Invalid', custom.createNamespacedCustomObject(bad));
  }
  made.spec.watts = 60;
  const replaced = await custom.replaceNamespacedCustomObject({ ...where, name: 'a', body: made });
  assert.equal(replaced.metadata.generation, 2);
  replaced.status = { phase: 'Lit' };
  replaced.spec.watts = 5;
  const lit = await custom.replaceNamespacedCustomObjectStatus({
    ...where,
    name: 'a',
    body: replaced,
  });
  assert.deepEqual([lit.status, lit.spec.watts], [{ phase: 'Lit' }, 60]);
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const patched = await objects.patch({
    ...lamp('a', { color: 'red' }),
    metadata: { name: 'a', namespace },
  }, undefined, undefined, undefined, undefined, 'application/merge-patch+json');
  assert.equal(patched.spec.color, 'red');
  await custom.deleteNamespacedCustomObject({ ...where, name: 'a' });
  await refused(404, 'NotFound', custom.getNamespacedCustomObject({ ...where, name: 'a' }));
}

// Calls until the server knows the resource.
async function untilServed(call) {
  for (let tries = 0; tries < 1000; tries += 1) {
    try {
      return await call();
    } catch (error) {
      assert.equal(error.code, 404, String(error));
    }
  }
  return assert.fail('it is not served');
}

const steps = {
  async 'create, read, replace, delete'(namespace) {
    const made = await core.createNamespacedConfigMap({ namespace, body: configMap('a') });
    assert.ok(made.metadata.uid && made.metadata.resourceVersion);
    assert.ok(made.metadata.creationTimestamp instanceof Date);
    made.data.b = '2';
    const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made });
    assert.deepEqual(replaced.data, { a: '1', b: '2' });
    await refused(
      409,
      'Conflict',
      core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made }),
    );
    await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
    await refused(404, 'NotFound', core.readNamespacedConfigMap({ namespace, name: 'a' }));
  },

  async 'errors have reasons'(namespace) {
    const create = (where, name) =>
      core.createNamespacedConfigMap({ namespace: where, body: configMap(name) });
    await create(namespace, 'a');
    await refused(409, 'AlreadyExists', create(namespace, 'a'));
    await refused(422, 'Invalid', create(namespace, 'Not_A_Name'));
    await refused(404, 'NotFound', create('nowhere', 'a'));
    const body = { ...configMap('b'), apiVersion: 'v2', kind: 'ConfigMap' };
    await refused(400, 'BadRequest', core.createNamespacedConfigMap({ namespace, body }));
  },

  async 'lists select and page'(namespace) {
    for (const index of [0, 1, 2, 3, 4]) {
      const body = configMap(`map-${index}`, { even: String(index % 2 === 0) });
      await core.createNamespacedConfigMap({ namespace, body });
    }
    const even = await core.listNamespacedConfigMap({ namespace, labelSelector: 'even=true' });
    assert.equal(even.items.length, 3);
    const seen = [];
    let token;
    do {
      const page = await core.listNamespacedConfigMap({ namespace, limit: 2, _continue: token });
      seen.push(...page.items.map((item) => item.metadata.name));
      token = page.metadata._continue;
    } while (token);
    assert.deepEqual(seen, ['map-0', 'map-1', 'map-2', 'map-3', 'map-4']);
  },

  async 'every patch type'(namespace) {
    await core.createNamespacedConfigMap({ namespace, body: configMap('a') });
    const patch = (strategy, body, more) =>
      core.patchNamespacedConfigMap(
        { namespace, name: 'a', body, ...more },
        k8s.setHeaderOptions('Content-Type', strategy),
      );
    const { JsonPatch, MergePatch, StrategicMergePatch, ServerSideApply } = k8s.PatchStrategy;
    await patch(JsonPatch, [{ op: 'add', path: '/data/json', value: 'x' }]);
    await patch(MergePatch, { data: { merge: 'x' } });
    await patch(StrategicMergePatch, { data: { strategic: 'x' } });
    const applied = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { apply: 'x' },
    };
    const got = await patch(ServerSideApply, applied, { fieldManager: 'probe', force: true });
    const expected = { a: '1', apply: 'x', json: 'x', merge: 'x', strategic: 'x' };
    assert.deepEqual({ ...got.data }, expected);
  },

  async 'deployments scale'(namespace) {
    await apps.createNamespacedDeployment({ namespace, body: deployment('web') });
    const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'web' });
    assert.equal(scale.spec.replicas, 2);
    scale.spec.replicas = 4;
    await apps.replaceNamespacedDeploymentScale({ namespace, name: 'web', body: scale });
    const got = await apps.readNamespacedDeployment({ namespace, name: 'web' });
    assert.equal(got.spec.replicas, 4);
    await apps.deleteCollectionNamespacedDeployment({ namespace });
    const left = await apps.listNamespacedDeployment({ namespace });
    assert.equal(left.items.length, 0);
  },

  async 'watches stream'(namespace) {
    const { words, add, whole } = collector(3);
    const list = await core.listNamespacedConfigMap({ namespace });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const from = { resourceVersion: list.metadata.resourceVersion };
    const stop = await new k8s.Watch(config).watch(
      path,
      from,
      (type, object) => add(`${type} ${object.metadata.name}`),
      () => {},
    );
    const made = await core.createNamespacedConfigMap({ namespace, body: configMap('a') });
    made.data.a = '2';
    await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made });
    await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
    await within(whole, 'the events');
    stop.abort();
    assert.deepEqual(words, ['ADDED a', 'MODIFIED a', 'DELETED a']);
  },

  async 'informers keep a cache'(namespace) {
    await core.createNamespacedConfigMap({ namespace, body: configMap('before') });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const list = () => core.listNamespacedConfigMap({ namespace });
    const informer = k8s.makeInformer(config, path, list);
    const { words, add, whole } = collector(4);
    for (const event of ['add', 'update', 'delete']) {
      informer.on(event, (object) => add(`${event} ${object.metadata.name}`));
    }
    await informer.start();
    const made = await core.createNamespacedConfigMap({ namespace, body: configMap('a') });
    made.data.a = '2';
    await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made });
    await core.deleteNamespacedConfigMap({ namespace, name: 'before' });
    await within(whole, 'the events');
    await informer.stop();
    assert.deepEqual(words, ['add before', 'add a', 'update a', 'delete before']);
    assert.equal(informer.get('a', namespace).data.a, '2');
  },

  async 'objects of any kind'(namespace) {
    const objects = k8s.KubernetesObjectApi.makeApiClient(config);
    const spec = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    };
    const made = await objects.create(spec);
    assert.ok(made.spec.clusterIP);
    const change = { ...spec, spec: { sessionAffinity: 'ClientIP' } };
    const patched = await objects.patch(change);
    assert.equal(patched.spec.sessionAffinity, 'ClientIP');
    const list = await objects.list('v1', 'Service', namespace);
    assert.equal(list.items.length, 1);
    await objects.delete(spec);
  },

  async 'custom resources'(namespace) {
    const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
    await definitions.createCustomResourceDefinition({ body: lampDefinition() });
    try {
      await lamps(namespace, definitions);
    } finally {
      const name = `lamps.${GROUP}`;
      await definitions.deleteCustomResourceDefinition({ name });
    }
  },

  async 'the server tells about itself'() {
    const version = await config.makeApiClient(k8s.VersionApi).getCode();
    assert.equal(version.major, '1');
    const groups = await config.makeApiClient(k8s.ApisApi).getAPIVersions();
    assert.ok(groups.groups.some((group) => group.name === 'apps'));
  },
};

let failed = false;
for (const [name, step] of Object.entries(steps)) {
  try {
    const body = { metadata: { generateName: 'javascript-probe-' } };
    const namespace = await core.createNamespace({ body });
    await step(namespace.metadata.name);
    console.log(`ok ${name}`);
  } catch (error) {
    failed = true;
    console.log(`FAIL ${name}: ${String(error.stack ?? error).replaceAll('\n', ' ')}`);
  }
}
process.exit(failed ? 1 : 0);
