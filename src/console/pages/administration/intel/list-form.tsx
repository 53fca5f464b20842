import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { type Severity, severities } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change } from '../../../state/answers.ts';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { counted, number, title } from '../../../ui/format.ts';
import { say } from '../../../ui/toasts.tsx';
import { isolateText } from '../../../ui/words.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { ifVersion, useSending } from '../parts/sending.ts';
import { formatOf } from './content.ts';
import { ContentField } from './content-field.tsx';
import './intel.css';

const fields = ['name', 'description', 'source', 'severity', 'confidence', 'default_valid_days', 'content', 'format'];

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
  const [name, setName] = useState(known?.name ?? '');
  const [description, setDescription] = useState(known?.description ?? '');
  const [source, setSource] = useState(known?.source ?? '');
  const [severity, setSeverity] = useState<Severity>(known?.severity ?? 'high');
  const [confidence, setConfidence] = useState(known?.confidence === undefined ? '' : String(known.confidence));
  const [days, setDays] = useState(known?.default_valid_days === undefined ? '' : String(known.default_valid_days));
  const [content, setContent] = useState('');
  const sending = useSending(fields);
  const withContent = part !== 'about';
  const withAbout = part !== 'content';
  const send = () =>
    sending.send(async () => {
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
      onClose();
    });
  return (
    <FormDialog
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
      sending={sending}
      onSend={send}
      onClose={onClose}
    >
      {part === 'content' && <p>The new content will replace all current indicators.</p>}
      {withAbout && (
        <>
          <div class="admin-two">
            <TextField
              label="Name"
              hint="Shown in alerts."
              error={sending.at('name')}
              autofocus
              maxLength={200}
              value={name}
              onValue={setName}
            />
            <SelectField
              label="Severity"
              hint="Severity of alerts from this list."
              error={sending.at('severity')}
              options={severities.map((value) => ({ value, title: title(value) }))}
              value={severity}
              onChange={setSeverity}
            />
            <TextField
              label="Source"
              hint="A name or URL."
              error={sending.at('source')}
              maxLength={1000}
              value={source}
              onValue={setSource}
            />
            <TextField
              label="Confidence"
              hint="From 0 to 1. Optional."
              error={notANumber(confidence) ?? sending.at('confidence')}
              inputMode="decimal"
              value={confidence}
              onValue={setConfidence}
            />
            <TextField
              label="Indicator lifetime (days)"
              hint="For indicators without an expiry time. Leave empty for no limit."
              error={notANumber(days) ?? sending.at('default_valid_days')}
              inputMode="numeric"
              value={days}
              onValue={setDays}
            />
          </div>
          <TextArea
            label="Description"
            error={sending.at('description')}
            rows={2}
            maxLength={2000}
            value={description}
            onValue={setDescription}
          />
        </>
      )}
      {withContent && (
        <ContentField value={content} error={sending.at('content') ?? sending.at('format')} onValue={setContent} />
      )}
    </FormDialog>
  );
}

/** Returns an error if a field contains a text that is not a number. */
const notANumber = (entered: string): string | undefined =>
  Number.isFinite(Number(entered)) ? undefined : 'Enter a number.';

/** Returns the number in a field; null, which removes the value, if the field is empty. */
const orNull = (entered: string): number | null => (entered.trim() === '' ? null : Number(entered));
