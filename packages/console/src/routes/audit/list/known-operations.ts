/** What the audit log calls its operations, so that the filter suggests none that no entry can have: `spec/audit-operations.test.ts` compares. */
export const knownOperations: readonly string[] = [
  ...["createAgent", "updateAgent", "deleteAgent", "pauseAgent", "resumeAgent"],
  ...["createAgentSecret", "updateAgentSecret", "deleteAgentSecret"],
  ...["createDeployment", "updateDeployment", "promoteDeployment", "abortDeployment", "rollbackDeployment"],
  ...["approveApproval", "rejectApproval", "answerApproval"],
  ...["createConnection", "confirmConnection", "revokeConnection"],
  ...["addMemory", "deleteMemory", "clearMemory", "eraseUser"],
  ...["createWebhook", "updateWebhook", "deleteWebhook", "rotateWebhookSecret", "testWebhook"],
  ...["redeliver", "redeliverFailed"],
  ...["createKey", "updateKey", "rotateKey", "revokeKey", "revokeLeakedKey"],
  ...["beginMfa", "enrolMfa", "confirmMfa", "stepUp", "removeMfa"],
  ...["createProvider", "updateProvider", "deleteProvider"],
  ...["createSecret", "updateSecret", "deleteSecret"],
  ...["createConsoleSession", "createConsoleLink", "endConsoleSession"],
  // What Perch does by itself.
  ...["recheckPerson", "rollBackCanary"],
  // Commands of operators.
  ...["begin-mfa", "create-key", "create-organisation", "reset-agent-security", "set-tier"],
].toSorted((one, other) => one.localeCompare(other));
