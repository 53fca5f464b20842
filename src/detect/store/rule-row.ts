import type { CriticalEvent } from '../../contract/critical-events.ts';
import type { Severity } from '../../contract/vocabulary.ts';

/** Origin of a rule: the program, the operator's folder, or the API. */
export type RuleOrigin = 'shipped' | 'folder' | 'api';

/** A stored Sigma document: its text and metadata. */
export interface RuleRow {
  /** UUID of the rule: the document's id if it has one. */
  readonly id: string;
  readonly origin: RuleOrigin;
  /** Path of the file in the folder; only for rules from a folder. */
  readonly file?: string;
  /** Line at which the document begins in its file, from 1. */
  readonly line: number;
  /** The text of this document only. */
  readonly source: string;
  /** SHA-256 of the source (hex). */
  readonly sha256: string;
  /** Title in the document; for an unreadable document, its location. */
  readonly title: string;
  readonly level: Severity;
  readonly enabled: boolean;
  /** Increases with each change of the rule. */
  readonly version: number;
  /** Time of the latest change, ISO 8601. */
  readonly changed_at: string;
}

/** All stored rules. */
export interface StoredRules {
  /** Increases with each change of any rule; 0 before the first change. */
  readonly version: number;
  readonly rules: readonly RuleRow[];
  /** Encoded by `packCorrelations`. */
  readonly correlations: Uint8Array | undefined;
}

/** One change of the rules. */
export interface RulesChange {
  /** The resulting version: the stored version plus 1. */
  readonly version: number;
  readonly put: readonly RuleRow[];
  readonly remove: readonly string[];
  /** All correlations after the change, encoded by `packCorrelations`. */
  readonly correlations: Uint8Array;
  /** Logged with the change; absent for the initial rules, and if rules only moved within or between files. */
  readonly event?: CriticalEvent;
}
