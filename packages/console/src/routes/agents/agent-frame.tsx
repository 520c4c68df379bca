import { Outlet } from "@tanstack/react-router";

export const AgentFrame = () => <Outlet />;
