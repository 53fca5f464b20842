import type { ComponentChildren } from 'preact';
import type { EntryKind } from '../../../../contract/vocabulary.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Form, FormButtons, FormError } from '../../../ui/form.tsx';
import type { Sending } from './sending.ts';

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
    <div class="admin-note">
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
