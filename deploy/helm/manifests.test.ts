import { describe, expect, test } from "vitest";
import { knownVariables } from "../../packages/server/src/config/config.ts";
import { createTelemetry } from "../../packages/server/src/telemetry/telemetry.ts";
import { byExample, componentOf, envOf, type Manifest, manifestsOf, ofKind, podOf, selects } from "./manifests.ts";

const secretDir = "/run/secrets/perch";
const withPods = byExample.flatMap(([example, manifests]) =>
  manifests
    .filter(({ spec }) => spec.template !== undefined)
    .map((manifest) => [`${example}: ${manifest.kind} ${manifest.metadata.name}`, manifest] as const),
);
const deployments = withPods.filter(([, { kind }]) => kind === "Deployment");
const keysOf = (manifest: Manifest) =>
  podOf(manifest).spec.volumes.flatMap(({ secret }) => secret.items.map(({ key }) => key));

describe.each(withPods)("%s", (_, manifest) => {
  const pod = podOf(manifest);
  const [container] = pod.spec.containers;
  const env = envOf(pod);

  test("runs as an arbitrary user, with no rights, no token and a limit", () => {
    expect(pod.spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(pod.spec.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      privileged: false,
      capabilities: { drop: ["ALL"] },
    });
    for (const part of ["cpu", "memory"]) {
      expect(container.resources.requests).toHaveProperty(part);
      expect(container.resources.limits).toHaveProperty(part);
    }
  });

  test("has settings that exist, each once, and secrets only as files of its own volume", () => {
    const names = container.env.map(({ name }) => name);
    expect(names.filter((name) => !knownVariables.includes(name))).toEqual([]);
    expect(names).toEqual([...new Set(names)]);
    const files = Object.entries(env).filter(([name]) => name.endsWith("_FILE"));
    expect(files.length).toBeGreaterThanOrEqual(3);
    const mounted = keysOf(manifest).map((key) => `${secretDir}/${key}`);
    expect(files.filter(([, path]) => !mounted.includes(path))).toEqual([]);
    expect(names.filter((name) => knownVariables.includes(`${name}_FILE`))).toEqual([]);
    expect(container.env.filter(({ value }) => value === undefined)).toEqual([]);
    expect(container.volumeMounts).toEqual([{ name: "secrets", mountPath: secretDir, readOnly: true }]);
  });

  test("uses one image of one release, which is its name for the engine", () => {
    expect(container.image).toMatch(/^registry\.example\/perch-server:[\w.-]+(@sha256:[0-9a-f]{64})?$/);
    expect(container.image.split("@")[0]?.split(":")[1]).toBe(env.PERCH_RELEASE);
  });
});

describe.each(deployments)("%s", (_, manifest) => {
  const pod = podOf(manifest);
  const [container] = pod.spec.containers;
  const env = envOf(pod);
  const isWorker = componentOf(manifest) === "worker";

  test("is selected by the labels of its own pods, and spread by them", () => {
    const selector = manifest.spec.selector?.matchLabels ?? {};
    expect(Object.keys(selector).length).toBeGreaterThanOrEqual(3);
    expect(selects(selector, pod.metadata.labels)).toBe(true);
    const spread = pod.spec.topologySpreadConstraints ?? [];
    expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
      "topology.kubernetes.io/zone",
      "kubernetes.io/hostname",
    ]);
    for (const { labelSelector } of spread) expect(labelSelector.matchLabels).toEqual(selector);
  });

  test("listens on the ports that it names, on all addresses of the pod", () => {
    const prefix = isWorker ? "PERCH_WORKER" : "PERCH";
    expect(container.ports).toEqual([
      { name: isWorker ? "worker" : "http", containerPort: Number(env[`${prefix}_PORT`]) },
      { name: "metrics", containerPort: Number(env.PERCH_METRICS_PORT) },
    ]);
    for (const name of [`${prefix}_HOST`, "PERCH_METRICS_HOST"]) expect(env[name]).toBe("0.0.0.0");
  });

  test("is asked whether it has started, is ready and is alive, and may wait for PostgreSQL first", () => {
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const port = isWorker ? "worker" : "http";
    expect([startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet)).toMatchObject([
      { path: "/healthz", port },
      { path: "/readyz", port },
      { path: "/healthz", port },
    ]);
    const startLimit = (startupProbe?.periodSeconds ?? 0) * (startupProbe?.failureThreshold ?? 0);
    expect(startLimit).toBeGreaterThan(Number(env.PERCH_START_WAIT_SECONDS) + 30);
  });

  test("has the time to shut down in order", () => {
    const pause = container.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(pause).toBeGreaterThan(0);
    const steps = isWorker ? Number(env.PERCH_DRAIN_SECONDS) + 60 : 75;
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(pause + steps);
  });

  test("does not see the address with the role that owns the tables", () => {
    expect(keysOf(manifest)).not.toContain("migration-database-url");
    expect(keysOf(manifest).includes("engine-public-key")).toBe(isWorker);
  });
});

describe.each(byExample)("%s", (_, manifests) => {
  const workers = ofKind(manifests, "Deployment").filter((each) => componentOf(each) === "worker");
  const services = ofKind(manifests, "Service");
  const pods = ofKind(manifests, "Deployment").map((each) => ({ name: each.metadata.name, ...podOf(each) }));

  test("every release of workers has a Service of its own that Helm does not remove, at the address that it registers", () => {
    expect(workers.length).toBeGreaterThanOrEqual(1);
    for (const worker of workers) {
      const env = envOf(podOf(worker));
      const release = env.PERCH_RELEASE ?? "";
      const { hostname, port } = new URL(env.PERCH_WORKER_URL ?? "");
      const service = services.find(({ metadata }) => `${metadata.name}.perch.svc` === hostname);
      expect(service?.metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
      expect(service?.spec.selector).toMatchObject({ "perch/release": release });
      expect(service?.spec).toMatchObject({ type: "ClusterIP", publishNotReadyAddresses: false });
      expect(service?.spec.clusterIP).toBeUndefined();
      expect(service?.spec.ports).toMatchObject([
        { port: Number(port), targetPort: "worker", appProtocol: "kubernetes.io/h2c" },
      ]);
      expect(worker.metadata.name).toBe(service?.metadata.name);
    }
    expect(new Set(workers.map(({ metadata }) => metadata.name)).size).toBe(workers.length);
  });

  test("every Service and every disruption budget selects the pods of exactly one Deployment", () => {
    const budgets = ofKind(manifests, "PodDisruptionBudget");
    expect(budgets.length).toBe(pods.length);
    const selectors = [
      ...services.map(({ spec }) => spec.selector as Readonly<Record<string, string>>),
      ...budgets.map(({ spec }) => spec.selector?.matchLabels ?? {}),
    ];
    for (const selector of selectors)
      expect(pods.filter(({ metadata }) => selects(selector, metadata.labels))).toHaveLength(1);
    for (const { spec } of budgets) expect(spec.maxUnavailable).toBe(1);
  });

  test("the port of the metrics is in no Service", () => {
    expect(services.flatMap(({ spec }) => spec.ports?.map(({ targetPort }) => targetPort))).not.toContain("metrics");
  });

  test("the tables are migrated before an installation, an upgrade and a way back", () => {
    const [job] = ofKind(manifests, "Job");
    expect(job?.metadata.annotations?.["helm.sh/hook"]).toBe("pre-install,pre-upgrade,pre-rollback");
    expect(job?.metadata.annotations?.["helm.sh/hook-delete-policy"]).toContain("before-hook-creation");
    expect(job && podOf(job).spec.containers[0].args).toEqual(["migrate", "--activate-release"]);
    expect(job && keysOf(job)).toEqual(["database-url", "master-key", "migration-database-url"]);
    // The Secrets and ConfigMaps of the Job must exist before the chart is installed.
    expect(ofKind(manifests, "Secret")).toEqual([]);
    expect(ofKind(manifests, "ConfigMap")).toEqual([]);
  });

  test("no name is longer than 63 characters", () => {
    for (const { metadata } of manifests) expect(metadata.name.length).toBeLessThanOrEqual(63);
  });
});

test("pods of the release before differ from those of the next one only in the release", () => {
  const workers = ofKind(manifestsOf("upgrade"), "Deployment").filter((each) => componentOf(each) === "worker");
  const [next = "", before = ""] = workers.map((each) => JSON.stringify([podOf(each), each.spec.selector]));
  expect(before).not.toMatch(/1.5.0|b{64}/);
  const advanced = before
    .replaceAll("1.4.0", "1.5.0")
    .replaceAll("1-4-0", "1-5-0")
    .replaceAll("a".repeat(64), "b".repeat(64));
  expect(advanced).toBe(next);
});

test("without an autoscaler, the values set the number of pods", () => {
  const [serve, worker] = ofKind(manifestsOf("minimal"), "Deployment");
  expect([serve?.spec.replicas, worker?.spec.replicas]).toEqual([1, 1]);
  expect(ofKind(manifestsOf("minimal"), "HorizontalPodAutoscaler")).toEqual([]);
});

test("an autoscaler sets the number of pods by itself, by a metric that exists", async () => {
  const manifests = manifestsOf("upgrade");
  const scalers = ofKind(manifests, "HorizontalPodAutoscaler");
  const scaled = scalers.map(({ spec }) => spec.scaleTargetRef?.name);
  expect(scaled).toEqual(["perch-serve", "perch-worker-1-5-0", "perch-worker-1-4-0"]);
  const deployments = ofKind(manifests, "Deployment");
  expect(deployments.map(({ metadata }) => metadata.name)).toEqual(scaled);
  for (const { spec } of deployments) expect(spec.replicas).toBeUndefined();
  expect(scalers[0]?.spec.metrics?.[0]?.resource?.name).toBe("cpu");
  const telemetry = createTelemetry({ version: "1.0.0", operations: [], providers: [] });
  telemetry.watchRuns(() => 3);
  expect((await telemetry.read()).text).toContain(`\n${scalers[1]?.spec.metrics?.[0]?.pods?.metric.name} 3\n`);
});
