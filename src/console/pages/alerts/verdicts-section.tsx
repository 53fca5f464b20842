import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/detail.tsx';
import { words } from '../../ui/format.ts';
import { Time } from '../../ui/values.tsx';
import type { Alert } from './question.ts';

/** The verdicts of the model, with its reasons, and of analysts. */
export function Verdicts({ alert, onVerdict }: { alert: Alert; onVerdict: () => void }) {
  const { ai_verdict: model, override, verdict } = alert;
  return (
    <Section title="Verdict">
      <p>
        {verdict === undefined ? (
          <span class="quiet">No analyst verdict.</span>
        ) : (
          <>
            Analyst: <strong>{words(verdict)}</strong>
            {override === undefined && <span class="quiet">, not in the public log</span>}
          </>
        )}
      </p>
      {override !== undefined && (
        <p>
          Overridden by <bdi>{override.by}</bdi> <Time at={override.at} />: <strong>{words(override.verdict)}</strong>,
          in the public log.
          <bdi class="alert-quote">{override.reason}</bdi>
        </p>
      )}
      {model !== undefined && (
        <div class="alert-model">
          <p>
            Model: <strong>{words(model.verdict)}</strong>{' '}
            <span class="quiet">
              confidence {Math.round(model.confidence * 100)} % · <bdi>{model.model}</bdi> · <Time at={model.at} />
            </span>
          </p>
          <ul>
            {model.reasons.map((reason) => (
              <li key={reason}>
                <bdi>{reason}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
      {may('updateAlert') && (
        <div>
          <Button hint="v" onClick={onVerdict}>
            {verdict === undefined ? 'Set verdict' : 'Change verdict'}
          </Button>
        </div>
      )}
    </Section>
  );
}
