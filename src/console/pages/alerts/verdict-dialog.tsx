import { useState } from 'preact/hooks';
import { verdicts } from '../../../contract/vocabulary.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, FormButtons, FormError, TextArea } from '../../ui/form.tsx';
import { title, words } from '../../ui/format.ts';
import type { TriageDialogProps } from './asked.ts';
import { Choices } from './choices.tsx';
import type { Alert } from './question.ts';

export type Verdict = NonNullable<Alert['verdict']>;

const meanings: Readonly<Record<Verdict, string>> = {
  true_positive: 'confirmed malicious',
  false_positive: 'the rule fired by mistake',
  benign: 'real, but expected or allowed',
  suspicious: 'needs further investigation',
  duplicate: 'covered by another alert',
  test: 'authorised test',
  insufficient_data: 'not enough evidence to decide',
};

export const verdictOptions: readonly { value: Verdict; title: string; about: string }[] = verdicts.map((value) => ({
  value,
  title: title(value),
  about: meanings[value],
}));

/** Sets the verdict; for a single alert with a model verdict, also offers a public override. */
export function VerdictDialog({ what, request: { rows, draft, failure }, onDone, onClose }: TriageDialogProps) {
  const only = rows.length === 1 ? rows[0]?.attributes : undefined;
  const modelVerdict = only?.ai_verdict?.verdict;
  const overridden = only?.override !== undefined;
  const [verdict, setVerdict] = useState<Verdict | '' | undefined>(
    draft?.ai_override?.verdict ?? draft?.verdict ?? only?.verdict,
  );
  const [override, setOverride] = useState(draft?.ai_override !== undefined || overridden);
  const [reason, setReason] = useState(draft?.ai_override?.reason ?? '');
  const [submitted, setSubmitted] = useState(false);
  const mayOverride =
    verdict !== undefined && verdict !== '' && modelVerdict !== undefined && (modelVerdict !== verdict || overridden);
  const overrides = mayOverride && (override || overridden);
  const lacksReason = overrides && reason.trim() === '';
  return (
    <Dialog title={`Verdict on ${what}`} onClose={onClose}>
      <Form
        onSubmit={() => {
          setSubmitted(true);
          if (lacksReason || verdict === undefined) return;
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
          error={submitted && verdict === undefined ? 'Choose a verdict.' : undefined}
          onChange={setVerdict}
        />
        {modelVerdict !== undefined && modelVerdict === verdict && !overridden && (
          <p class="quiet">The model agrees.</p>
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
                ? 'The model verdict is overridden; a new verdict replaces the override.'
                : `Override the model verdict (${words(modelVerdict)})`}
            </span>
          </label>
        )}
        {overrides && (
          <TextArea
            label="Reason"
            hint="Recorded in the public log with your name and the verdict."
            error={submitted && lacksReason ? 'Enter a reason for the override.' : undefined}
            value={reason}
            maxLength={2000}
            rows={2}
            onValue={setReason}
          />
        )}
        <FormError>{failure}</FormError>
        <FormButtons action={overrides ? 'Override and record' : 'Set verdict'} hint="enter" onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
