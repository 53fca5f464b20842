import { Button } from './button.tsx';
import { Section } from './split.tsx';
import { copy } from './toasts.tsx';
import './raw.css';

/** The JSON of a resource, at the end of its detail. */
export function Raw({ of }: { of: object }) {
  const text = JSON.stringify(of, null, 2);
  return (
    <Section title="Raw">
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
