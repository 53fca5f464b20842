import { useState } from 'preact/hooks';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, FormButtons, FormError } from '../../ui/form.tsx';
import type { TriageDialogProps } from './asked.ts';
import { Choices } from './choices.tsx';
import { type Verdict, verdictOptions } from './verdict-options.ts';

/** Dialog to resolve alerts: digit keys choose the verdict, Enter confirms. */
export function ResolveDialog({ what, request: { rows, draft, failure }, onDone, onClose }: TriageDialogProps) {
  const first = rows[0]?.attributes;
  const [verdict, setVerdict] = useState<Verdict | 'none'>(
    draft === undefined ? (rows.length === 1 && first?.verdict) || 'none' : draft.verdict || 'none',
  );
  const [note, setNote] = useState(draft?.note ?? '');
  // A logged verdict can only be replaced by another override, which this dialog does not offer.
  const overridden = rows.length === 1 && first?.override !== undefined;
  return (
    <Dialog title={`Resolve ${what}`} onClose={onClose}>
      <Form
        onSubmit={() =>
          onDone({
            status: 'resolved',
            ...(verdict !== 'none' && !overridden && { verdict }),
            ...(verdict === 'none' && rows.length === 1 && first?.verdict !== undefined && { verdict: '' }),
            ...(note.trim() !== '' && { note: note.trim() }),
          })
        }
      >
        {overridden ? (
          <p>
            Keeps the verdict that overrides the model: {first?.verdict?.replaceAll('_', ' ')}. Press v to change it.
          </p>
        ) : (
          <Choices
            label="Verdict"
            options={[...verdictOptions, { value: 'none', title: 'No verdict' }]}
            value={verdict}
            onChange={setVerdict}
          />
        )}
        <TextField label="Note" hint="Optional." value={note} maxLength={10_000} onValue={setNote} />
        <FormError>{failure}</FormError>
        <FormButtons action="Resolve" hint="enter" onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
