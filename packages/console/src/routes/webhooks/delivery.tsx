export const DeliveryPage = () => <p>wip</p>;
