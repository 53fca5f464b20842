import { Field } from '../../../ui/field.tsx';

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
    <Field label="Name" hint={hint} error={error}>
      {(attributes) => (
        <input
          {...attributes}
          autofocus
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={200}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
