import { TextArea } from '../../ui/form.tsx';

const maxLength = 10_000;

/** The text of a note; Ctrl+Enter submits it. */
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
    <TextArea
      label="Note"
      hint="Saved with your name and the time. Notes cannot be edited later."
      value={value}
      maxLength={maxLength}
      rows={3}
      autofocus
      onValue={onValue}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        onSend();
      }}
    />
  );
}
