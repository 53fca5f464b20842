import { ArchiveDialog } from './archive-dialog.tsx';
import type { DialogRequest } from './asked.ts';
import type { Change } from './changes.ts';
import { NoteDialog } from './note-dialog.tsx';
import type { AlertRow } from './question.ts';
import { ResolveDialog } from './resolve-dialog.tsx';
import { SilenceDialog } from './silence-dialog.tsx';
import { type Everything, nameOf } from './target.ts';
import { VerdictDialog } from './verdict-dialog.tsx';

export function TriageDialog({
  request,
  everything,
  onDone,
  onSuppress,
  onClose,
}: {
  request: DialogRequest;
  everything: Everything | undefined;
  onDone: (change: Change) => void;
  onSuppress: (rows: readonly AlertRow[]) => void;
  onClose: () => void;
}) {
  const { kind, rows } = request;
  const what = nameOf(request.target);
  const shared = { what, request, onDone, onClose };
  if (kind === 'resolve') return <ResolveDialog {...shared} />;
  if (kind === 'verdict') return <VerdictDialog {...shared} />;
  if (kind === 'note') return <NoteDialog {...shared} />;
  if (kind === 'archive') return <ArchiveDialog {...shared} />;
  // A single alert is the only target, even while all alerts are selected.
  const left = everything === undefined || rows.length < 2 ? 0 : everything.total - rows.length;
  return <SilenceDialog what={what} rows={rows} left={left} onSuppress={onSuppress} onClose={onClose} />;
}
