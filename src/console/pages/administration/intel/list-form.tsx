import type { ListItem } from '../../../../client/client.ts';
import { type Severity, severities } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change, ifVersion } from '../../../state/answers.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/form.tsx';
import { counted, number, title } from '../../../ui/format.ts';
import { useForm } from '../../../ui/sending.ts';
import { say } from '../../../ui/toasts.tsx';
import { isolateText } from '../../../ui/words.ts';
import { formatOf } from './content.ts';
import { ContentField } from './content-field.tsx';
import './intel.css';

/** Dialog to add a list, edit its properties, or replace its content. */
export function ListForm({
  list,
  part,
  onClose,
}: {
  list?: ListItem<'listIntel'>;
  /** The part to edit: `about` for the properties, `content` for the indicators, `all` for a new list. */
  part: 'all' | 'about' | 'content';
  onClose: () => void;
}) {
  const known = list?.attributes;
  const form = useForm({
    name: known?.name ?? '',
    description: known?.description ?? '',
    source: known?.source ?? '',
    severity: known?.severity ?? ('high' as Severity),
    confidence: known?.confidence === undefined ? '' : String(known.confidence),
    default_valid_days: known?.default_valid_days === undefined ? '' : String(known.default_valid_days),
    content: '',
    // Derived from the content; its errors are shown there.
    format: undefined,
  });
  const { name, description, source, severity, confidence, default_valid_days: days, content } = form.values;
  const numberField = (field: 'confidence' | 'default_valid_days') => ({
    ...form.field(field),
    error: notANumber(form.values[field]) ?? form.at(field),
  });
  const withContent = part !== 'about';
  const withAbout = part !== 'content';
  const save = async () => {
    const about = withAbout
      ? {
          name: name.trim(),
          ...(description.trim() !== (known?.description ?? '') && { description: description.trim() }),
          ...(source.trim() !== (known?.source ?? '') && { source: source.trim() }),
          severity,
        }
      : {};
    const named = withContent ? { content, format: formatOf(content) } : {};
    const { data } =
      list === undefined
        ? await change(
            'createIntel',
            {
              body: {
                name: name.trim(),
                ...about,
                ...(confidence.trim() !== '' && { confidence: Number(confidence) }),
                ...(days.trim() !== '' && { default_valid_days: Number(days) }),
                content,
                ...named,
              },
            },
            ['listIntel'],
          )
        : await change(
            'updateIntel',
            {
              params: { intel_id: list.id },
              headers: ifVersion(list.attributes.version),
              body: {
                ...about,
                ...(withAbout && { confidence: orNull(confidence), default_valid_days: orNull(days) }),
                ...named,
              },
            },
            ['listIntel', 'getIntel', 'listIndicators'],
          );
    const { indicators, rejected_total } = data.attributes;
    say(
      `${isolateText(data.attributes.name)} has ${counted(indicators, 'indicator')}${rejected_total > 0 ? `; ${number(rejected_total)} rejected` : ''}.`,
    );
    setParams({ id: data.id });
  };
  return (
    <ActionDialog
      title={
        list === undefined
          ? 'New list'
          : `${part === 'content' ? 'Replace content of' : 'Edit'} ${isolateText(list.attributes.name)}`
      }
      action={list === undefined ? 'Create list' : part === 'content' ? 'Replace' : 'Save'}
      danger={part === 'content'}
      wide={withContent}
      disabled={
        (withAbout && (name.trim() === '' || [confidence, days].some((text) => notANumber(text) !== undefined))) ||
        (withContent && content.trim() === '')
      }
      logged={['detection.reloaded']}
      sending={form}
      run={save}
      onClose={onClose}
    >
      {part === 'content' && <p>The new content will replace all current indicators.</p>}
      {withAbout && (
        <>
          <div class="field-columns">
            <TextField label="Name" hint="Shown in alerts." autofocus maxLength={200} {...form.field('name')} />
            <SelectField
              label="Severity"
              hint="Severity of alerts from this list."
              options={severities.map((value) => ({ value, title: title(value) }))}
              {...form.field('severity')}
            />
            <TextField label="Source" hint="A name or URL." maxLength={1000} {...form.field('source')} />
            <TextField
              label="Confidence"
              hint="From 0 to 1. Optional."
              inputMode="decimal"
              {...numberField('confidence')}
            />
            <TextField
              label="Indicator lifetime (days)"
              hint="For indicators without an expiry time. Leave empty for no limit."
              inputMode="numeric"
              {...numberField('default_valid_days')}
            />
          </div>
          <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
        </>
      )}
      {withContent && <ContentField {...form.field('content')} error={form.at('content') ?? form.at('format')} />}
    </ActionDialog>
  );
}

/** Returns an error if a field contains a text that is not a number. */
const notANumber = (entered: string): string | undefined =>
  Number.isFinite(Number(entered)) ? undefined : 'Enter a number.';

/** Returns the number in a field; null, which removes the value, if the field is empty. */
const orNull = (entered: string): number | null => (entered.trim() === '' ? null : Number(entered));
