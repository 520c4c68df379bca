export const EventPage = () => <p>wip</p>;
