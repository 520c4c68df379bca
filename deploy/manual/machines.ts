import { execFileSync } from "node:child_process";

/** A network namespace of this machine that has an address of its own, on a network that nothing else is on. */
export interface Machine {
  readonly name: string;
  readonly namespace: string;
}

/** The addresses that the files in deploy/nginx and deploy/haproxy have. */
const addresses: Readonly<Record<string, string>> = {
  data: "10.0.0.2",
  client: "10.0.0.3",
  balancer: "10.0.0.5",
  "api-1": "10.0.0.11",
  "api-2": "10.0.0.12",
  "worker-1": "10.0.0.21",
  "worker-2": "10.0.0.22",
};
const prefix = "perch-manual-";
const hub = `${prefix}hub`;

const ip = (...args: string[]) => execFileSync("ip", args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });

export function createMachines(): Record<string, Machine> {
  ip("netns", "add", hub);
  ip("-n", hub, "link", "add", "bridge", "type", "bridge");
  ip("-n", hub, "link", "set", "bridge", "up");
  return Object.fromEntries(
    Object.entries(addresses).map(([name, address], index) => {
      const namespace = prefix + name;
      ip("netns", "add", namespace);
      ip("-n", hub, "link", "add", `port${index}`, "type", "veth", "peer", "name", "eth0", "netns", namespace);
      ip("-n", hub, "link", "set", `port${index}`, "master", "bridge", "up");
      ip("-n", namespace, "addr", "add", `${address}/24`, "dev", "eth0");
      for (const device of ["lo", "eth0"]) ip("-n", namespace, "link", "set", device, "up");
      return [name, { name, namespace }];
    }),
  );
}

export function removeMachines(): void {
  for (const namespace of ip("netns", "list")
    .split("\n")
    .map((line) => line.split(" ")[0] ?? ""))
    if (namespace.startsWith(prefix)) ip("netns", "delete", namespace);
}
