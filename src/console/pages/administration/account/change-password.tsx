import { useState } from 'preact/hooks';
import { change } from '../../../state/answers.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, FormError } from '../../../ui/form.tsx';
import { say } from '../../../ui/toasts.tsx';
import { Logged } from '../parts/form-dialog.tsx';
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
    <Form
      noValidate
      onSubmit={() => {
        setAsked(true);
        if (differs !== undefined || before === '' || next === '') return;
        sending.send(async () => {
          await change('changePassword', { body: { current_password: before, new_password: next } }, ['listTokens']);
          setBefore('');
          setNext('');
          setAgain('');
          setAsked(false);
          say('Password changed. Your other sessions have been signed out.');
        });
      }}
    >
      <TextField
        label="Current password"
        error={sending.at('current_password')}
        type="password"
        autocomplete="current-password"
        maxLength={1024}
        value={before}
        onValue={setBefore}
      />
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
      <FormError>{sending.elsewhere}</FormError>
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
    </Form>
  );
}
