import { say, sayFailure } from './toasts.tsx';

/** Copies text to the clipboard and reports the result. Browsers allow this only over HTTPS and on localhost. */
export function copy(text: string, what: string): void {
  if (navigator.clipboard === undefined) {
    sayFailure('Not copied', 'browsers allow copying only over HTTPS and on localhost');
    return;
  }
  navigator.clipboard.writeText(text).then(
    () => say(`${what} copied`),
    (error: unknown) => sayFailure('Not copied', error),
  );
}
