import { createShares } from "../../src/fairness/shares.ts";
import { createRedactors } from "../../src/outbound/secrets/redactor.ts";

const shares = createShares({ onRefused: () => undefined, databaseConnections: 1 });

/** With a thread of its own, which starts when a long answer is searched. */
export const createRedactor = createRedactors({
  processorTime: shares.of.processorTime,
  onWorked: () => undefined,
});
