import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../../state/answers.ts';
import { theme, zone } from '../../../state/preferences.ts';
import { goodToken, signOut } from '../../../state/session.ts';
import { Button, Choice } from '../../../ui/button.tsx';
import { Facts } from '../../../ui/detail.tsx';
import { zoneName } from '../../../ui/format.ts';
import { Answered } from '../../../ui/states.tsx';
import { sayFailure } from '../../../ui/toasts.tsx';
import { Time, Value } from '../../../ui/values.tsx';
import { ChangePassword } from './change-password.tsx';
import { sessionOf } from './session-claims.ts';
import './account.css';

/** Account view: the user, the session, the password, and display preferences. */
export default function Account() {
  return (
    <div class="admin-scrolls" tabIndex={0} role="group" aria-label="Account: contents">
      <div class="account">
        <div class="account-column">
          <Me />
          <Session />
          <Appearance />
        </div>
        <section class="panel">
          <h2>Password</h2>
          <ChangePassword />
        </section>
      </div>
    </div>
  );
}

function Me() {
  const who = useAnswer('whoAmI', {});
  return (
    <section class="panel">
      <h2>Profile</h2>
      <Answered of={who} rows={4}>
        {({ data: { id, attributes } }) => (
          <Facts
            facts={[
              ['Name', <bdi key="n">{attributes.name}</bdi>],
              ['Roles', attributes.roles.join(', ') || 'none'],
              ['Created', <Time key="s" at={attributes.created_at} as="exact" />],
              ['Last login', attributes.last_login_at && <Time key="l" at={attributes.last_login_at} as="exact" />],
              ['ID', <Value key="i" value={id} />],
            ]}
          />
        )}
      </Answered>
    </section>
  );
}

function Session() {
  const [session, setSession] = useState<{ jti?: string; expiresAt: number } | undefined>();
  useEffect(() => {
    goodToken().then(
      ({ token, expiresAt }) => setSession({ ...sessionOf(token), expiresAt }),
      () => undefined,
    );
  }, []);
  return (
    <section class="panel stack">
      <h2>This session</h2>
      <Facts
        facts={[
          ['Session ID', session?.jti && <Value key="j" value={session.jti} />],
          ['Token expires', session && <Time key="e" at={session.expiresAt} />],
        ]}
      />
      <p class="quiet">The session is renewed automatically while you use the console.</p>
      <div class="row">
        <Button onClick={() => void signOut().catch((error) => sayFailure('Sign-out', error))}>Sign out</Button>
      </div>
    </section>
  );
}

function Appearance() {
  return (
    <section class="panel stack">
      <h2>Appearance</h2>
      <div class="row">
        <Choice
          label="Theme"
          options={[
            { value: 'system', title: 'System' },
            { value: 'dark', title: 'Dark' },
            { value: 'light', title: 'Light' },
          ]}
          value={theme.value}
          onChange={(next) => {
            theme.value = next;
          }}
        />
        <Choice
          label="Time zone"
          options={[
            { value: 'local', title: 'Local time' },
            { value: 'utc', title: 'UTC' },
          ]}
          value={zone.value}
          onChange={(next) => {
            zone.value = next;
          }}
        />
        <span class="quiet">Times are shown in {zoneName(Date.now())}.</span>
      </div>
      <p class="quiet">Saved in this browser.</p>
    </section>
  );
}
