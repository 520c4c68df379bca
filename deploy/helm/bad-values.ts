/** Values that an operator may get wrong, and helm's message about each. Each is added to the smallest example. */
export interface BadValues {
  readonly title: string;
  /** A path and a value, as `--set-json` takes them. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Part of the message. */
  readonly says: string;
  /** Whether the schema refuses it, before any template is read. */
  readonly bySchema: boolean;
}

const refused = (title: string, set: BadValues["set"], says: string): BadValues => ({
  title,
  set,
  says,
  bySchema: false,
});
const invalid = (title: string, set: BadValues["set"], says: string): BadValues => ({
  title,
  set,
  says,
  bySchema: true,
});

export const badValues: readonly BadValues[] = [
  refused("no image", { "image.repository": "" }, "image.repository is empty. Push the image"),
  refused("no Secret", { existingSecret: "" }, "existingSecret is empty. Create a Secret"),
  refused("no engine", { "engine.ingressUrls": [] }, "engine.ingressUrls is empty. List the engine's nodes"),
  refused("no admin port", { "engine.adminUrls": [] }, "such as http://restate.restate.svc:9070"),
  refused(
    "a release that takes new runs and is drained",
    { "image.tag": "1.0.0", "workers.draining": [{ release: "1.0.0" }] },
    "Release 1.0.0 takes new runs and is in workers.draining too",
  ),
  refused(
    "a release that is drained twice",
    { "workers.draining": [{ release: "0.9.0" }, { release: "0.9.0" }] },
    "Release 0.9.0 is in workers.draining twice",
  ),
  refused(
    "two releases with one name",
    { "workers.draining": [{ release: "0.9.0" }, { release: "0-9-0" }] },
    "Releases 0.9.0 and 0-9-0 would both be named perch-worker-0-9-0",
  ),
  refused(
    "a name that is too long",
    { fullnameOverride: `p${"x".repeat(50)}`, release: "2026-11-17-0019" },
    "a Service's name may have 63",
  ),
  refused(
    "a setting that the chart makes",
    { "settings.PERCH_WORKER_URL": "http://elsewhere:7401" },
    "settings.PERCH_WORKER_URL is set by the chart",
  ),
  refused(
    "a secret among the settings",
    { "settings.PERCH_OPENAI_API_KEY": "sk-1" },
    "its key into secretFiles as PERCH_OPENAI_API_KEY_FILE",
  ),
  refused(
    "a secret that the chart mounts already",
    { "secretFiles.PERCH_MASTER_KEY_FILE": "key" },
    "secretFiles.PERCH_MASTER_KEY_FILE is set by the chart",
  ),
  refused(
    "more pods at least than at most",
    { "workers.autoscaling": { enabled: true, minReplicas: 5, maxReplicas: 2, runsPerWorker: 1 } },
    "workers.autoscaling.minReplicas is above maxReplicas",
  ),
  refused(
    "policies that do not know the engine",
    { "networkPolicy.enabled": true, "networkPolicy.apiFrom": [{ namespaceSelector: {} }] },
    "networkPolicy.engineFrom is empty. Describe the engine's pods",
  ),
  refused(
    "policies that do not know the ingress controller",
    { "networkPolicy.enabled": true, "networkPolicy.engineFrom": [{ namespaceSelector: {} }] },
    "networkPolicy.apiFrom is empty",
  ),
  refused("an ingress without a name", { "ingress.enabled": true }, "ingress.host is empty"),
  refused("rules without groups", { "prometheusRule.rules": "rules: []" }, "prometheusRule.rules has no `groups`"),
  invalid("a misspelt value", { workerz: {} }, "workerz"),
  invalid("a misspelt value further down", { "serve.replica": 2 }, "replica"),
  invalid("an image with its tag in the wrong place", { "image.tag": "a tag" }, "/image/tag"),
  invalid("no pods", { "serve.replicas": 0 }, "/serve/replicas"),
  invalid("a release in capitals", { release: "Release-1" }, "/release"),
  invalid("resources without limits", { "workers.resources": { requests: {}, limits: null } }, "/workers/resources"),
  invalid("a peer that means everybody", { "networkPolicy.engineFrom": [{}] }, "/networkPolicy/engineFrom/0"),
  invalid("every address as a private range", { "networkPolicy.privateRanges": ["0.0.0.0/0"] }, "/privateRanges/0"),
  invalid("the metadata service", { "networkPolicy.privateRanges": ["169.254.169.254/32"] }, "/privateRanges/0"),
  invalid("no name server", { "networkPolicy.dns": [] }, "/networkPolicy/dns"),
  invalid("a setting of another program", { "settings.PATH": "/bin" }, "/settings"),
  invalid("a number as a setting", { "settings.PERCH_DATABASE_MAX_CONNECTIONS": 15 }, "/settings"),
  invalid("a secret that is no file", { "secretFiles.PERCH_OPENAI_API_KEY": "openai" }, "/secretFiles"),
  invalid("an engine without its scheme", { "engine.ingressUrls": ["restate:8080"] }, "/engine/ingressUrls/0"),
];
