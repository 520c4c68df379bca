import type { Deployment } from "@perch/sdk";

/** Whether it is, or was, the live deployment of its environment. A canary that was never promoted was not. */
export const wasLive = ({ traffic_percent, activated_at }: Deployment): boolean =>
  traffic_percent === 100 && activated_at !== null;

/** In the order in which they were live. One ended when the next began; the one that is live has no end. */
const inLiveOrder = (deployments: readonly Deployment[]): Deployment[] =>
  deployments.filter(wasLive).sort((a, b) => (a.ended_at ?? "9").localeCompare(b.ended_at ?? "9"));

/**
 * The deployment to which a rollback of `live` goes back. A rollback stands in the place of the deployment that it restored, so that a
 * second one goes further back. The API does not say which deployment a rollback restored: it is the one before that which it
 * replaced, or else the latest with the same version.
 */
export function previouslyLive(deployments: readonly Deployment[], live: Deployment): Deployment | undefined {
  const order = inLiveOrder(deployments);
  const restored = new Map<string, Deployment>();
  const before = (one: Deployment): Deployment | undefined => order[order.indexOf(restored.get(one.id) ?? one) - 1];
  for (const [index, one] of order.entries()) {
    const replaced = order.find(({ id }) => id === one.rollback_of);
    if (!replaced) continue;
    const usual = before(replaced);
    const target =
      usual?.version === one.version
        ? usual
        : order.slice(0, index).findLast(({ version, status }) => version === one.version && status !== "rolled_back");
    if (target) restored.set(one.id, restored.get(target.id) ?? target);
  }
  const found = order.find(({ id }) => id === live.id);
  return found && before(found);
}
