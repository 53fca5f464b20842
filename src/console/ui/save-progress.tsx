import { maxBlobBytes, type Written, writesFiles } from '../state/save.ts';
import type { Saving } from '../state/saving.ts';
import { Button } from './button.tsx';
import { bytes, number } from './format.ts';
import { Failure } from './states.tsx';
import './save-progress.css';

/** Progress of a download, relative to the total if known, with a button to cancel. */
export function SaveProgress({
  progress,
  total,
  lines = true,
  onCancel,
}: {
  progress: Written;
  /** Expected number of lines. */
  total?: number | undefined;
  /** Whether the file has one item per line. */
  lines?: boolean;
  onCancel: () => void;
}) {
  const known = lines && total !== undefined;
  const counted = known ? `${number(progress.lines)} of ${number(total)}` : `${number(progress.lines)} so far`;
  return (
    <div class="save-progress row" role="status">
      <progress aria-label="Saved" {...(known && { max: Math.max(1, total, progress.lines), value: progress.lines })} />
      <span class="mono">{[...(lines ? [counted] : []), bytes(progress.bytes)].join(', ')}</span>
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}

/** Button to start a download, then its progress or error. */
export function SaveAs({
  saving,
  onStart,
  total,
  lines = true,
}: {
  saving: Saving;
  onStart: () => void;
  total: number | undefined;
  lines?: boolean;
}) {
  const { progress, error, cancel } = saving;
  return (
    <>
      {progress === undefined ? (
        <div class="row">
          <Button kind="primary" onClick={onStart}>
            {writesFiles() ? 'Save as…' : 'Download'}
          </Button>
          {!writesFiles() && (
            <span class="quiet">
              This browser holds the file in memory while downloading: up to {bytes(maxBlobBytes)}.
            </span>
          )}
        </div>
      ) : (
        <SaveProgress progress={progress} total={total} lines={lines} onCancel={cancel} />
      )}
      {error !== undefined && <Failure error={error} />}
    </>
  );
}
