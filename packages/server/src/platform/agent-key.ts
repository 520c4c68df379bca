/** Identifies an agent: agent ids are only looked up within their organisation. */
export interface AgentKey {
  readonly organisationId: string;
  readonly agentId: string;
}
