import { ServiceError } from '../../../errors.ts';
import { FormError } from '../../ui/form.tsx';

/** Shows why an action failed. */
export function Refused({ error, what }: { error: unknown; what: string }) {
  if (error === undefined) return null;
  const isOlder = error instanceof ServiceError && error.code === 'VERSION_MISMATCH';
  const text = error instanceof ServiceError ? error.message : String(error);
  return (
    <FormError>
      {what}: {isOlder ? 'another user changed it. Close this dialog, review the asset and try again.' : text}
    </FormError>
  );
}
