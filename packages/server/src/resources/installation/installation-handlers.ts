import type { Installation, InstallationOperationKey } from "@perch/contract";
import { forbidden } from "../../platform/api-error.ts";
import { single } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";

interface InstallationHandlerDeps {
  readonly readInstallation: () => Promise<Installation>;
}

export const installationHandlers = ({ readInstallation }: InstallationHandlerDeps) =>
  ({
    "GET /v1/installation": async (_, { caller }) => {
      if (caller.onlyAgentId !== null)
        throw forbidden("This key belongs to one agent: the installation is not for it.");
      return single(await readInstallation());
    },
  }) satisfies Handlers<InstallationOperationKey>;
