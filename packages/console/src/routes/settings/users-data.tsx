export const UsersData = () => <p>wip</p>;
