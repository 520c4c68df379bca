export const ConnectionPage = () => <p>wip</p>;
