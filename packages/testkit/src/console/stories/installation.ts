import { runCommand } from "../../installation/server-process.ts";
import type { ConsoleServer } from "../console-server.ts";
import type { Pages, Told } from "./told.ts";

/** A key as the operator creates it for people who run the installation. No role has `operate`, so only the operator can. */
export const createOperatorKey = (
  { database }: Pick<ConsoleServer, "database">,
  organisationId: string,
): Promise<string> =>
  runCommand({ ...database, drop: async () => undefined }, [
    ...["create-key", "--organisation", organisationId, "--operate", "--name", "On call"],
  ]);

export async function tellInstallation({ server, organisationId }: Told): Promise<Pages> {
  const apiKey = await createOperatorKey(server, organisationId);
  return {
    installation: { path: "/installation", apiKey },
    "installation-for-others": "/installation",
  };
}
