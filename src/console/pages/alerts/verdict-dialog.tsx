import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { words } from '../../ui/format.ts';
import type { TriageDialogProps } from './asked.ts';
import { Choices } from './choices.tsx';
import { type Verdict, verdictOptions } from './verdict-options.ts';

/** Sets the verdict; for a single alert with a model verdict, also offers a public override. */
export function VerdictDialog({ what, asked: { rows, typed, failure }, onDone, onClose }: TriageDialogProps) {
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
          label="Verdict"
          options={
            only?.verdict === undefined || overridden
              ? verdictOptions
              : [...verdictOptions, { value: '', title: 'No verdict' }]
          }
          value={verdict}
          error={asked && verdict === undefined ? 'Choose a verdict.' : undefined}
          onChange={setVerdict}
        />
        {said !== undefined && said === verdict && !overridden && <p class="quiet">The model agrees.</p>}
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
                ? 'The model verdict is overridden; a new verdict replaces the override.'
                : `Override the model verdict (${words(said)})`}
            </span>
          </label>
        )}
        {overrides && (
          <Field
            label="Reason"
            hint="Recorded in the public log with your name and the verdict."
            error={asked && wanting ? 'Enter a reason for the override.' : undefined}
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
            {overrides ? 'Override and record' : 'Set verdict'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
