import { useEffect, useRef, useState } from 'preact/hooks';
import { ServiceError } from '../../../../errors.ts';
import { answers } from '../../../state/answers.ts';
import { faultAt, faultElsewhere } from './faults.ts';

/** Something that is sent to the service, and how that went. */
export interface Sending {
  readonly busy: boolean;
  /** Sends, unless that goes on already. What fails is kept, to be said where it belongs. */
  readonly send: (work: () => Promise<unknown>) => void;
  /** Why this field is refused. */
  readonly at: (field: string) => string | undefined;
  /** What else went wrong. */
  readonly elsewhere: string | undefined;
}

/** @param fields - those of the form, at which faults can be said */
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
          // What is shown is not what there is any more.
          if (failure instanceof ServiceError && failure.code === 'VERSION_MISMATCH')
            void answers.invalidateQueries();
        })
        .finally(() => {
          if (shown.current) setBusy(false);
        });
    },
    at: (field) => faultAt(error, field),
    elsewhere: faultElsewhere(error, fields),
  };
}
