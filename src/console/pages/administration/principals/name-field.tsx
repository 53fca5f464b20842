import { TextField } from '../../../ui/field.tsx';

/** Field for a principal's name, which is also the username of a user. */
export function NameField({
  hint,
  value,
  error,
  onValue,
}: {
  hint?: string | undefined;
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}) {
  return (
    <TextField
      label="Name"
      hint={hint}
      error={error}
      autofocus
      autocomplete="off"
      autocapitalize="none"
      spellcheck={false}
      maxLength={200}
      value={value}
      onValue={onValue}
    />
  );
}
