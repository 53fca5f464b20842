import { bytesToHex } from '../../tlog/hex.ts';
import { abbreviated } from './format.ts';
import { copy } from './toasts.tsx';
import './hash.css';

/**
 * A hash, key fingerprint or signature, abbreviated unless `whole` is set. Hovering shows the full value, and clicking
 * copies it.
 */
export function Hash({
  value,
  what,
  length = 8,
  whole = false,
}: {
  value: Uint8Array | string;
  /** Name of the value, for screen readers and the message after copying. */
  what: string;
  length?: number;
  whole?: boolean;
}) {
  const text = typeof value === 'string' ? value : bytesToHex(value);
  const shown = whole ? text : abbreviated(text, length);
  return (
    <button
      type="button"
      class={whole ? 'hash hash-whole mono' : 'hash mono'}
      title={text}
      aria-label={`${what} ${shown}: copy`}
      onClick={(event) => {
        event.stopPropagation();
        copy(text, what);
      }}
    >
      {shown}
    </button>
  );
}
