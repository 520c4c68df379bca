import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy } from "react";
import { agentQuery } from "../../api/agents-queries.ts";
import { Working } from "../../parts/working.tsx";
import { loadSchema } from "./definition/definition-schema.ts";

const route = getRouteApi("/signed-in/agents/$agent/definition");

// Includes the YAML parser, which no other page needs.
const DefinitionEditor = lazy(async () => ({
  default: (await import("./definition/definition-editor.tsx")).DefinitionEditor,
}));

export function Definition() {
  const { agent: ref } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(ref));
  const { data: schema } = useQuery({
    queryKey: ["agent-schema"],
    queryFn: loadSchema,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return schema ? (
    <DefinitionEditor key={agent.id} agentRef={ref} agent={agent} schema={schema} />
  ) : (
    <Working what="the definition" />
  );
}
