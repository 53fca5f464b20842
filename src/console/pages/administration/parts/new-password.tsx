import { TextField } from '../../../ui/form.tsx';

/** The service's rules for passwords (NIST SP 800-63B): length instead of complexity. */
export const passwordHint = 'At least 8 characters; several words are better. Must not be the username.';

/** Input for a new password. */
export function NewPassword({
  label,
  value,
  hint = passwordHint,
  error,
  onValue,
}: {
  label: string;
  value: string;
  hint?: string;
  error?: string | undefined;
  onValue: (value: string) => void;
}) {
  return (
    <TextField
      label={label}
      hint={hint}
      error={error}
      type="password"
      autocomplete="new-password"
      maxLength={1024}
      value={value}
      onValue={onValue}
    />
  );
}
