export const Security = () => <p>wip</p>;
