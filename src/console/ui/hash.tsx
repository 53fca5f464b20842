import { bytesToHex } from '../../tlog/hex.ts';
import { copy } from './copy.ts';
import { abbreviated } from './format.ts';
import './hash.css';

/** A hash, a key's fingerprint or a signature: its beginning and its end, all of it on hover; a press copies all. */
export function Hash({
  value,
  what,
  length = 8,
  whole = false,
}: {
  value: Uint8Array | string;
  /** What it is, for who hears it and for what is said when it is copied. */
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
