import { useState } from 'preact/hooks';
import { ServiceError } from '../../errors.ts';
import { href } from '../state/address.ts';
import { endedBecause, signIn } from '../state/session.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/form.tsx';
import './sign-in.css';

/** Sign-in form. After signing in, the app shows the page that was requested. */
export function SignIn() {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | undefined>();
  const submit = async () => {
    setBusy(true);
    setRefused(undefined);
    try {
      await signIn(username, password);
    } catch (error) {
      setRefused(errorText(error));
      setPassword('');
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="sign-in" id="main">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 2 18 10 10 18 2 10z" />
          <path class="sign-in-core" d="M10 7 13 10 10 13 7 10z" />
        </svg>
        <h1>Candor</h1>
        <p class="quiet">A SIEM that can prove what it saw.</p>
        {endedBecause.value !== undefined && <p role="status">{endedBecause.value} Sign in again to continue.</p>}
        <TextField
          label="Username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
          autofocus
          value={username}
          onValue={setUsername}
        />
        <TextField
          label="Password"
          error={refused}
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onValue={setPassword}
        />
        <Button type="submit" kind="primary" busy={busy}>
          Sign in
        </Button>
        <p class="quiet">
          The transparency log is public: <a href={href('transparency')}>view it without signing in</a>.
        </p>
      </form>
    </main>
  );
}

function errorText(error: unknown): string {
  if (!(error instanceof ServiceError)) return String(error);
  switch (error.code) {
    case 'UNAUTHENTICATED':
      return 'Wrong username or password.';
    case 'RATE_LIMITED':
      return 'Too many failed attempts. Wait a minute, then try again.';
    case 'UNAVAILABLE':
      return 'Cannot reach the service.';
    default:
      return error.message;
  }
}
