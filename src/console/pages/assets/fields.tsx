import {
  assetKinds,
  assetStates,
  criticalities,
  maxLineLength,
  maxNotesLength,
} from '../../../contract/vocabulary.ts';
import { Field } from '../../ui/field.tsx';
import { title } from '../../ui/format.ts';
import { Select } from '../../ui/select.tsx';
import type { AssetForm, FormFault, FormField } from './form.ts';
import type { Asset } from './question.ts';
import { mayBecome } from './states.ts';
import './fields.css';

const kindTitle = (kind: string): string => (kind === 'iot' ? 'IoT' : title(kind));

/** What is asked of an asset. `state` is the one that it is in; undefined for a new one. */
export function AssetFields({
  form,
  state,
  fault,
  onChange,
}: {
  form: AssetForm;
  state: Asset['state'] | undefined;
  fault: FormFault | undefined;
  onChange: (field: FormField, value: string) => void;
}) {
  const errorOf = (field: FormField) => (fault?.field === field ? fault.text : undefined);
  const line = (field: FormField, label: string, hint?: string, maxLength = maxLineLength) => (
    <Field label={label} hint={hint} error={errorOf(field)}>
      {(attributes) => (
        <input
          {...attributes}
          value={form[field]}
          maxLength={maxLength}
          autofocus={field === 'name'}
          autocomplete="off"
          onInput={(event) => onChange(field, event.currentTarget.value)}
        />
      )}
    </Field>
  );
  const select = (
    field: 'kind' | 'criticality' | 'state',
    label: string,
    values: readonly string[],
    hint?: string,
  ) => (
    <Field label={label} hint={hint} error={errorOf(field)}>
      {(attributes) => (
        <Select
          {...attributes}
          options={values.map((value) => ({ value, title: kindTitle(value) }))}
          value={form[field]}
          onChange={(value) => onChange(field, value)}
        />
      )}
    </Field>
  );
  const lines = (field: FormField, label: string, hint: string, mono = true) => (
    <Field label={label} hint={hint} error={errorOf(field)}>
      {(attributes) => (
        <textarea
          {...attributes}
          class={mono ? 'input mono asset-lines' : 'input asset-lines'}
          rows={Math.min(6, Math.max(2, form[field].split('\n').length))}
          spellcheck={false}
          value={form[field]}
          onInput={(event) => onChange(field, event.currentTarget.value)}
        />
      )}
    </Field>
  );
  return (
    <>
      <div class="asset-fields">
        {line('name', 'Name')}
        {line('owner', 'Owner', 'Who answers for it.')}
        {select('kind', 'Kind', assetKinds)}
        {select(
          'criticality',
          'Criticality',
          criticalities.toReversed(),
          'How much it matters; weighs in its risk.',
        )}
        {select(
          'state',
          'State',
          assetStates.filter((one) => (state === undefined ? one !== 'staged' : mayBecome(state, one))),
        )}
        {line('os', 'Operating system', 'Empty: what the network shows.')}
        {line('vendor', 'Maker', 'Empty: what the network shows.')}
        {lines('tags', 'Tags', 'One a line.', false)}
        {lines('ip_addresses', 'Addresses now', 'One a line. What you take away is free for another asset.')}
        {lines('mac_addresses', 'Link-layer addresses', 'One a line.')}
        {lines('hostnames', 'Host names', 'One a line; empty: what the network shows.')}
      </div>
      <Field label="Notes" error={errorOf('notes')}>
        {(attributes) => (
          <textarea
            {...attributes}
            maxLength={maxNotesLength}
            value={form.notes}
            onInput={(event) => onChange('notes', event.currentTarget.value)}
          />
        )}
      </Field>
    </>
  );
}
