import { useState } from 'preact/hooks';
import { change } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../administration/parts/confirm.tsx';

/** The way out while the log refuses the clock of the host, for administrators. */
export function ConfirmClock() {
  const [asking, setAsking] = useState(false);
  if (!may('confirmClock')) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>Confirm clock</Button>
      {asking && (
        <Confirm
          title="Confirm the clock of the host?"
          action="Confirm"
          run={() => change('confirmClock', {}, ['getStatus'])}
          done="Clock confirmed."
          onClose={() => setAsking(false)}
        >
          <p>
            Check the clock against a second source first. A clock that is only wrong now needs no
            confirmation: correct it, and the log recovers within a minute. Entries that were dated wrong stay
            in the log.
          </p>
        </Confirm>
      )}
    </>
  );
}
