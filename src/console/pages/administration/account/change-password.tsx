import { useState } from 'preact/hooks';
import { change } from '../../../state/answers.ts';
import { Logged } from '../../../ui/action-dialog.tsx';
import { Button } from '../../../ui/button.tsx';
import { Form, FormError, TextField } from '../../../ui/form.tsx';
import { useForm } from '../../../ui/sending.ts';
import { say } from '../../../ui/toasts.tsx';
import { NewPassword } from '../parts/new-password.tsx';

const empty = { current_password: '', new_password: '' };

/** Form to change the signed-in user's password. */
export function ChangePassword() {
  const form = useForm(empty);
  const [again, setAgain] = useState('');
  const [asked, setAsked] = useState(false);
  const { current_password: before, new_password: next } = form.values;
  const differs = again !== next ? 'Passwords do not match.' : undefined;
  return (
    <Form
      noValidate
      onSubmit={() => {
        setAsked(true);
        if (differs !== undefined || before === '' || next === '') return;
        form.send(async () => {
          await change('changePassword', { body: form.values }, ['listTokens']);
          form.set(empty);
          setAgain('');
          setAsked(false);
          say('Password changed. Your other sessions have been signed out.');
        });
      }}
    >
      <TextField
        label="Current password"
        type="password"
        autocomplete="current-password"
        maxLength={1024}
        {...form.field('current_password')}
      />
      <NewPassword label="New password" {...form.field('new_password')} />
      <NewPassword
        label="Confirm new password"
        hint=""
        value={again}
        error={asked ? differs : undefined}
        onValue={setAgain}
      />
      <p>Your other sessions will be signed out.</p>
      <Logged as={['token.revoked']} />
      <FormError>{form.elsewhere}</FormError>
      <div class="row">
        <Button type="submit" kind="primary" busy={form.busy} disabled={before === '' || next === '' || again === ''}>
          Change password
        </Button>
      </div>
    </Form>
  );
}
