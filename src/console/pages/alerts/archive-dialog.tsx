import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/form.tsx';
import type { TriageDialogProps } from './asked.ts';

/** Dialog to confirm archiving, which cannot be undone. */
export function ArchiveDialog({ what, request: { target, failure }, onDone, onClose }: TriageDialogProps) {
  const isOne = 'rows' in target && target.rows.length === 1;
  return (
    <Dialog title={`Archive ${what}?`} onClose={onClose}>
      <p>
        This cannot be undone. Archived alerts can be viewed and exported, but not reopened.
        {!isOne && ' Only resolved and suppressed alerts will be archived; others will not change.'}
      </p>
      <FormError>{failure}</FormError>
      <div class="row">
        <Button kind="danger" onClick={() => onDone({ status: 'archived' })}>
          Archive {isOne ? 'alert' : what}
        </Button>
        <Button autofocus onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
