import { useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { Change } from './changes.ts';
import { NoteField } from './note-field.tsx';

export function NoteDialog({
  what,
  onDone,
  onClose,
}: {
  what: string;
  onDone: (change: Change) => void;
  onClose: () => void;
}) {
  const [note, setNote] = useState('');
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
        <div class="row">
          <Button type="submit" kind="primary" hint="ctrl enter" disabled={note.trim() === ''}>
            Note it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
