import { assetKinds, assetStates, criticalities, maxLineLength, maxNotesLength } from '../../../contract/vocabulary.ts';
import { SelectField, TextArea, TextField } from '../../ui/form.tsx';
import { title } from '../../ui/format.ts';
import type { AssetForm, FormFault, FormField } from './form.ts';
import type { Asset } from './question.ts';
import { mayBecome } from './states.ts';
import './fields.css';

const kindTitle = (kind: string): string => (kind === 'iot' ? 'IoT' : title(kind));

/** Form fields of an asset. `state` is its current state; undefined for a new asset. */
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
    <TextField
      label={label}
      hint={hint}
      error={errorOf(field)}
      value={form[field]}
      maxLength={maxLength}
      autofocus={field === 'name'}
      autocomplete="off"
      onValue={(value) => onChange(field, value)}
    />
  );
  const select = (field: 'kind' | 'criticality' | 'state', label: string, values: readonly string[], hint?: string) => (
    <SelectField
      label={label}
      hint={hint}
      error={errorOf(field)}
      options={values.map((value) => ({ value, title: kindTitle(value) }))}
      value={form[field]}
      onValue={(value) => onChange(field, value)}
    />
  );
  const lines = (field: FormField, label: string, hint: string, mono = true) => (
    <TextArea
      label={label}
      hint={hint}
      error={errorOf(field)}
      class={mono ? 'input mono asset-lines' : 'input asset-lines'}
      rows={Math.min(6, Math.max(2, form[field].split('\n').length))}
      spellcheck={false}
      value={form[field]}
      onValue={(value) => onChange(field, value)}
    />
  );
  return (
    <>
      <div class="asset-fields">
        {line('name', 'Name')}
        {line('owner', 'Owner', 'Person or team responsible.')}
        {select('kind', 'Kind', assetKinds)}
        {select('criticality', 'Criticality', criticalities.toReversed(), 'Used for the risk score.')}
        {select(
          'state',
          'State',
          assetStates.filter((one) => (state === undefined ? one !== 'staged' : mayBecome(state, one))),
        )}
        {line('os', 'Operating system', 'Leave empty to use what sensors report.')}
        {line('vendor', 'Vendor', 'Leave empty to use what sensors report.')}
        {lines('tags', 'Tags', 'One per line.', false)}
        {lines('ip_addresses', 'IP addresses', 'One per line. Removed addresses can be assigned to other assets.')}
        {lines('mac_addresses', 'MAC addresses', 'One per line.')}
        {lines('hostnames', 'Hostnames', 'One per line. Leave empty to use what sensors report.')}
      </div>
      <TextArea
        label="Notes"
        error={errorOf('notes')}
        maxLength={maxNotesLength}
        value={form.notes}
        onValue={(value) => onChange('notes', value)}
      />
    </>
  );
}
