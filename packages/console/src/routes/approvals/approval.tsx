export const ApprovalPage = () => <p>wip</p>;
