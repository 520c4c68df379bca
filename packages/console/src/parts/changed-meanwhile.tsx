/**
 * Shown in a form that was not saved because another user saved first. Fields that this user has not touched show the other user's values.
 */
export const ChangedMeanwhile = ({ what }: { readonly what: string }) => (
  <p role="alert" className="rounded border border-warning bg-warning-soft px-3 py-2 text-table">
    The {what} has changed since you opened this form. What you left alone here now shows what it is. Save again to put
    your changes over it, or cancel.
  </p>
);
