export const OneMemory = () => <p>wip</p>;
