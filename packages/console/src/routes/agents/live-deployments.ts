import type { Deployment } from "@perch/sdk";

/** The deployments that serve the requests of one environment. */
export interface ServedEnvironment {
  readonly environment: string;
  readonly live: Deployment | undefined;
  readonly canary: Deployment | undefined;
}

const isCanary = ({ traffic_percent }: Deployment): boolean => traffic_percent < 100;

/** `production` first, because users ask about it most; the others by name. */
export const inEnvironmentOrder = (a: string, b: string): number =>
  Number(b === "production") - Number(a === "production") || a.localeCompare(b);

export function servedEnvironments(active: readonly Deployment[]): ServedEnvironment[] {
  const names = [...new Set(active.map(({ environment }) => environment))].sort(inEnvironmentOrder);
  return names.map((environment) => {
    const here = active.filter((deployment) => deployment.environment === environment);
    return { environment, live: here.find((one) => !isCanary(one)), canary: here.find(isCanary) };
  });
}
