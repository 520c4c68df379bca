/** The service names of our workflows in the engine. Its journals contain them: never change them. */
export const agentRuns = "AgentRuns";
export const agentSessions = "AgentSessions";
export const deploymentQueues = "DeploymentQueues";
export const canaryWatches = "CanaryWatches";
export const memoryEmbeddings = "MemoryEmbeddings";
export const memoryClears = "MemoryClears";
export const webhookDeliveries = "WebhookDeliveries";
export const userErasures = "UserErasures";
export const webhookSweep = "WebhookSweep";
export const housekeeping = "Housekeeping";
export const reconcile = "Reconcile";
/** The one key of objects that exist once in a cell. */
export const cellKey = "cell";
