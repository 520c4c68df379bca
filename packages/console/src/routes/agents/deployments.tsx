export const AgentDeployments = () => <p>wip</p>;
