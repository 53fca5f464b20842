import { restoreAdvice } from '../../database/damage.ts';

/** Maximum findings of one code that are listed individually; the others are only counted. */
const maxListed = 100;

/**
 * The meaning of a finding. `derived`: damaged data that can be recomputed from the entries. `content`: entries or
 * heads are missing or altered. `rollback`: the log signed more than the file holds, or something different. `witness`:
 * the log is intact, but a key file or a file that monitors the log is damaged.
 */
type Severity = 'derived' | 'content' | 'rollback' | 'witness';

interface Code {
  readonly severity: Severity;
  readonly advice: string;
}

const rebuild =
  'Stop the service and run `candor rebuild`, which recomputes the data from the entries; nothing is lost.';
const rescue =
  'Stop the service, copy the folder and check the disk. `candor rebuild --dry-run` shows what can be recovered from the ' +
  `file, and \`candor rebuild\` recovers it. ${restoreAdvice()}`;
const rolledBack =
  'The file was rolled back, replaced or altered. Stop the service and find out who did it. If the newer ledger.mdb still ' +
  'exists, put it back. `candor rebuild --dry-run` shows what this file still holds, and `candor rebuild --accept-loss` ' +
  `continues from it. ${restoreAdvice()}`;
const watch =
  'Compare the log with the heads that auditors hold. If they match, stop the service, move this file aside and start again.';

const missing =
  'Find out who removed the file, and compare the log with the heads that auditors hold. The next start writes a new file.';

/** Every kind of finding, with advice for the operator. */
export const findingCodes = {
  /** The file cannot be opened as a database. */
  no_database: { severity: 'content', advice: rescue },
  /** The file is shorter than its pages in use. */
  file_cut: { severity: 'content', advice: rescue },
  /** One of the two meta pages was partly written, so the result of the last commit is unreliable. */
  meta_torn: { severity: 'derived', advice: 'Stop the service and run `candor rebuild`.' },
  /** A page of a table is damaged. Findings about entries and heads report the consequences. */
  page_unreadable: { severity: 'derived', advice: rebuild },
  /** A table of the file is missing. */
  table_missing: { severity: 'derived', advice: rebuild },
  /** A row that does not belong in its table. */
  row_unknown: { severity: 'derived', advice: rebuild },
  /** The file is not initialised, or has another format. */
  format_unknown: { severity: 'derived', advice: rescue },
  entry_missing: { severity: 'content', advice: rescue },
  entry_altered: { severity: 'content', advice: rescue },
  /** Bytes that are not a canonical entry, although they may match their leaf hash. */
  entry_malformed: { severity: 'content', advice: rolledBack },
  entry_key: {
    severity: 'content',
    advice: 'Put the key file back from a backup; if there never was such a file, treat the entry as forged.',
  },
  entry_signature: { severity: 'content', advice: rolledBack },
  /** An entry beyond the last head, because of an interrupted commit or a removed head. */
  entry_beyond: {
    severity: 'derived',
    advice: 'Stop the service and run `candor rebuild`, which omits this entry, because no signed head covers it.',
  },
  node_missing: { severity: 'derived', advice: rebuild },
  node_altered: { severity: 'derived', advice: rebuild },
  node_beyond: { severity: 'derived', advice: rebuild },
  head_malformed: { severity: 'content', advice: rescue },
  /** A head whose root differs from the root of the entries. */
  head_root: { severity: 'content', advice: rolledBack },
  head_signature: { severity: 'content', advice: rescue },
  head_key: {
    severity: 'content',
    advice: 'Put the key file back from a backup: without it this head cannot be verified.',
  },
  /** A head whose tree size is outside the range of sizes that its key may sign. */
  head_range: {
    severity: 'witness',
    advice: 'Auditors refuse this head. Rotate the tree-head key, which signs a new head.',
  },
  head_order: { severity: 'content', advice: rolledBack },
  /**
   * A head that is missing from the history although the anchor, the journal, the checkpoint, an entry or the numbering
   * shows that it was signed.
   */
  head_missing: { severity: 'derived', advice: rescue },
  /** The active checkpoint key is neither the first checkpoint key nor named as a replacement by an entry. */
  checkpoint_key_replaced: {
    severity: 'witness',
    advice:
      'The key file was replaced. Compare the checkpoint key with the one that witnesses and auditors know. Put the old ' +
      'file back from a copy. If the old key was stolen, revoke it afterwards: `key.revoked` then names the new key.',
  },
  id_index: { severity: 'derived', advice: rebuild },
  leaf_index: { severity: 'derived', advice: rebuild },
  kind_index: { severity: 'derived', advice: rebuild },
  head_numbers: { severity: 'derived', advice: rebuild },
  anchor_unreadable: { severity: 'witness', advice: watch },
  anchor_signature: { severity: 'witness', advice: watch },
  /** The anchor holds a signed head that the log does not extend. */
  anchor_ahead: { severity: 'rollback', advice: rolledBack },
  anchor_root: { severity: 'rollback', advice: rolledBack },
  journal_unreadable: { severity: 'witness', advice: watch },
  journal_signature: { severity: 'witness', advice: watch },
  journal_ahead: { severity: 'rollback', advice: rolledBack },
  journal_root: { severity: 'rollback', advice: rolledBack },
  /** A key file records a larger size than the log has. */
  keys_ahead: { severity: 'rollback', advice: rolledBack },
  /** siem.mdb records entries, or a life of the log, that the log does not have. */
  store_ahead: { severity: 'rollback', advice: rolledBack },
  anchor_missing: { severity: 'witness', advice: missing },
  journal_missing: { severity: 'witness', advice: missing },
  key_damaged: { severity: 'witness', advice: 'Put the key file back from a backup.' },
  /** No key file of one purpose is active, so the log cannot continue. */
  key_missing: {
    severity: 'witness',
    advice: 'Put the key file back from a copy: the log does not start without it.',
  },
  /** No key file is usable. */
  keys_missing: {
    severity: 'content',
    advice: 'Put the key files back from a backup: without them nothing can be verified.',
  },
} as const satisfies Record<string, Code>;

export type FindingCode = keyof typeof findingCodes;

export interface FsckFinding {
  readonly code: FindingCode;
  readonly message: string;
  /** The leaf index, tree size or page number concerned. */
  readonly position?: number;
  readonly advice: string;
}

/** Returns whether one of these codes means that the file itself is damaged. */
export function isDamage(codes: readonly FindingCode[]): boolean {
  return codes.some((code) => ['derived', 'content'].includes(findingCodes[code].severity));
}

/** Findings in a form that can be sent to another thread. */
export type FoundThings = Pick<Findings, 'list' | 'counts'>;

/** Collects findings: lists the first `maxListed` findings of each code, and counts all findings. */
export class Findings {
  readonly list: FsckFinding[] = [];
  readonly counts: Partial<Record<FindingCode, number>> = {};

  /** Adds a finding. @param times - number of occurrences that this finding represents */
  add(code: FindingCode, message: string, position?: number, times = 1): void {
    const before = this.counts[code] ?? 0;
    this.counts[code] = before + times;
    if (this.list.reduce((n, finding) => n + Number(finding.code === code), 0) >= maxListed) return;
    const { advice } = findingCodes[code];
    this.list.push({ code, message, advice, ...(position === undefined ? {} : { position }) });
  }

  /** Adds the findings of another thread. */
  join({ list, counts }: FoundThings): void {
    for (const [code, count] of Object.entries(counts) as [FindingCode, number][]) {
      const listed = this.list.reduce((n, finding) => n + Number(finding.code === code), 0);
      this.counts[code] = (this.counts[code] ?? 0) + count;
      this.list.push(...list.filter((finding) => finding.code === code).slice(0, maxListed - listed));
    }
  }

  get isRolledBack(): boolean {
    return this.codes.some((code) => findingCodes[code].severity === 'rollback');
  }

  get codes(): FindingCode[] {
    return Object.keys(this.counts) as FindingCode[];
  }
}
