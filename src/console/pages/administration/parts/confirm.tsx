import type { ComponentChildren } from 'preact';
import type { EntryKind } from '../../../../contract/vocabulary.ts';
import { say } from '../../../ui/toasts.tsx';
import { FormDialog } from './form-dialog.tsx';
import { useSending } from './sending.ts';

/** Confirmation dialog for an action that is logged or cannot be undone. */
export function Confirm({
  title,
  action,
  danger = false,
  logged = [],
  run,
  done,
  onClose,
  children,
}: {
  title: string;
  action: string;
  danger?: boolean;
  logged?: readonly EntryKind[];
  run: () => Promise<unknown>;
  /** Message after success. */
  done: string;
  onClose: () => void;
  /** Explanation of the consequences. */
  children: ComponentChildren;
}) {
  const sending = useSending();
  return (
    <FormDialog
      title={title}
      action={action}
      danger={danger}
      logged={logged}
      sending={sending}
      onSend={() =>
        sending.send(async () => {
          await run();
          say(done);
          onClose();
        })
      }
      onClose={onClose}
    >
      {children}
    </FormDialog>
  );
}
