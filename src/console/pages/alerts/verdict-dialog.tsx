import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { words } from '../../ui/format.ts';
import type { AskedProps } from './asked.ts';
import { Choices } from './choices.tsx';
import { type Verdict, verdictOptions } from './verdict-options.ts';

/** What an analyst found; and, of one alert that a model has judged, whether that is overridden, for all to see. */
export function VerdictDialog({ what, asked: { rows, typed, failure }, onDone, onClose }: AskedProps) {
  const only = rows.length === 1 ? rows[0]?.attributes : undefined;
  const said = only?.ai_verdict?.verdict;
  const overridden = only?.override !== undefined;
  const [verdict, setVerdict] = useState<Verdict | '' | undefined>(
    typed?.ai_override?.verdict ?? typed?.verdict ?? only?.verdict,
  );
  const [override, setOverride] = useState(typed?.ai_override !== undefined || overridden);
  const [reason, setReason] = useState(typed?.ai_override?.reason ?? '');
  const [asked, setAsked] = useState(false);
  const mayOverride =
    verdict !== undefined && verdict !== '' && said !== undefined && (said !== verdict || overridden);
  const overrides = mayOverride && (override || overridden);
  const wanting = overrides && reason.trim() === '';
  return (
    <Dialog title={`Verdict on ${what}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(true);
          if (wanting || verdict === undefined) return;
          onDone(overrides ? { ai_override: { verdict, reason: reason.trim() } } : { verdict });
        }}
      >
        <Choices
          label="What was it?"
          options={
            only?.verdict === undefined || overridden
              ? verdictOptions
              : [...verdictOptions, { value: '', title: 'No verdict' }]
          }
          value={verdict}
          error={asked && verdict === undefined ? 'Choose one.' : undefined}
          onChange={setVerdict}
        />
        {said !== undefined && said === verdict && !overridden && (
          <p class="quiet">The model says the same.</p>
        )}
        {mayOverride && (
          <label class="row">
            <input
              type="checkbox"
              checked={overrides}
              disabled={overridden}
              onChange={(event) => setOverride(event.currentTarget.checked)}
            />
            <span>
              {overridden
                ? 'It was overridden before: another verdict is an override, too.'
                : `Override the model, which says ${words(said)}`}
            </span>
          </label>
        )}
        {overrides && (
          <Field
            label="Why"
            hint="This will be recorded in the public log, with your name and the verdict."
            error={asked && wanting ? 'An override needs a reason.' : undefined}
          >
            {(attributes) => (
              <textarea
                {...attributes}
                value={reason}
                maxLength={2000}
                rows={2}
                onInput={(event) => setReason(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        {failure !== undefined && (
          <p class="field-error" role="alert">
            {failure}
          </p>
        )}
        <div class="row">
          <Button type="submit" kind="primary" hint="enter">
            {overrides ? 'Override and record' : 'Give the verdict'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
