import { Field } from '../../../ui/field.tsx';

/** As the service asks for (NIST SP 800-63B): long rather than adorned. */
export const passwordHint = 'At least 8 characters; a few words are better. Not the name.';

/** A password that is chosen now. */
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
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <input
          {...attributes}
          type="password"
          autocomplete="new-password"
          maxLength={1024}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
