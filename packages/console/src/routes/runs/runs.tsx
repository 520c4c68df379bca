import { Outlet } from "@tanstack/react-router";

export const Runs = () => <Outlet />;
