import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { ruleSources, severities } from '../../../../contract/vocabulary.ts';
import { setParams } from '../../../state/address.ts';
import { change, ifVersion } from '../../../state/answers.ts';
import { now } from '../../../state/clock.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { Checkboxes, FormError, SelectField, TextArea } from '../../../ui/form.tsx';
import { exact, title } from '../../../ui/format.ts';
import { useSending } from '../../../ui/sending.ts';
import { draftOf, isAboutSomething, listedParts, type MatcherDraft, matcherOf, partNames } from './matcher.ts';

const hour = 3_600_000;
const lengths = [
  { value: '1h', title: '1 hour', ms: hour },
  { value: '8h', title: '8 hours', ms: 8 * hour },
  { value: '24h', title: '24 hours', ms: 24 * hour },
  { value: '7d', title: '7 days', ms: 168 * hour },
  { value: '30d', title: '30 days', ms: 720 * hour },
  { value: '90d', title: '90 days', ms: 2160 * hour },
] as const;

const fields = ['matcher', 'reason', 'expires_at', ...partNames.map((part) => `matcher.${part}`)];

/** Dialog to create or change a silence. */
export function SilenceForm({ silence, onClose }: { silence?: ListItem<'listSilences'>; onClose: () => void }) {
  const [draft, setDraft] = useState<MatcherDraft>(() => draftOf(silence?.attributes.matcher));
  const [reason, setReason] = useState(silence?.attributes.reason ?? '');
  const [length, setLength] = useState(silence === undefined ? '24h' : 'as it is');
  const sending = useSending(fields);
  const matcher = matcherOf(draft);
  const ms = lengths.find(({ value }) => value === length)?.ms;
  const ends = ms === undefined ? Date.parse(silence?.attributes.expires_at ?? '') : now.value + ms;
  const save = async () => {
    const expires_at = ms === undefined ? undefined : new Date(Date.now() + ms).toISOString();
    const body = { matcher, reason: reason.trim(), ...(expires_at !== undefined && { expires_at }) };
    const { data } =
      silence === undefined
        ? await change('createSilence', { body: { ...body, expires_at: expires_at ?? '' } }, ['listSilences'])
        : await change(
            'updateSilence',
            { params: { silence_id: silence.id }, headers: ifVersion(silence.attributes.version), body },
            ['listSilences', 'getSilence'],
          );
    setParams({ id: data.id });
  };
  return (
    <ActionDialog
      title={silence === undefined ? 'New silence' : 'Edit silence'}
      action={silence === undefined ? 'Create silence' : 'Save'}
      wide
      disabled={!isAboutSomething(matcher) || reason.trim() === ''}
      sending={sending}
      run={save}
      done={silence === undefined ? 'Silence created.' : 'Silence updated.'}
      onClose={onClose}
    >
      <p>
        Alerts that match all of these fields are suppressed until the silence expires. A field with several values
        matches any of them.
      </p>
      {sending.at('matcher') !== undefined && partNames.every((part) => !sending.at(`matcher.${part}`)) && (
        <FormError>{sending.at('matcher')}</FormError>
      )}
      <div class="field-columns">
        {partNames.map((part) => (
          <TextArea
            key={part}
            label={listedParts[part].title}
            hint={`${listedParts[part].hint}; one per line.`}
            error={sending.at(`matcher.${part}`)}
            class="input silence-values"
            rows={2}
            spellcheck={false}
            value={draft.lists[part]}
            onValue={(value) => setDraft({ ...draft, lists: { ...draft.lists, [part]: value } })}
          />
        ))}
        <Checkboxes
          legend="Rule source"
          values={ruleSources}
          value={draft.rule_source}
          onValue={(rule_source) => setDraft({ ...draft, rule_source })}
        />
      </div>
      <div class="field-columns">
        <SelectField
          label="Maximum severity"
          hint="More severe alerts still come through."
          options={[{ value: '', title: 'any' }, ...severities.map((value) => ({ value, title: title(value) }))]}
          value={draft.max_severity}
          onValue={(max_severity) => setDraft({ ...draft, max_severity })}
        />
        <SelectField
          label="Duration"
          hint={Number.isNaN(ends) ? undefined : `Until ${exact(ends)}.`}
          error={sending.at('expires_at')}
          options={[
            ...(silence === undefined ? [] : [{ value: 'as it is', title: 'Unchanged' }]),
            ...lengths.map(({ value, title: name }) => ({
              value,
              title: silence === undefined ? name : `${name} from now`,
            })),
          ]}
          value={length}
          onValue={setLength}
        />
      </div>
      <TextArea
        label="Reason"
        hint="Explain why, for your colleagues. Your name is recorded."
        error={sending.at('reason')}
        rows={2}
        maxLength={2000}
        value={reason}
        onValue={setReason}
      />
    </ActionDialog>
  );
}
