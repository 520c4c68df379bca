export const SecondFactor = () => <p>wip</p>;
