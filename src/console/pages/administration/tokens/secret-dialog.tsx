import { useState } from 'preact/hooks';
import { Button } from '../../../ui/button.tsx';
import { Facts } from '../../../ui/detail.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { copy } from '../../../ui/toasts.tsx';
import './secret.css';

/** A new token. It is held in memory only while the dialog is open, and is not written to a URL or storage. */
export interface Secret {
  readonly token: string;
  readonly jti: string;
  readonly name: string;
  readonly owner: string;
}

/** Shows the secret of a new token once. */
export function SecretDialog({
  secret: { token, jti, name, owner },
  onClose,
}: {
  secret: Secret;
  onClose: () => void;
}) {
  const [kept, setKept] = useState(false);
  return (
    <Dialog title="New token" onClose={onClose}>
      <div class="notice notice-warning">
        <p>
          <strong>This token is shown only once.</strong> Only its hash is stored, so copy the token now.
        </p>
      </div>
      <code class="secret" tabIndex={0} aria-label="Token">
        {token}
      </code>
      <Facts
        facts={[
          ['Name', <bdi key="f">{name}</bdi>],
          ['Owner', <bdi key="o">{owner}</bdi>],
          ['ID', <code key="i">{jti}</code>],
        ]}
      />
      <p class="quiet">
        Send it as <code>Authorization: Bearer …</code>. Only the ID is ever logged.
      </p>
      <div class="row">
        <Button
          kind="primary"
          onClick={() => {
            copy(token, 'Token');
            setKept(true);
          }}
        >
          Copy
        </Button>
        <Button onClick={onClose}>{kept ? 'Close' : 'Done'}</Button>
      </div>
    </Dialog>
  );
}
