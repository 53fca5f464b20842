import { useEffect, useRef, useState } from 'preact/hooks';
import { ServiceError } from '../../../../errors.ts';
import { answers } from '../../../state/answers.ts';
import { faultAt, faultElsewhere } from './faults.ts';

/** Returns the header that makes the service reject a change if the resource has changed since it was read. */
export const ifVersion = (version: number | undefined): { 'if-match'?: string } =>
  version === undefined ? {} : { 'if-match': `"${version}"` };

/** State of a form's request, and the function that sends it. */
export interface Sending {
  readonly busy: boolean;
  /** Runs the request unless another request of the form is running. Errors are stored for display. */
  readonly send: (work: () => Promise<unknown>) => void;
  /** Returns the error of a field. */
  readonly at: (field: string) => string | undefined;
  /** The error, if it does not concern any field of the form. */
  readonly elsewhere: string | undefined;
}

/** Returns the state of a form's request. @param fields - fields of the form that show their own errors */
export function useSending(fields: readonly string[] = []): Sending {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const shown = useRef(true);
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);
  return {
    busy,
    send: (work) => {
      if (busy) return;
      setBusy(true);
      setError(undefined);
      work()
        .catch((failure: unknown) => {
          if (shown.current) setError(failure);
          // The displayed data is outdated.
          if (failure instanceof ServiceError && failure.code === 'VERSION_MISMATCH') void answers.invalidateQueries();
        })
        .finally(() => {
          if (shown.current) setBusy(false);
        });
    },
    at: (field) => faultAt(error, field),
    elsewhere: faultElsewhere(error, fields),
  };
}
