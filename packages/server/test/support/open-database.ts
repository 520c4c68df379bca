import { type Database, divideConnections, openDatabase } from "../../src/db/database.ts";
import { createShares } from "../../src/fairness/shares.ts";
import { createLogger, type Logger } from "../../src/platform/logger.ts";

/** The server's database as a process opens it. */
export function openTestDatabase(url: string, connections: number, logger: Logger = createLogger("silent")): Database {
  const { of, statementMs } = createShares({
    onRefused: () => undefined,
    databaseConnections: divideConnections(connections).organisations,
  });
  return openDatabase({ url, connections, share: of.databaseTransactions, statementMs, logger });
}
