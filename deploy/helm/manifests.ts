import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { renderedDir, renderedExamples } from "./chart-inputs.ts";

/** The rendered manifests as the tests read them: only the fields that they look at. */

export type Labels = Readonly<Record<string, string>>;

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

export interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: object;
  readonly resources: { readonly requests: Labels; readonly limits: Labels };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly: boolean }[];
}

export interface Pod {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly automountServiceAccountToken?: boolean;
    readonly enableServiceLinks?: boolean;
    readonly securityContext: object;
    readonly terminationGracePeriodSeconds?: number;
    readonly topologySpreadConstraints?: readonly {
      readonly topologyKey: string;
      readonly labelSelector: { readonly matchLabels: Labels };
    }[];
    readonly containers: readonly [Container];
    readonly volumes: readonly {
      readonly secret: { readonly secretName: string; readonly items: readonly { readonly key: string }[] };
    }[];
  };
}

export interface Peer {
  readonly namespaceSelector?: object;
  readonly podSelector?: object;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: string | number }[];
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels; readonly annotations?: Labels };
  readonly spec: {
    readonly replicas?: number;
    readonly template?: Pod;
    readonly selector?: { readonly matchLabels?: Labels } & Record<string, unknown>;
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
    readonly type?: string;
    readonly clusterIP?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly ports?: readonly { readonly port: number; readonly targetPort: string; readonly appProtocol: string }[];
    readonly maxUnavailable?: number;
    readonly scaleTargetRef?: { readonly name: string };
    readonly metrics?: readonly {
      readonly pods?: { readonly metric: { readonly name: string } };
      readonly resource?: { readonly name: string };
    }[];
    readonly groups?: readonly unknown[];
    readonly podMetricsEndpoints?: readonly { readonly port: string }[];
  };
}

export const parseManifests = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.contents === null ? [] : [document.toJS() as Manifest]));

export const manifestsOf = (example: string): readonly Manifest[] =>
  parseManifests(readFileSync(join(renderedDir, `${example}.yaml`), "utf8"));

export const byExample = renderedExamples.map((example) => [example, manifestsOf(example)] as const);

export const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export const podOf = ({ metadata, spec }: Manifest): Pod => {
  if (!spec.template) throw new Error(`${metadata.name} has no pods`);
  return spec.template;
};

export const envOf = (pod: Pod): Readonly<Record<string, string>> =>
  Object.fromEntries(pod.spec.containers[0].env.map(({ name, value }) => [name, value ?? ""]));

export const componentOf = ({ metadata }: { readonly metadata: { readonly labels: Labels } }): string | undefined =>
  metadata.labels["app.kubernetes.io/component"];

export const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);
