import { useMemo, useState } from 'preact/hooks';
import { type Severity, severities } from '../../../contract/vocabulary.ts';
import { limits } from '../../../limits.ts';
import { change, useAnswer } from '../../state/answers.ts';
import { now } from '../../state/clock.ts';
import { me } from '../../state/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, FormButtons, FormError, Options, SelectField, TextField } from '../../ui/form.tsx';
import { counted, instant, number, title } from '../../ui/format.ts';
import { useSending } from '../../ui/sending.ts';
import { say } from '../../ui/toasts.tsx';
import { AssetName } from '../../ui/values.tsx';
import { mayChange } from './may-change.ts';
import { type AlertRow, isOpen } from './question.ts';
import {
  firstChoice,
  fits,
  highestSeverity,
  matcherOf,
  type SilencePart,
  sentence,
  silencedFilters,
  silenceParts,
  valuesOf,
} from './silence-matcher.ts';

const hour = 3_600_000;
const lengths = [
  { ms: hour, title: '1 hour' },
  { ms: 8 * hour, title: '8 hours' },
  { ms: 24 * hour, title: '24 hours' },
  { ms: 7 * 24 * hour, title: '7 days' },
  { ms: 30 * 24 * hour, title: '30 days' },
  { ms: 90 * 24 * hour, title: '90 days' },
] as const;
/** Period in which alerts that the silence would have matched are counted. */
const lookedBackMs = 7 * 24 * hour;

const partTitles: Readonly<Record<SilencePart, string>> = {
  rule_id: 'This rule',
  src_ip: 'This source',
  dst_ip: 'This target',
  domain: 'This domain and its subdomains',
  category: 'This category',
  asset_id: 'This asset, as source or target',
};

/** Creates a silence for similar alerts, with a preview of what it matches. */
export function SilenceDialog({
  what,
  rows,
  left,
  onSuppress,
  onClose,
}: {
  what: string;
  rows: readonly AlertRow[];
  /** Number of selected alerts that are not loaded; the silence ignores them. */
  left: number;
  /** Called with the selected alerts that are open, to suppress them now. */
  onSuppress: (rows: readonly AlertRow[]) => void;
  onClose: () => void;
}) {
  const alerts = rows.map(({ attributes }) => attributes);
  const values = useMemo(() => valuesOf(alerts), [rows]);
  const [chosen, setChosen] = useState(() => firstChoice(values));
  const [most, setMost] = useState<Severity>(() => highestSeverity(alerts));
  const [length, setLength] = useState<number>(24 * hour);
  const [reason, setReason] = useState('');
  const [suppress, setSuppress] = useState(true);
  const [submitted, setSubmitted] = useState(false);
  const sending = useSending();
  const open = rows.filter(({ attributes }) => isOpen(attributes));
  const maySuppress = open.length > 0 && mayChange(open.length);
  const matcher = matcherOf(values, chosen, most);
  const faults = {
    matcher: chosen.size === 0 ? 'Choose at least one condition.' : undefined,
    reason: reason.trim() === '' ? 'Enter a reason.' : undefined,
  };
  const send = () => {
    setSubmitted(true);
    if (faults.matcher || faults.reason) return;
    sending.send(async () => {
      const expires_at = new Date(Date.now() + length).toISOString();
      await change('createSilence', { body: { matcher, reason: reason.trim(), expires_at } }, ['listSilences']);
      say(`Silenced until ${instant(Date.parse(expires_at), { ms: false })}.`);
      onClose();
      if (suppress && maySuppress) onSuppress(open);
    });
  };
  const names = new Map(alerts.map(({ rule_id, rule_name }) => [rule_id, rule_name]));
  return (
    <Dialog title={`Silence alerts similar to ${what}`} onClose={onClose}>
      <Form onSubmit={send}>
        {left > 0 && (
          <p>
            {number(left)} of the {number(rows.length + left)} selected alerts{' '}
            {left === 1 ? 'is not loaded and will not change.' : 'are not loaded and will not change.'}
          </p>
        )}
        <Options legend="Match all conditions" error={submitted && faults.matcher ? faults.matcher : undefined}>
          {silenceParts
            .filter((part) => values[part] !== undefined)
            .map((part) => (
              <label key={part}>
                <input
                  type="checkbox"
                  checked={chosen.has(part)}
                  disabled={!fits(values[part] ?? [])}
                  onChange={() => {
                    const next = new Set(chosen);
                    if (!next.delete(part)) next.add(part);
                    setChosen(next);
                  }}
                />
                <span>{partTitles[part]}</span>
                <PartValue part={part} values={values[part] ?? []} names={names} />
              </label>
            ))}
        </Options>
        <div class="field-columns">
          <SelectField
            label="Maximum severity"
            hint="More severe alerts still come through."
            options={severities.map((value) => ({ value, title: title(value) }))}
            value={most}
            onValue={setMost}
          />
          <SelectField
            label="Duration"
            hint={`Until ${instant(now.value + length, { ms: false })}.`}
            options={lengths.map(({ ms, title: name }) => ({ value: String(ms), title: name }))}
            value={String(length)}
            onValue={(ms) => setLength(Number(ms))}
          />
        </div>
        <TextField
          label="Reason"
          hint={`Recorded as set by ${me.value?.name ?? ''}.`}
          error={submitted ? faults.reason : undefined}
          value={reason}
          maxLength={2000}
          autofocus
          onValue={setReason}
        />
        {maySuppress && (
          <label class="row">
            <input type="checkbox" checked={suppress} onChange={(event) => setSuppress(event.currentTarget.checked)} />
            {open.length === 1 ? 'Suppress this alert now' : `Suppress these ${number(open.length)} open alerts now`}
          </label>
        )}
        <div class="alert-matches" role="status">
          <p>{sentence(matcher, (part, value) => (part === 'rule_id' ? (names.get(value) ?? value) : value))}</p>
          {chosen.size > 0 && <Matches filters={silencedFilters(matcher)} atLeast={chosen.has('domain')} />}
        </div>
        <FormError>{sending.elsewhere}</FormError>
        <FormButtons action="Silence" busy={sending.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

function PartValue({
  part,
  values,
  names,
}: {
  part: SilencePart;
  values: readonly string[];
  names: ReadonlyMap<string, string>;
}) {
  const [first] = values;
  return (
    <span class="quiet clip">
      {values.length === 1 && first !== undefined ? (
        part === 'asset_id' ? (
          <AssetName id={first} />
        ) : (
          <bdi>{part === 'rule_id' ? (names.get(first) ?? first) : first}</bdi>
        )
      ) : !fits(values) ? (
        `${number(values.length)} values; at most ${number(limits.maxSilenceValues)} allowed`
      ) : (
        `any of ${number(values.length)} values`
      )}
    </span>
  );
}

/** Counts the recent alerts that the silence would have matched. */
function Matches({ filters, atLeast }: { filters: object; atLeast: boolean }) {
  const from = Math.floor(now.peek() / 60_000) * 60_000 - lookedBackMs;
  const all = useAnswer('listAlerts', { query: { ...filters, from, per_page: 1 } });
  const open = useAnswer('listAlerts', { query: { ...filters, from, status: ['new'], per_page: 1 } });
  const [total, newTotal] = [all.data?.pagination.total, open.data?.pagination.total];
  if (all.error !== null) return <p class="quiet">Preview unavailable: {all.error.message}</p>;
  if (total === undefined || newTotal === undefined) return <p class="quiet">…</p>;
  return (
    <p class="quiet">
      Matches {atLeast ? 'at least ' : ''}
      {counted(total, 'alert')} from the last 7 days. {number(newTotal)} of them{' '}
      {newTotal === 1 ? 'is new and will be suppressed if it recurs.' : 'are new and will be suppressed if they recur.'}
    </p>
  );
}
