import type { Resource } from "../resource.ts";
import { installationHandlers } from "./installation-handlers.ts";

export const installationResource = {
  name: "installation",
  tables: {},
  handlers: installationHandlers,
} as const satisfies Resource;
