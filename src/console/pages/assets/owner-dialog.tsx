import { useState } from 'preact/hooks';
import { maxLineLength } from '../../../contract/vocabulary.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, FormButtons } from '../../ui/form.tsx';
import { counted } from '../../ui/format.ts';

/** Sets the owner of the selected assets. */
export function OwnerDialog({
  count,
  onOwner,
  onClose,
}: {
  count: number;
  onOwner: (owner: string) => void;
  onClose: () => void;
}) {
  const [owner, setOwner] = useState('');
  return (
    <Dialog title={`Owner of ${counted(count, 'asset')}`} onClose={onClose}>
      <Form onSubmit={() => onOwner(owner.trim())}>
        <TextField
          label="Owner"
          hint="Person or team responsible. Leave empty to remove the owner."
          autofocus
          value={owner}
          maxLength={maxLineLength}
          autocomplete="off"
          onValue={setOwner}
        />
        <FormButtons action={owner.trim() === '' ? 'Remove owner' : 'Set owner'} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
