import { useState } from 'preact/hooks';
import { change } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../administration/parts/confirm.tsx';

/** Lets administrators confirm the host's clock while the log rejects it. */
export function ConfirmClock() {
  const [asking, setAsking] = useState(false);
  if (!may('confirmClock')) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>Confirm clock</Button>
      {asking && (
        <Confirm
          title="Confirm the host clock?"
          action="Confirm"
          run={() => change('confirmClock', {}, ['getStatus'])}
          done="Clock confirmed."
          onClose={() => setAsking(false)}
        >
          <p>
            Check the clock against a second source first. If the clock is wrong now, correct it instead: the log
            recovers within a minute. Entries with wrong times stay in the log.
          </p>
        </Confirm>
      )}
    </>
  );
}
