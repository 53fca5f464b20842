import { ServiceError } from '../../../errors.ts';

/** Why something was not done. */
export function Refused({ error, what }: { error: unknown; what: string }) {
  if (error === undefined) return null;
  const isOlder = error instanceof ServiceError && error.code === 'VERSION_MISMATCH';
  const text = error instanceof ServiceError ? error.message : String(error);
  return (
    <p class="field-error" role="alert">
      {what}: {isOlder ? 'somebody changed it meanwhile. Close this, look again and decide.' : text}
    </p>
  );
}
