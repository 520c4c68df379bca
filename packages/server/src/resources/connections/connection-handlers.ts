import type { ConnectionOperationKey } from "@perch/contract";
import type { Handlers } from "../handlers.ts";

const notBuilt = async (): Promise<never> => {
  throw new Error("not built yet");
};

export const connectionHandlers = () =>
  ({
    "POST /v1/agents/{agent_id}/connections": notBuilt,
    "GET /v1/agents/{agent_id}/connections": notBuilt,
    "GET /v1/agents/{agent_id}/connections/{connection_id}": notBuilt,
    "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm": notBuilt,
    "POST /v1/agents/{agent_id}/connections/{connection_id}/revoke": notBuilt,
  }) satisfies Handlers<ConnectionOperationKey>;
