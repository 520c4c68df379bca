import { type Nodes, type Stops, startNodes } from "../release-nodes.ts";
import { type PaymentServer, startPaymentServer, startPlayedModel } from "./outside-servers.ts";

export interface Installation extends Nodes {
  readonly payments: PaymentServer;
  readonly model: Awaited<ReturnType<typeof startPlayedModel>>;
}

/** Two API nodes, two workers, as many engine nodes, and what runs call. What is started goes to `stops`. */
export async function startInstallation(stops: Stops, engineNodes: 1 | 3): Promise<Installation> {
  const model = await startPlayedModel();
  stops.push(model.close);
  const payments = await startPaymentServer();
  stops.push(payments.close);
  const nodes = await startNodes(stops, engineNodes, () => ({ PERCH_SCRIPT_MODEL_URL: model.url }));
  return { ...nodes, payments, model };
}
