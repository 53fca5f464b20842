import { Field } from '../../../ui/field.tsx';
import { sayFailure } from '../../../ui/toasts.tsx';
import { lookedAt } from './content.ts';

/** More than this is not put into the field, which would be slow with it, in characters. */
const shownLength = 200_000;

/** The content of a list: of a file, or as it is typed or pasted. */
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
    file.text().then(onValue, (failure: unknown) => sayFailure('The file could not be read', failure));
  };
  return (
    <>
      <Field label="A file" hint="Plain lines, a hosts file, or a bundle of STIX 2 (JSON).">
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
          {error ?? fault ?? says} It is too long to be shown here.{' '}
          <button type="button" class="button button-plain" onClick={() => onValue('')}>
            Take it away
          </button>
        </p>
      ) : (
        <Field
          label="Or its text"
          hint={`An address, block, domain or URL a line, behind a comma until when; comments behind #. ${says}`}
          error={error ?? fault}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              class="input intel-content"
              rows={8}
              spellcheck={false}
              value={value}
              onInput={(event) => onValue(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </>
  );
}
