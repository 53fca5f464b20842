import { say, sayFailure } from '../../ui/toasts.tsx';

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

/** Saves text as a file of the user. */
export function save(name: string, text: string, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
