import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import type { AskedProps } from './asked.ts';
import { Choices } from './choices.tsx';
import { type Verdict, verdictOptions } from './verdict-options.ts';

/** Resolves, with what was found: digits choose, enter confirms. */
export function ResolveDialog({ what, asked: { rows, typed, failure }, onDone, onClose }: AskedProps) {
  const first = rows[0]?.attributes;
  const [verdict, setVerdict] = useState<Verdict | 'none'>(
    typed === undefined ? (rows.length === 1 && first?.verdict) || 'none' : typed.verdict || 'none',
  );
  const [note, setNote] = useState(typed?.note ?? '');
  // A verdict that is in the log is replaced by another override alone: here it stays.
  const overridden = rows.length === 1 && first?.override !== undefined;
  return (
    <Dialog title={`Resolve ${what}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onDone({
            status: 'resolved',
            ...(verdict !== 'none' && !overridden && { verdict }),
            ...(verdict === 'none' && rows.length === 1 && first?.verdict !== undefined && { verdict: '' }),
            ...(note.trim() !== '' && { note: note.trim() }),
          });
        }}
      >
        {overridden ? (
          <p>
            The verdict stays as it was overridden: {first?.verdict?.replaceAll('_', ' ')}. Press v to give
            another.
          </p>
        ) : (
          <Choices
            label="What was it?"
            options={[...verdictOptions, { value: 'none', title: 'No verdict' }]}
            value={verdict}
            onChange={setVerdict}
          />
        )}
        <Field label="Note" hint="For who looks at it again; may be left empty.">
          {(attributes) => (
            <input
              {...attributes}
              value={note}
              maxLength={10_000}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
          )}
        </Field>
        {failure !== undefined && (
          <p class="field-error" role="alert">
            {failure}
          </p>
        )}
        <div class="row">
          <Button type="submit" kind="primary" hint="enter">
            Resolve
          </Button>
          <Button onClick={onClose}>Leave it open</Button>
        </div>
      </form>
    </Dialog>
  );
}
