import type { Change } from './changes.ts';
import type { AlertRow } from './question.ts';
import type { Target } from './target.ts';

/** What is asked before something is done. */
export interface Asked {
  /** Each question has a dialog of its own, even where one follows the other at once. */
  readonly key: number;
  readonly kind: 'resolve' | 'silence' | 'note' | 'verdict' | 'archive';
  /** Those that are loaded. */
  readonly rows: readonly AlertRow[];
  readonly target: Target;
  /** What was answered before, where that could not be done. */
  readonly typed?: Change;
  /** Why it could not. */
  readonly failure?: string;
}

/** What a dialog is given that asks it, and calls with the answer. */
export interface AskedProps {
  /** The alerts, as they are called in a sentence. */
  readonly what: string;
  readonly asked: Asked;
  readonly onDone: (change: Change) => void;
  readonly onClose: () => void;
}
