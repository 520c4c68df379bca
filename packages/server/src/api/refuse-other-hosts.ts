import type { FastifyInstance } from "fastify";
import { hostName } from "../auth/browser-rules.ts";
import { forbidden } from "../platform/api-error.ts";
import type { RefusalRecords } from "../resources/audit/record-refusals.ts";
import { probes } from "./health.ts";

/** A website can point its own name at this server. Then its pages reach the server, but under that name. */
export function refuseOtherHosts(
  app: FastifyInstance,
  names: readonly string[],
  refusals: Pick<RefusalRecords, "count">,
): void {
  const allowed = new Set(names);
  app.addHook("onRequest", (request, _, done) => {
    const host = hostName(request.headers.host ?? "");
    if (allowed.has(host) || probes.includes(request.routeOptions.url ?? "")) return done();
    const refusal = forbidden(
      `This server does not answer for the host ${JSON.stringify(host)}. Use ${names.join(" or ")}, or let the operator add the name to PERCH_ALLOWED_HOSTS.`,
    );
    const { operation } = request.routeOptions.config;
    if (operation) refusals.count(operation, refusal);
    done(refusal);
  });
}
