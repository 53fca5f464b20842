import { say, sayFailure } from './toasts.tsx';

/** Puts text where it can be pasted from, and says so. Browsers allow that over HTTPS and on this machine only. */
export function copy(text: string, what: string): void {
  if (navigator.clipboard === undefined) {
    sayFailure('Not copied', 'this browser allows it over HTTPS only');
    return;
  }
  navigator.clipboard.writeText(text).then(
    () => say(`${what} copied`),
    (error: unknown) => sayFailure('Not copied', error),
  );
}
