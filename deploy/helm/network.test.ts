import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isWithin, parseAddress, parseRange } from "../../packages/server/src/outbound/address-guard.ts";
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

const metadataServices = [
  ...["169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
  ...["fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "fe80::a9fe:a9fe"],
];
const privateAddresses = ["10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1", "100.64.0.1", "fd12::1"];

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
    "%s: pods reach name servers, the cluster, the private ranges of the values and the public internet",
    (_, manifests) => {
      const [all] = ofKind(manifests, "NetworkPolicy").filter(({ spec }) => spec.policyTypes?.includes("Egress"));
      const [dns, cluster, ours, world, ...rest] = all?.spec.egress ?? [];
      expect(rest).toEqual([]);
      expect(dns?.ports?.map(({ port }) => port)).toEqual([53, 53]);
      expect(dns?.to).toEqual([namespace("kube-system"), { ipBlock: { cidr: "169.254.20.10/32" } }]);
      expect(cluster?.to).toEqual([{ namespaceSelector: {} }]);
      expect(ours?.to).toEqual([{ ipBlock: { cidr: "10.20.0.0/24" } }]);
      const closed = new Map(world?.to?.map(({ ipBlock }) => [ipBlock?.cidr, (ipBlock?.except ?? []).map(parseRange)]));
      const open = (address: string) => {
        const parsed = parseAddress(address);
        const except = closed.get(address.includes(":") ? "::/0" : "0.0.0.0/0");
        return parsed && except && !except.some((range) => isWithin(parsed, range));
      };
      expect(closed.size).toBe(2);
      expect([...metadataServices, ...privateAddresses].filter(open)).toEqual([]);
      expect(["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111"].filter(open)).toHaveLength(4);
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
