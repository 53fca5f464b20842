import { Button } from './button.tsx';
import { copy } from './toasts.tsx';
import './command.css';

/** A command line with a button to copy it. */
export function Command({ text }: { text: string }) {
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <Button kind="plain" onClick={() => copy(text, 'Command')}>
        Copy
      </Button>
    </div>
  );
}
