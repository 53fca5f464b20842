import { signal } from '@preact/signals';
import { ServiceError } from '../../errors.ts';
import { Button } from './button.tsx';
import './toasts.css';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

const shownMs = 6000;
const toasts = signal<readonly Toast[]>([]);
let last = 0;

function show(text: string, kind: Toast['kind']): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-4), { id, text, kind }];
  setTimeout(() => dismiss(id), shownMs);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Reports success in a toast. */
export const say = (text: string): void => show(text, 'done');

/** Reports a failure in a toast; `what` is the action. */
export const sayFailure = (what: string, error: unknown): void =>
  show(`${what}: ${error instanceof ServiceError ? error.message : String(error)}`, 'failed');

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <p>{text}</p>
          <Button kind="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  );
}

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
