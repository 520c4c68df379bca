import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chartDir } from "./chart-inputs.ts";
import { byExample, type Manifest, manifestsOf, ofKind, podOf, selects } from "./manifests.ts";

/** The peers that reach a port of the pods of a Deployment, according to all policies together. */
function whoReaches(manifests: readonly Manifest[], component: string, port: string) {
  const pods = ofKind(manifests, "Deployment")
    .map(podOf)
    .filter(({ metadata }) => metadata.labels["app.kubernetes.io/component"] === component);
  expect(pods.length).toBeGreaterThanOrEqual(1);
  return pods.map(({ metadata }) => {
    const policies = ofKind(manifests, "NetworkPolicy").filter(
      ({ spec }) =>
        spec.policyTypes?.includes("Ingress") && selects(spec.podSelector?.matchLabels ?? {}, metadata.labels),
    );
    // Without any policy, everybody.
    expect(policies.length).toBeGreaterThanOrEqual(1);
    const rules = policies.flatMap(({ spec }) => spec.ingress ?? []);
    // A rule without ports or peers would open all of them.
    for (const { ports = [], from = [] } of rules) {
      expect(ports.length).toBeGreaterThan(0);
      expect(from.length).toBeGreaterThan(0);
    }
    return rules.filter(({ ports }) => ports?.some((one) => one.port === port)).flatMap(({ from }) => from);
  });
}

const namespace = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });

describe("network policies", () => {
  const upgrade = manifestsOf("upgrade");

  test("allow only the engine to call workers of any release", () => {
    const engine = [{ ...namespace("restate"), podSelector: { matchLabels: { app: "restate" } } }];
    expect(whoReaches(upgrade, "worker", "worker")).toEqual([engine, engine]);
  });

  test("allow only Prometheus to read metrics", () => {
    const prometheus = [namespace("monitoring")];
    expect(whoReaches(upgrade, "worker", "metrics")).toEqual([prometheus, prometheus]);
    expect(whoReaches(upgrade, "serve", "metrics")).toEqual([prometheus]);
  });

  test("allow no peer to read metrics if prometheusFrom is empty", () => {
    const template = readFileSync(join(chartDir, "templates/network-policies.yaml"), "utf8");
    const [, optional = ""] = template.split("{{- with .Values.networkPolicy.prometheusFrom }}");
    const [policy = "", rest = ""] = optional.split("{{- end }}");
    expect(policy).toMatch(/^\n---\n[\s\S]*port: metrics[\s\S]*toYaml \./);
    expect(template.replace(policy, "") + rest).not.toContain("port: metrics");
  });

  test("allow only the ingress controller to call the API", () => {
    expect(whoReaches(upgrade, "serve", "http")).toEqual([[namespace("ingress-nginx")]]);
  });

  test.each(byExample.filter(([, manifests]) => ofKind(manifests, "NetworkPolicy").length > 0))(
    "%s: no pod reaches a metadata service, and only name servers are reached without a peer",
    (_, manifests) => {
      const [all] = ofKind(manifests, "NetworkPolicy").filter(({ spec }) => spec.policyTypes?.includes("Egress"));
      const rules = all?.spec.egress ?? [];
      expect(rules.length).toBeGreaterThanOrEqual(3);
      const open = rules.filter(({ to }) => to === undefined);
      expect(open.flatMap(({ ports }) => ports?.map(({ port }) => port))).toEqual([53, 53]);
      const blocks = rules.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
      for (const { cidr, except } of blocks)
        expect(except).toContain(cidr === "0.0.0.0/0" ? "169.254.0.0/16" : "fd00:ec2::/32");
      expect(blocks.length).toBeGreaterThanOrEqual(1);
      // The policy applies to every pod of the installation, including the Job.
      for (const manifest of manifests.filter(({ spec }) => spec.template !== undefined))
        expect(selects(all?.spec.podSelector?.matchLabels ?? {}, podOf(manifest).metadata.labels)).toBe(true);
    },
  );

  test("Prometheus finds every pod with metrics", () => {
    const [monitor] = ofKind(upgrade, "PodMonitor");
    expect(monitor?.spec.podMetricsEndpoints).toMatchObject([{ port: "metrics" }]);
    const found = ofKind(upgrade, "Deployment").filter((each) =>
      selects(monitor?.spec.selector?.matchLabels ?? {}, podOf(each).metadata.labels),
    );
    expect(found).toHaveLength(3);
    expect(ofKind(upgrade, "PrometheusRule")[0]?.spec.groups).toHaveLength(1);
  });
});
