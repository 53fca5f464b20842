import { useEffect, useState } from 'preact/hooks';
import type { RuleValidation } from '../../../../contract/resources/rule.ts';
import { ServiceError } from '../../../../errors.ts';
import { api } from '../../../state/session.ts';

/** Validation result of a rule while it is edited. */
export type Validation =
  | { readonly kind: 'asking' }
  | { readonly kind: 'good' }
  | { readonly kind: 'several'; readonly documents: number }
  | { readonly kind: 'bad'; readonly problems: RuleValidation['problems'] }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Pause in typing before validation, in milliseconds. */
const pauseMs = 350;

/** Validates the source after each pause in typing. Nothing is stored. */
export function useValidation(source: string): Validation {
  const [state, setState] = useState<Validation>({ kind: 'asking' });
  useEffect(() => {
    if (source.trim() === '') {
      setState({ kind: 'bad', problems: [{ line: 1, field: '', reason: 'The rule is empty.' }] });
      return;
    }
    setState({ kind: 'asking' });
    const given = new AbortController();
    const timer = setTimeout(() => {
      api.call('validateRule', { body: { source }, signal: given.signal }).then(
        ({ data: { valid, problems, documents } }) =>
          setState(
            !valid ? { kind: 'bad', problems } : documents > 1 ? { kind: 'several', documents } : { kind: 'good' },
          ),
        (error: unknown) => {
          if (given.signal.aborted) return;
          setState({
            kind: 'unknown',
            reason: error instanceof ServiceError ? error.message : String(error),
          });
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [source]);
  return state;
}
