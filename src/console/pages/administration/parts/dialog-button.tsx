import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { CallId } from '../../../../client/client.ts';
import { may } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';

/** What there is to do on a view, for who may: a button that opens the dialog in which it is done. */
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
