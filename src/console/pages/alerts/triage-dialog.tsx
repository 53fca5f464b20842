import { useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, FormButtons, FormError, TextField } from '../../ui/form.tsx';
import type { DialogRequest, TriageDialogProps } from './asked.ts';
import type { Change } from './changes.ts';
import { Choices } from './choices.tsx';
import { NoteField } from './note-field.tsx';
import type { AlertRow } from './question.ts';
import { SilenceDialog } from './silence-dialog.tsx';
import { type Everything, nameOf } from './target.ts';
import { type Verdict, VerdictDialog, verdictOptions } from './verdict-dialog.tsx';

export function TriageDialog({
  request,
  everything,
  onDone,
  onSuppress,
  onClose,
}: {
  request: DialogRequest;
  everything: Everything | undefined;
  onDone: (change: Change) => void;
  onSuppress: (rows: readonly AlertRow[]) => void;
  onClose: () => void;
}) {
  const { kind, rows } = request;
  const what = nameOf(request.target);
  const shared = { what, request, onDone, onClose };
  if (kind === 'resolve') return <ResolveDialog {...shared} />;
  if (kind === 'verdict') return <VerdictDialog {...shared} />;
  if (kind === 'note') return <NoteDialog {...shared} />;
  if (kind === 'archive') return <ArchiveDialog {...shared} />;
  // A single alert is the only target, even while all alerts are selected.
  const left = everything === undefined || rows.length < 2 ? 0 : everything.total - rows.length;
  return <SilenceDialog what={what} rows={rows} left={left} onSuppress={onSuppress} onClose={onClose} />;
}

/** Dialog to confirm archiving, which cannot be undone. */
function ArchiveDialog({ what, request: { target, failure }, onDone, onClose }: TriageDialogProps) {
  const isOne = 'rows' in target && target.rows.length === 1;
  return (
    <Dialog title={`Archive ${what}?`} onClose={onClose}>
      <p>
        This cannot be undone. Archived alerts can be viewed and exported, but not reopened.
        {!isOne && ' Only resolved and suppressed alerts will be archived; others will not change.'}
      </p>
      <FormError>{failure}</FormError>
      <div class="row">
        <Button kind="danger" onClick={() => onDone({ status: 'archived' })}>
          Archive {isOne ? 'alert' : what}
        </Button>
        <Button autofocus onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}

function NoteDialog({ what, request: { draft, failure }, onDone, onClose }: TriageDialogProps) {
  const [note, setNote] = useState(draft?.note ?? '');
  const form = useRef<HTMLFormElement>(null);
  return (
    <Dialog title={`Note on ${what}`} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (note.trim() !== '') onDone({ note: note.trim() });
        }}
      >
        <NoteField value={note} onValue={setNote} onSend={() => form.current?.requestSubmit()} />
        <FormError>{failure}</FormError>
        <div class="row">
          <Button type="submit" kind="primary" hint="ctrl enter" disabled={note.trim() === ''}>
            Add note
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Dialog to resolve alerts: digit keys choose the verdict, Enter confirms. */
function ResolveDialog({ what, request: { rows, draft, failure }, onDone, onClose }: TriageDialogProps) {
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
