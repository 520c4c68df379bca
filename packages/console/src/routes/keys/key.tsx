export const KeyPage = () => <p>wip</p>;
