import { Button } from './button.tsx';
import { copy } from './copy.ts';
import { Section } from './split.tsx';
import './raw.css';

/** A resource as the service answers it: the last part of its detail. */
export function Raw({ of }: { of: object }) {
  const text = JSON.stringify(of, null, 2);
  return (
    <Section title="As the service has it">
      <details class="raw">
        <summary>JSON</summary>
        <Button onClick={() => copy(text, 'JSON')}>Copy</Button>
        <pre class="mono" tabIndex={0}>
          {text}
        </pre>
      </details>
    </Section>
  );
}
