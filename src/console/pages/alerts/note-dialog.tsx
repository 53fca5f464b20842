import { useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/form.tsx';
import type { TriageDialogProps } from './asked.ts';
import { NoteField } from './note-field.tsx';

export function NoteDialog({ what, request: { draft, failure }, onDone, onClose }: TriageDialogProps) {
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
