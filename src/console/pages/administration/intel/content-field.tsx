import { Field, TextArea } from '../../../ui/form.tsx';
import { sayFailure } from '../../../ui/toasts.tsx';
import { lookedAt } from './content.ts';

/** Maximum length of content shown in the text field, in characters. Longer content makes the field slow. */
const shownLength = 200_000;

/** Field for the content of a list: a file, or text. */
export function ContentField({
  value,
  error,
  onValue,
}: {
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}) {
  const { says, fault } = lookedAt(value);
  const read = (file: File | undefined) => {
    if (file === undefined) return;
    file.text().then(onValue, (failure: unknown) => sayFailure('Cannot read the file', failure));
  };
  return (
    <>
      <Field label="File" hint="One indicator per line, a hosts file, or a STIX 2 bundle (JSON).">
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept=".txt,.csv,.json,.stix,.hosts,.netset,.ipset,text/plain,application/json"
            onChange={(event) => read(event.currentTarget.files?.[0])}
          />
        )}
      </Field>
      {value.length > shownLength ? (
        <p class={fault || error ? 'field-error' : ''} role="status">
          {error ?? fault ?? says} Too long to edit here.{' '}
          <button type="button" class="button button-plain" onClick={() => onValue('')}>
            Remove
          </button>
        </p>
      ) : (
        <TextArea
          label="Or paste text"
          hint={`One address, CIDR block, domain or URL per line, optionally followed by a comma and an expiry time; # starts a comment. ${says}`}
          error={error ?? fault}
          class="input intel-content"
          rows={8}
          spellcheck={false}
          value={value}
          onValue={onValue}
        />
      )}
    </>
  );
}
