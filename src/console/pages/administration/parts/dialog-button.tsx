import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { CallId } from '../../../../client/client.ts';
import { may } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';

/** Button that opens a dialog; hidden if the user cannot call the operation. */
export function DialogButton({
  operation,
  title,
  dialog,
}: {
  operation: CallId;
  title: string;
  dialog: (close: () => void) => ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  if (!may(operation)) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        {title}
      </Button>
      {open && dialog(() => setOpen(false))}
    </>
  );
}
