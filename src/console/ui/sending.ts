import { useEffect, useRef, useState } from 'preact/hooks';
import { ServiceError } from '../../errors.ts';
import { answers } from '../state/answers.ts';
import { faultAt, faultElsewhere } from './faults.ts';

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

/**
 * Returns the state of a form's request.
 *
 * @param fields - fields of the form that show their own errors
 * @param conflict - error text for an item that another user has changed since it was read
 */
export function useSending(fields: readonly string[] = [], conflict?: string): Sending {
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
    elsewhere: faultElsewhere(error, fields, conflict),
  };
}

/** Values of a form, and the state of its request. */
export interface FormState<Values> extends Sending {
  readonly values: Values;
  readonly set: (changed: Partial<Values>) => void;
  /** Returns the properties of the field's component: value, error and handler. */
  readonly field: <Name extends keyof Values & string>(
    name: Name,
  ) => { value: Values[Name]; error: string | undefined; onValue: (value: Values[Name]) => void };
}

/** Returns the state of a form. @param initial - first values, by the field of the request that each one is sent in */
export function useForm<Values extends object>(initial: Values): FormState<Values> {
  const [values, setValues] = useState(initial);
  const sending = useSending(Object.keys(initial));
  const set = (changed: Partial<Values>) => setValues((before) => ({ ...before, ...changed }));
  return {
    ...sending,
    values,
    set,
    field: (name) => ({
      value: values[name],
      error: sending.at(name),
      onValue: (value) => set({ [name]: value } as unknown as Partial<Values>),
    }),
  };
}
