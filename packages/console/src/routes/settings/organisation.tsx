export const Organisation = () => <p>wip</p>;
