import type { CriticalEvent } from '../contract/critical-events.ts';
import type { Severity } from '../contract/vocabulary.ts';

/** Where a rule comes from: with the program, from the operator's folder, or made over the interface. */
export type RuleOrigin = 'shipped' | 'folder' | 'api';

/** One document of Sigma as it is kept: its text, and what was decided of it. */
export interface RuleRow {
  /** UUID: that of the document where it has one. */
  readonly id: string;
  readonly origin: RuleOrigin;
  /** Of rules from a folder: the file's path in it. */
  readonly file?: string;
  /** Where the document begins in its file, from 1. */
  readonly line: number;
  /** The document alone. */
  readonly source: string;
  /** SHA-256 of the source (hex). */
  readonly sha256: string;
  /** As in the document; of one that can't be read, its place. */
  readonly title: string;
  readonly level: Severity;
  readonly enabled: boolean;
  /** Grows with each change of it. */
  readonly version: number;
  /** ISO 8601. */
  readonly changed_at: string;
}

/** All rules, as they are kept. */
export interface StoredRules {
  /** Grows with each change of any rule; 0 before the first. */
  readonly version: number;
  readonly rules: readonly RuleRow[];
  /** By `packCorrelations`. */
  readonly correlations: Uint8Array | undefined;
}

/** What becomes of the rules, as one change. */
export interface RulesChange {
  /** That it makes: the one after what is kept. */
  readonly version: number;
  readonly put: readonly RuleRow[];
  readonly remove: readonly string[];
  /** All correlations from now on, by `packCorrelations`. */
  readonly correlations: Uint8Array;
  /** To be logged; absent for what the initialisation brings. */
  readonly event?: CriticalEvent;
}
