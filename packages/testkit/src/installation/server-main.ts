import { join } from "node:path";

/** The file that tests start as the server: its source, or the bundle that `pnpm verify` makes of it. */
export const serverMain = process.env.TEST_SERVER_MAIN ?? join(import.meta.dirname, "../../../server/src/main.ts");
