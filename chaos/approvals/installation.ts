import { type Nodes, type Stops, startNodes } from "../release-nodes.ts";
import { type PaymentServer, startPaymentServer, startPlayedModel } from "./outside-servers.ts";

export interface Installation extends Nodes {
  readonly payments: PaymentServer;
  readonly model: Awaited<ReturnType<typeof startPlayedModel>>;
}

/**
 * Starts two API nodes, two workers, as many engine nodes, and the servers that runs call. Adds the functions that stop
 * them to `stops`.
 */
export async function startInstallation(stops: Stops, engineNodes: 1 | 3): Promise<Installation> {
  const model = await startPlayedModel();
  stops.push(model.close);
  const payments = await startPaymentServer();
  stops.push(payments.close);
  const nodes = await startNodes(stops, engineNodes, () => ({ PERCH_SCRIPT_MODEL_URL: model.url }));
  return { ...nodes, payments, model };
}
