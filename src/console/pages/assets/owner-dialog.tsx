import { useState } from 'preact/hooks';
import { maxLineLength } from '../../../contract/vocabulary.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { number } from '../../ui/format.ts';

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
    <Dialog title={`Owner of ${number(count)} ${count === 1 ? 'asset' : 'assets'}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onOwner(owner.trim());
        }}
      >
        <Field label="Owner" hint="Person or team responsible. Leave empty to remove the owner.">
          {(attributes) => (
            <input
              {...attributes}
              autofocus
              value={owner}
              maxLength={maxLineLength}
              autocomplete="off"
              onInput={(event) => setOwner(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="row">
          <Button type="submit" kind="primary">
            {owner.trim() === '' ? 'Remove owner' : 'Set owner'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
