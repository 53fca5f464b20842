import type { ComponentChildren } from 'preact';
import type { EntryKind } from '../../contract/vocabulary.ts';
import { Dialog } from './dialog.tsx';
import { Form, FormButtons, FormError } from './form.tsx';
import { type Sending, useSending } from './sending.ts';
import { say } from './toasts.tsx';

/** The contents that all readers of the log can see, by kind of log entry. */
const contents: Readonly<Partial<Record<EntryKind, string>>> = {
  'detection.reloaded':
    'title, level and state of what changed, and the SHA-256 of its source, but not the source itself',
  'principal.provisioned': 'name, kind and roles of the new principal',
  'principal.role_changed': 'the old and new roles',
  'principal.status_changed': 'the new status',
  'token.issued': 'the ID of the token only',
  'token.revoked': 'the ID of each revoked token only',
  'policy.rule_edited': 'old and new version of each changed rule',
  'policy.reloaded': 'old and new version of each changed rule',
  'key.rotated': 'purpose, old key, new key and its fingerprint',
  'key.retired': 'the retired key',
  'key.revoked': 'the revoked key, your reason, and the new key',
  'backup.created': 'size, SHA-256 of the manifest, and tree head of the backed-up log',
};

/** Notice before an action: the log entries that the action causes, and their contents. */
export function Logged({ as: kinds }: { as: readonly EntryKind[] }) {
  if (kinds.length === 0) return null;
  return (
    <div class="notice">
      <p>
        <strong>This will be recorded in the public log</strong>, permanently and with your identity:
      </p>
      <ul>
        {kinds.map((kind) => (
          <li key={kind}>
            <code>{kind}</code>
            {contents[kind] !== undefined && <span class="quiet"> contains {contents[kind]}.</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ActionDialogProps {
  readonly title: string;
  /** Label of the submit button. */
  readonly action: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly wide?: boolean;
  /** Kinds of log entries that the action causes. */
  readonly logged?: readonly EntryKind[];
  /** State of the request, if the fields show their own errors. */
  readonly sending?: Sending;
  /** Error text for an item that another user has changed since it was read. */
  readonly conflict?: string;
  /** Sends the request; its errors are shown in the dialog. */
  readonly run: () => Promise<unknown>;
  /** Message after success. */
  readonly done?: string;
  /** Called after success; closes the dialog by default. */
  readonly onDone?: () => void;
  readonly onClose: () => void;
  /** Fields, or an explanation of the consequences. */
  readonly children: ComponentChildren;
}

/**
 * Dialog for an action: the fields, the log entries that the action causes, and errors. Without fields, the dialog asks
 * for confirmation only.
 */
export function ActionDialog(props: ActionDialogProps) {
  const { title, action, danger, disabled = false, wide = false, logged = [], run, done, onClose, children } = props;
  const { onDone = onClose } = props;
  const own = useSending([], props.conflict);
  const sending = props.sending ?? own;
  const send = () =>
    sending.send(async () => {
      await run();
      if (done !== undefined) say(done);
      onDone();
    });
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <Form
        noValidate
        onSubmit={() => {
          if (!disabled) send();
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
