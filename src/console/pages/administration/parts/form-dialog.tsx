import type { ComponentChildren } from 'preact';
import type { EntryKind } from '../../../../contract/vocabulary.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Form, FormButtons, FormError } from '../../../ui/form.tsx';
import { Logged } from './logged.tsx';
import type { Sending } from './sending.ts';

/**
 * Dialog for an action: the fields, the log entries that the action causes, and errors. Without fields, the dialog asks
 * for confirmation only.
 */
export function FormDialog({
  title,
  action,
  danger = false,
  disabled = false,
  wide = false,
  logged = [],
  sending,
  onSend,
  onClose,
  children,
}: {
  title: string;
  /** Label of the submit button. */
  action: string;
  danger?: boolean;
  disabled?: boolean;
  wide?: boolean;
  /** Kinds of log entries that the action causes. */
  logged?: readonly EntryKind[];
  sending: Sending;
  onSend: () => void;
  onClose: () => void;
  children: ComponentChildren;
}) {
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <Form
        noValidate
        onSubmit={() => {
          if (!disabled) onSend();
        }}
      >
        {children}
        <Logged as={logged} />
        <FormError>{sending.elsewhere}</FormError>
        <FormButtons
          action={action}
          kind={danger ? 'danger' : 'primary'}
          busy={sending.busy}
          disabled={disabled}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
