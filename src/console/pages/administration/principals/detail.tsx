import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { href } from '../../../state/address.ts';
import { may, me } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';
import { words } from '../../../ui/format.ts';
import { Detail, Facts, Section } from '../../../ui/split.tsx';
import { Time } from '../../../ui/time.tsx';
import { Value } from '../../../ui/value.tsx';
import { closeDetail } from '../parts/opened.ts';
import { IssueToken } from '../tokens/issue-dialog.tsx';
import { ChangePrincipal, ResetPassword, SwitchPrincipal } from './change-dialogs.tsx';

type Asked = 'change' | 'switch' | 'password' | 'token';

/** One of them, and what leads on from there: tokens and sessions, what was done. */
export function PrincipalDetail({ principal }: { principal: ListItem<'listPrincipals'> }) {
  const [asked, setAsked] = useState<Asked | undefined>();
  const { id, attributes } = principal;
  const { name, kind, roles, status, created_at, last_login_at } = attributes;
  const done = () => setAsked(undefined);
  const isMe = me.value?.id === id;
  return (
    <Detail
      title={
        <>
          <bdi>{name}</bdi>
          {isMe && <span class="quiet"> (you)</span>}
        </>
      }
      onClose={closeDetail}
      actions={
        may('updatePrincipal') && (
          <>
            <Button onClick={() => setAsked('change')}>Change</Button>
            {kind === 'user' && <Button onClick={() => setAsked('password')}>Set a password</Button>}
            {status === 'active' && <Button onClick={() => setAsked('token')}>Issue a token</Button>}
            <Button kind={status === 'active' ? 'danger' : 'normal'} onClick={() => setAsked('switch')}>
              {status === 'active' ? 'Suspend' : 'Let in again'}
            </Button>
          </>
        )
      }
    >
      <Facts
        facts={[
          ['Kind', words(kind)],
          ['Status', status],
          ['Roles', roles.join(', ') || 'none'],
          ['Since', <Time key="s" at={created_at} as="exact" />],
          [
            'Last login',
            last_login_at === undefined ? 'never' : <Time key="l" at={last_login_at} as="exact" />,
          ],
          ['Id', <Value key="i" value={id} />],
        ]}
      />
      <Section title="What belongs to it">
        <ul class="stack admin-links">
          <li>
            <a href={href('administration', { view: 'tokens', principal_id: id, status: 'active' })}>
              Its sessions and tokens
            </a>
          </li>
          <li>
            <a href={href('administration', { view: 'audit', range: '7d', actor: id })}>What it did</a>, in
            the audit
          </li>
          <li>
            <a href={href('administration', { view: 'audit', range: '7d', resource_id: id })}>
              What was done to it
            </a>
            , in the audit
          </li>
        </ul>
      </Section>
      {asked === 'change' && <ChangePrincipal principal={principal} onClose={done} />}
      {asked === 'switch' && <SwitchPrincipal principal={principal} onClose={done} />}
      {asked === 'password' && <ResetPassword principal={principal} onClose={done} />}
      {asked === 'token' && <IssueToken principal={principal} onClose={done} />}
    </Detail>
  );
}
