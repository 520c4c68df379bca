import { Page } from "../parts/page.tsx";

export const SignIn = () => (
  <Page title="Sign in">
    <p className="p-4 text-muted">Sign in</p>
  </Page>
);
