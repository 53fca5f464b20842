import { useState } from 'preact/hooks';
import { Button } from '../../../ui/button.tsx';
import { copy } from '../../../ui/copy.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/split.tsx';
import './secret.css';

/** What is shown of a token this once. It is kept here and nowhere else: no address, no storage. */
export interface Secret {
  readonly token: string;
  readonly jti: string;
  readonly name: string;
  readonly owner: string;
}

/** The secret of a token, until it is closed. */
export function SecretDialog({
  secret: { token, jti, name, owner },
  onClose,
}: {
  secret: Secret;
  onClose: () => void;
}) {
  const [kept, setKept] = useState(false);
  return (
    <Dialog title="The token" onClose={onClose}>
      <div class="admin-note admin-warning">
        <p>
          <strong>It is shown this once.</strong> Only a hash of it is kept: nobody can show it again. Copy it
          now to where it is used, and nowhere else.
        </p>
      </div>
      <code class="secret" tabIndex={0} aria-label="The token">
        {token}
      </code>
      <Facts
        facts={[
          ['For', <bdi key="f">{name}</bdi>],
          ['Of', <bdi key="o">{owner}</bdi>],
          ['Identifier', <code key="i">{jti}</code>],
        ]}
      />
      <p class="quiet">
        It is sent as <code>Authorization: Bearer …</code>. The identifier is all of it that is ever logged.
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
        <Button onClick={onClose}>{kept ? 'Close' : 'I have it: close'}</Button>
      </div>
    </Dialog>
  );
}
