/**
 * Shown in a form that was not saved because another user saved first. Fields that this user has not touched show the other user's values.
 */
export const ChangedMeanwhile = ({ what }: { readonly what: string }) => (
  <p role="alert" className="rounded border border-warning bg-warning-soft px-3 py-2 text-table">
    The {what} has changed since you opened this form. The fields that you did not change now show the new values. Save
    again to apply your changes, or cancel.
  </p>
);
