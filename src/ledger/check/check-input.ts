import type { DatabaseFile, PageDamage, Table } from './database-file.ts';
import type { Findings } from './findings.ts';

/** The open file that a check reads, and where the check reports. */
export interface CheckInput {
  readonly file: DatabaseFile;
  readonly tables: ReadonlyMap<string, Table>;
  readonly findings: Findings;
  onDamage(damage: PageDamage): void;
}
