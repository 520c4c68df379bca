export const DeploymentPage = () => <p>wip</p>;
