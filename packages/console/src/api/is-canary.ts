import type { Deployment } from "@perch/sdk";

/** A canary stands beside the live deployment, with less than all requests. */
export const isCanary = ({ status, traffic_percent }: Deployment): boolean =>
  status === "active" && traffic_percent < 100;
