import { Field } from '../../ui/field.tsx';

const maxLength = 10_000;

/** What is to be noted; ctrl enter sends it. */
export function NoteField({
  value,
  onValue,
  onSend,
}: {
  value: string;
  onValue: (value: string) => void;
  onSend: () => void;
}) {
  return (
    <Field label="Note" hint="Kept with the alert, with your name and the time. It cannot be changed later.">
      {(attributes) => (
        <textarea
          {...attributes}
          value={value}
          maxLength={maxLength}
          rows={3}
          autofocus
          onInput={(event) => onValue(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            onSend();
          }}
        />
      )}
    </Field>
  );
}
