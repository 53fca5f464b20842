import { signal } from '@preact/signals';
import { ServiceError } from '../../errors.ts';
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
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, shownMs);
}

/** Says that something was done. */
export const say = (text: string): void => show(text, 'done');

/** Says what failed; `what` is what was to be done. */
export const sayFailure = (what: string, error: unknown): void =>
  show(`${what}: ${error instanceof ServiceError ? error.message : String(error)}`, 'failed');

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <p key={id} class={`toast toast-${kind}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
