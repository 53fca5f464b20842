import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { AskedProps } from './asked.ts';

/** Asks before alerts are archived: there is no way back. */
export function ArchiveDialog({ what, asked: { target, failure }, onDone, onClose }: AskedProps) {
  const isOne = 'rows' in target && target.rows.length === 1;
  return (
    <Dialog title={`Archive ${what}?`} onClose={onClose}>
      <p>
        This is final: {isOne ? 'it' : 'they'} can be read and exported, but never reopened.
        {!isOne &&
          ' Alerts that are neither resolved nor suppressed cannot be archived: these stay as they are.'}
      </p>
      {failure !== undefined && (
        <p class="field-error" role="alert">
          {failure}
        </p>
      )}
      <div class="row">
        <Button kind="danger" onClick={() => onDone({ status: 'archived' })}>
          Archive {isOne ? 'it' : what}
        </Button>
        <Button autofocus onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
