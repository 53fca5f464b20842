/** Findings of one code that are listed one by one; all are counted. */
const maxListed = 100;

/**
 * What a finding means for the log. `derived`: computed from the entries, and can be computed again. `content`: entries
 * or heads are gone or altered. `rollback`: more, or other, was signed than the file has. `witness`: not the log itself but
 * what watches it.
 */
type Severity = 'derived' | 'content' | 'rollback' | 'witness';

interface Code {
  readonly severity: Severity;
  readonly advice: string;
}

const rebuild =
  'Stop the service and run `candor rebuild`, which computes it again from the entries; nothing is lost.';
const restore =
  'Only if that does not help: `candor restore --replace <backup>`. It loses every entry after the backup, and the log ' +
  'continues as a new life under new keys, which every auditor sees.';
const rescue =
  'Stop the service, copy the folder and check the disk. `candor rebuild --dry-run` shows what can be recovered from the ' +
  `file, and \`candor rebuild\` recovers it. ${restore}`;
const wentBack =
  'The file was rolled back, replaced or altered. Stop the service and find out by whom. If the newer ledger.mdb still ' +
  'exists, put it back. `candor rebuild --dry-run` shows what this file still holds, and `candor rebuild --accept-loss` ' +
  `continues from it. ${restore}`;
const watch =
  'Compare the log with what auditors hold. If they agree with it, stop the service, move this file aside and start again.';

/** Every kind of finding, and what the operator can do about it. */
export const findingCodes = {
  /** The file can't be opened as a database at all. */
  no_database: { severity: 'content', advice: rescue },
  /** The file is shorter than its pages in use. */
  file_cut: { severity: 'content', advice: rescue },
  /** One of the two meta pages was written in part: what the last commit left can't be relied on. */
  meta_torn: { severity: 'derived', advice: 'Stop the service and run `candor rebuild`.' },
  /** A page of a table can't be followed. What it costs is told by the findings about entries and heads. */
  page_unreadable: { severity: 'derived', advice: rebuild },
  /** A table of the file is not there. */
  table_missing: { severity: 'derived', advice: rebuild },
  /** A row that doesn't belong in its table. */
  row_unknown: { severity: 'derived', advice: rebuild },
  /** Not initialised, or of another format. */
  format_unknown: { severity: 'derived', advice: rescue },
  entry_missing: { severity: 'content', advice: rescue },
  entry_altered: { severity: 'content', advice: rescue },
  /** Bytes that are no canonical entry, though they may hash to their leaf. */
  entry_malformed: { severity: 'content', advice: wentBack },
  entry_key: {
    severity: 'content',
    advice: 'Put the key file back from a backup; if there never was one, treat the entry as forged.',
  },
  entry_signature: { severity: 'content', advice: wentBack },
  /** Beyond the last head: a commit that was cut short, or a head that was taken away. */
  entry_beyond: {
    severity: 'derived',
    advice: 'Stop the service and run `candor rebuild`, which leaves it out: no head was signed for it.',
  },
  node_missing: { severity: 'derived', advice: rebuild },
  node_altered: { severity: 'derived', advice: rebuild },
  node_beyond: { severity: 'derived', advice: rebuild },
  head_malformed: { severity: 'content', advice: rescue },
  /** A head whose root the entries don't give. */
  head_root: { severity: 'content', advice: wentBack },
  head_signature: { severity: 'content', advice: rescue },
  head_key: {
    severity: 'content',
    advice: 'Put the key file back from a backup: without it nobody can verify this head.',
  },
  /** Signed by a key at a size that it doesn't cover. */
  head_range: {
    severity: 'witness',
    advice: 'Auditors refuse this head. Sign a new one by rotating the tree-head key.',
  },
  head_order: { severity: 'content', advice: wentBack },
  /** A head that was signed, as anchor, journal, checkpoint, entries or its number show, and is not in the history. */
  head_missing: { severity: 'derived', advice: rescue },
  /** The active checkpoint key is not the first one, nor one that an entry names as its replacement. */
  checkpoint_key_replaced: {
    severity: 'witness',
    advice:
      'The key file was replaced. Compare the checkpoint key with the one that witnesses and auditors know. Put the old ' +
      'file back from a copy; if it was stolen, then revoke it, which replaces it in the log.',
  },
  id_index: { severity: 'derived', advice: rebuild },
  leaf_index: { severity: 'derived', advice: rebuild },
  kind_index: { severity: 'derived', advice: rebuild },
  head_numbers: { severity: 'derived', advice: rebuild },
  anchor_unreadable: { severity: 'witness', advice: watch },
  anchor_signature: { severity: 'witness', advice: watch },
  /** The anchor holds a signed head that the log can't have come from. */
  anchor_ahead: { severity: 'rollback', advice: wentBack },
  anchor_root: { severity: 'rollback', advice: wentBack },
  journal_unreadable: { severity: 'witness', advice: watch },
  journal_signature: { severity: 'witness', advice: watch },
  journal_ahead: { severity: 'rollback', advice: wentBack },
  journal_root: { severity: 'rollback', advice: wentBack },
  key_damaged: { severity: 'witness', advice: 'Put the key file back from a backup.' },
  /** No key file of one purpose is active, so the log cannot go on. */
  key_missing: {
    severity: 'witness',
    advice: 'Put the key file back from a copy: the log does not start without it.',
  },
  /** No key file can be used. */
  keys_missing: {
    severity: 'content',
    advice: 'Put the key files back from a backup: without them nothing can be verified.',
  },
} as const satisfies Record<string, Code>;

export type FindingCode = keyof typeof findingCodes;

export interface FsckFinding {
  readonly code: FindingCode;
  readonly message: string;
  /** Leaf index, tree size or page number that it is about. */
  readonly position?: number;
  readonly advice: string;
}

/** Whether one of these says that the file itself is damaged. */
export function isDamage(codes: readonly FindingCode[]): boolean {
  return codes.some((code) => ['derived', 'content'].includes(findingCodes[code].severity));
}

/** What was found, in a form that crosses threads. */
export type FoundThings = Pick<Findings, 'list' | 'counts'>;

/** Collects what is found: the first of each code one by one, all of them as counts. */
export class Findings {
  readonly list: FsckFinding[] = [];
  readonly counts: Partial<Record<FindingCode, number>> = {};

  /** @param times - how many things the one finding stands for */
  add(code: FindingCode, message: string, position?: number, times = 1): void {
    const before = this.counts[code] ?? 0;
    this.counts[code] = before + times;
    if (this.list.reduce((n, finding) => n + Number(finding.code === code), 0) >= maxListed) return;
    const { advice } = findingCodes[code];
    this.list.push({ code, message, advice, ...(position === undefined ? {} : { position }) });
  }

  /** Takes in what another thread found. */
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
