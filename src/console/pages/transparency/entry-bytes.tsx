import { useState } from 'preact/hooks';
import { Choice } from '../../ui/button.tsx';
import { bytes as bytesText } from '../../ui/format.ts';
import { hexDump, withoutTricks } from '../../ui/plain-text.ts';
import { differenceOf } from './tamper.ts';
import './entry-bytes.css';

const forms = [
  { value: 'pretty', title: 'Readable' },
  { value: 'exact', title: 'Exact bytes' },
  { value: 'hex', title: 'Hexadecimal' },
] as const;
type Form = (typeof forms)[number]['value'];

/**
 * The bytes of an entry: pretty-printed, as the text that was hashed, or as a hex dump. Differences from
 * `original` are marked.
 */
export function EntryBytes({ bytes, original }: { bytes: Uint8Array; original?: Uint8Array }) {
  const [form, setForm] = useState<Form>('pretty');
  const difference = original === undefined ? undefined : differenceOf(original, bytes);
  // Changes are shown in the exact bytes.
  const shown = difference !== undefined && form === 'pretty' ? 'exact' : form;
  return (
    <div class="stack">
      <div class="row spread">
        <Choice label="Format" options={forms} value={shown} onChange={setForm} />
        <span class="quiet mono">{bytesText(bytes.length)}</span>
      </div>
      <pre class="entry-bytes" tabIndex={0} role="group" aria-label="Entry bytes">
        <bdi>
          {shown === 'pretty' ? (
            readable(bytes)
          ) : shown === 'exact' ? (
            <Marked bytes={bytes} {...(difference && { marked: difference })} />
          ) : (
            hexDump(bytes)
          )}
        </bdi>
      </pre>
    </div>
  );
}

function Marked({ bytes, marked }: { bytes: Uint8Array; marked?: { from: number; to: number } }) {
  if (marked === undefined) return <>{textOf(bytes)}</>;
  return (
    <>
      {textOf(bytes.subarray(0, marked.from))}
      <mark class="entry-changed">{textOf(bytes.subarray(marked.from, marked.to)) || '⌫'}</mark>
      {textOf(bytes.subarray(marked.to))}
    </>
  );
}

const decoded = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
const textOf = (bytes: Uint8Array): string => withoutTricks(decoded(bytes));

/** Returns indented JSON; other text unchanged. */
function readable(bytes: Uint8Array): string {
  const text = decoded(bytes);
  try {
    return withoutTricks(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return withoutTricks(text);
  }
}
