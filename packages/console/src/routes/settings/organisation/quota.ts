import type { Me } from "@perch/sdk";
import { formatBytes } from "../../../parts/visible-text.ts";

type Usage = NonNullable<Me["usage"]>;
type Use = Usage[keyof Usage];

/** How close a value is to its limit: a warning from 80 % on, and more is refused at the limit. */
export type Closeness = "roomy" | "close" | "full";

export function closenessOf({ used, limit }: Use): Closeness {
  if (used >= limit) return "full";
  return used >= limit * 0.8 ? "close" : "roomy";
}

/** Between 0 and 1. */
export const shareOf = ({ used, limit }: Use): number => (limit === 0 ? 1 : Math.min(used / limit, 1));

const count = new Intl.NumberFormat("en");

export const formatCount = (value: number): string => count.format(value);

export const formatUse = (name: keyof Usage, value: number): string =>
  name.endsWith("_bytes") ? formatBytes(value) : formatCount(value);

export const closenessWords: Record<Closeness, string | undefined> = {
  roomy: undefined,
  close: "close to the limit",
  full: "limit reached",
};

/** The counted things, and what happens at the limit of each. */
export const quotas: readonly { readonly name: keyof Usage; readonly title: string; readonly hint: string }[] = [
  { name: "agents", title: "Agents", hint: "Deployed or not." },
  { name: "keys", title: "API keys", hint: "Active keys." },
  { name: "webhooks", title: "Webhooks", hint: "In the organisation and its agents." },
  { name: "providers", title: "Model providers", hint: "Providers that the organisation added." },
  { name: "secrets", title: "Secrets", hint: "In the organisation and its agents." },
  {
    name: "waiting_runs",
    title: "Waiting runs",
    hint: "Runs that wait for a person, or for an earlier turn that does.",
  },
  { name: "connections", title: "Connected accounts", hint: "Accounts that users connected to tools." },
  { name: "memory_bytes", title: "Memory", hint: "Texts and metadata of memories." },
  { name: "record_bytes", title: "Records", hint: "Messages, events and logs of the last 30 days." },
];
