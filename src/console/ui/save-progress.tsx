import { maxBlobBytes, type Written, writesFiles } from '../state/save.ts';
import type { Saving } from '../state/saving.ts';
import { Button } from './button.tsx';
import { bytes, number } from './format.ts';
import { Failure } from './states.tsx';
import './save-progress.css';

/** How far a file is, against what it will have where that is known, and a way to give it up. */
export function SaveProgress({
  progress,
  total,
  lines = true,
  onCancel,
}: {
  progress: Written;
  /** Lines that there will be. */
  total?: number | undefined;
  /** Whether the file has lines, of which each is one of what is saved. */
  lines?: boolean;
  onCancel: () => void;
}) {
  const known = lines && total !== undefined;
  const counted = known
    ? `${number(progress.lines)} of ${number(total)}`
    : `${number(progress.lines)} so far`;
  return (
    <div class="save-progress row" role="status">
      <progress
        aria-label="Saved"
        {...(known && { max: Math.max(1, total, progress.lines), value: progress.lines })}
      />
      <span class="mono">{[...(lines ? [counted] : []), bytes(progress.bytes)].join(', ')}</span>
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}

/** Begins to save, and says what browsers that cannot write files do; then how far it is, or what failed. */
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
            {writesFiles() ? 'Save as …' : 'Download'}
          </Button>
          {!writesFiles() && (
            <span class="quiet">
              This browser keeps it in memory until it is whole: up to {bytes(maxBlobBytes)}.
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
