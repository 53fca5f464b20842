import { Choice } from '../../../ui/button.tsx';
import { Checkboxes, Field, TextArea, TextField } from '../../../ui/form.tsx';
import { type Input, inWords, rangeOf, readDraft, type SettingSchema } from './settings.ts';

/** Input for the value of a setting. `draft` is the value as text; see `draftOf`. */
export function SettingField({
  name,
  schema,
  input,
  draft,
  error,
  onDraft,
}: {
  name: string;
  schema: SettingSchema;
  input: Input;
  draft: string;
  error: string | undefined;
  onDraft: (draft: string) => void;
}) {
  switch (input) {
    case 'flag':
      return (
        <div class="field">
          <Choice
            label={name}
            options={[
              { value: 'true', title: 'true' },
              { value: 'false', title: 'false' },
            ]}
            value={draft}
            onChange={onDraft}
          />
          {error !== undefined && <p class="field-error">{error}</p>}
        </div>
      );
    case 'choices':
      return (
        <Checkboxes
          legend={name}
          values={schema.items?.enum ?? []}
          value={draft.split('\n')}
          error={error}
          onValue={(chosen) => onDraft(chosen.join('\n'))}
        />
      );
    case 'choice':
      return (
        <Field label="Value" error={error}>
          {(attributes) => (
            <select {...attributes} value={draft} onChange={(event) => onDraft(event.currentTarget.value)}>
              {draft === '' && <option value="">Select…</option>}
              {(schema.enum ?? []).map((value) => (
                <option key={value} value={value}>
                  {value}
                </option>
              ))}
            </select>
          )}
        </Field>
      );
    case 'list':
    case 'json':
      return (
        <TextArea
          label={input === 'list' ? 'Values, one per line' : 'Value (JSON)'}
          hint={rangeOf(name, schema)}
          error={error}
          class="input setting-lines"
          rows={Math.min(12, Math.max(4, draft.split('\n').length + 1))}
          spellcheck={false}
          value={draft}
          onValue={onDraft}
        />
      );
    case 'integer':
    case 'text':
      return (
        <TextField
          label="Value"
          hint={hintOf(name, schema, input, draft)}
          error={error}
          class="input mono"
          inputMode={input === 'integer' ? 'numeric' : 'text'}
          autocomplete="off"
          spellcheck={false}
          value={draft}
          onValue={onDraft}
        />
      );
  }
}

/** Returns the hint: the allowed values and, before them, the draft in a readable unit if the setting has a unit. */
function hintOf(name: string, schema: SettingSchema, input: Input, draft: string): string | undefined {
  const read = readDraft(input, draft);
  const words = 'value' in read ? inWords(name, read.value) : undefined;
  const range = rangeOf(name, schema);
  return words === undefined ? range : `Equals ${words}; ${range ?? ''}`;
}
