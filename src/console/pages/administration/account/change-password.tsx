import { useState } from 'preact/hooks';
import { change } from '../../../state/answers.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { say } from '../../../ui/toasts.tsx';
import { Logged } from '../parts/logged.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { useSending } from '../parts/sending.ts';

/** Form to change the signed-in user's password. */
export function ChangePassword() {
  const [before, setBefore] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const [asked, setAsked] = useState(false);
  const sending = useSending(['current_password', 'new_password']);
  const differs = again !== next ? 'Passwords do not match.' : undefined;
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setAsked(true);
        if (differs !== undefined || before === '' || next === '') return;
        sending.send(async () => {
          await change('changePassword', { body: { current_password: before, new_password: next } }, [
            'listTokens',
          ]);
          setBefore('');
          setNext('');
          setAgain('');
          setAsked(false);
          say('Password changed. Your other sessions have been signed out.');
        });
      }}
    >
      <Field label="Current password" error={sending.at('current_password')}>
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            autocomplete="current-password"
            maxLength={1024}
            value={before}
            onInput={(event) => setBefore(event.currentTarget.value)}
          />
        )}
      </Field>
      <NewPassword label="New password" value={next} error={sending.at('new_password')} onValue={setNext} />
      <NewPassword
        label="Confirm new password"
        hint=""
        value={again}
        error={asked ? differs : undefined}
        onValue={setAgain}
      />
      <p>Your other sessions will be signed out.</p>
      <Logged as={['token.revoked']} />
      {sending.elsewhere !== undefined && (
        <p class="field-error" role="alert">
          {sending.elsewhere}
        </p>
      )}
      <div class="row">
        <Button
          type="submit"
          kind="primary"
          busy={sending.busy}
          disabled={before === '' || next === '' || again === ''}
        >
          Change password
        </Button>
      </div>
    </form>
  );
}
