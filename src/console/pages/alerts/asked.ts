import type { Change } from './changes.ts';
import type { AlertRow } from './question.ts';
import type { Target } from './target.ts';

/** An open dialog for a change that is not sent yet. */
export interface DialogRequest {
  /** Unique per dialog, so that consecutive dialogs never share state. */
  readonly key: number;
  readonly kind: 'resolve' | 'silence' | 'note' | 'verdict' | 'archive';
  /** The selected alerts that are loaded. */
  readonly rows: readonly AlertRow[];
  readonly target: Target;
  /** The input of an earlier attempt that failed. */
  readonly draft?: Change;
  /** The reason why the earlier attempt failed. */
  readonly failure?: string;
}

/** Props of the triage dialogs. */
export interface TriageDialogProps {
  /** The name of the alerts in a sentence: a quoted title, or a count. */
  readonly what: string;
  readonly request: DialogRequest;
  readonly onDone: (change: Change) => void;
  readonly onClose: () => void;
}
