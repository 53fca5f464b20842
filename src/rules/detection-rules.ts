import { detectionReloaded } from '../contract/critical-events.ts';
import type {
  Rule,
  RuleInput,
  RulesReloaded,
  RuleTestInput,
  RuleTestResult,
  RuleUpdateInput,
  RuleValidation,
} from '../contract/resources/rule.ts';
import { listRules } from '../detect/lists.ts';
import { packRules } from '../detect/packed-rules.ts';
import type { PackedRules } from '../detect/record-rules.ts';
import type { Problem, SigmaDocument } from '../detect/sigma/document.ts';
import type { Placeholders } from '../detect/sigma/item.ts';
import { problemOf } from '../detect/sigma/problem.ts';
import type { RuleOrigin, RuleRow } from '../detect/store/rule-row.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { maxTime } from '../events/format/columns.ts';
import { SerialQueue } from '../files/serial-queue.ts';
import { limits } from '../limits.ts';
import type { Pool, RunOptions } from '../rpc/pool.ts';
import type { Actor, ListPage, ListQuery, Store, StoreReader } from '../store/store.ts';
import { canonicalUuid } from '../uuid.ts';
import { splitDocuments } from './rule-folder.ts';
import {
  differenceOf,
  documentOf,
  findingKey,
  headOf,
  inOrder,
  inParts,
  type Rows,
  rowsOfFolder,
  ruleOf,
  sha256,
  told,
} from './rule-set.ts';
import type { ParsedRule, RuleTasks } from './tasks.ts';

const system: Actor = { id: 'system', name: 'system' };

export interface RulesParts {
  /** Folders with rules. If a folder is missing, the rules last read from the folder are kept. */
  readonly folders: readonly { readonly origin: Exclude<RuleOrigin, 'api'>; readonly path: string }[];
  readonly reader: Pick<StoreReader, 'storedRules' | 'rulesVersion'>;
  readonly writer: Pick<Store, 'changeRules'>;
  readonly tasks: Pick<Pool<RuleTasks>, 'run'>;
  /** The values of `%name%` in rules with `expand`, fixed while the process runs. */
  readonly placeholders: Placeholders;
  readonly sources: { now(): number; newId(): string };
  /** Whether the log has entries. If the log has no entries, the initial rules are not logged. */
  readonly isUsed: boolean;
  /** Reports a problem with the rules to the operator. */
  warn(message: string, details: object): void;
}

/** The rules in effect, with the state of each rule. */
interface InEffect extends PackedRules {
  readonly rows: Rows;
  /** Parsed rules, by the SHA-256 of their texts. */
  readonly parsed: ReadonlyMap<string, ParsedRule>;
  readonly errors: ReadonlyMap<string, readonly string[]>;
  readonly missing: ReadonlyMap<string, readonly string[]>;
  readonly costs: ReadonlyMap<string, number>;
  /** Enabled rules that are not applied because of their cost. */
  readonly tooCostly: ReadonlySet<string>;
  readonly correlations: Uint8Array;
}

/** Rules that are ready to take effect. */
type Prepared = Omit<InEffect, 'version'> & { readonly problems: ReadonlyMap<string, readonly Problem[]> };

/**
 * Owns the detection rules. Rules of folders and rules created over the API are both stored in siem.mdb, with a flag
 * that states whether each rule is enabled. Changes are made one at a time:
 *
 * ```
 *   read and parse new texts ─► compile all ─► rows, correlations, entry: one transaction ─► in effect
 *        (rules thread)        (rules thread)               (store)
 * ```
 *
 * A failure before the transaction changes nothing; after a later crash, the next start loads the stored rules.
 */
export class DetectionRules {
  readonly #parts: RulesParts;
  #now: InEffect;
  /** Number of matches by rule, and of findings by correlation, since the start or since the rule was enabled. */
  readonly #hits = new Map<string, number>();
  /** Longest processing time of a record in milliseconds, by rule, since the last change of the rules. */
  #slow = new Map<string, number>();
  readonly #queue = new SerialQueue();
  #waiting = 0;
  /** Number of changes in progress, by principal. */
  readonly #changesOf = new Map<string, number>();

  private constructor(parts: RulesParts) {
    this.#parts = parts;
    this.#now = {
      version: 0,
      documents: packRules({ documents: [], placeholders: parts.placeholders }),
      rows: new Map(),
      parsed: new Map(),
      errors: new Map(),
      missing: new Map(),
      costs: new Map(),
      tooCostly: new Set(),
      correlations: new Uint8Array(0),
    };
  }

  /** Loads the stored rules, then the rules in the folders. */
  static async open(parts: RulesParts): Promise<DetectionRules> {
    const rules = new DetectionRules(parts);
    await rules.#takeKept();
    try {
      await rules.reload(system);
    } catch (error) {
      // Logs only a warning, because problems in the folders, or a full disk, must not prevent a start.
      if (!(error instanceof ServiceError)) throw error;
      parts.warn('cannot reload the detection rules; keeping the previous ones', { err: error });
    }
    return rules;
  }

  get inEffect(): PackedRules {
    const { version, documents } = this.#now;
    return { version, documents };
  }

  /** Counts the matches of a body's records, and the findings of correlations. */
  count(hits: readonly (readonly [rule: string, times: number])[], fired: readonly string[] = []): void {
    const add = (rule: string, times: number) => this.#hits.set(rule, (this.#hits.get(rule) ?? 0) + times);
    for (const [rule, times] of hits) add(rule, times);
    for (const correlation of fired) add(correlation, 1);
  }

  /** Records rules that took too long to evaluate for a record. */
  wereSlow(rules: readonly (readonly [rule: string, ms: number])[]): void {
    for (const [rule, ms] of rules) this.#slow.set(rule, Math.max(ms, this.#slow.get(rule) ?? 0));
  }

  /** Returns rules in effect that took long to evaluate for a record, the slowest first. */
  slow(): (readonly [rule: string, ms: number])[] {
    return [...this.#slow].toSorted(([, a], [, b]) => b - a);
  }

  list(query: ListQuery): ListPage {
    return listRules(new Map(Array.from(this.#now.rows.values(), (row) => [row.id, this.#shown(row)])), query);
  }

  /** Returns a rule. @throws NOT_FOUND */
  get(id: string): { readonly id: string; readonly rule: Rule } {
    const row = this.#row(id);
    return { id: row.id, rule: this.#shown(row) };
  }

  /**
   * Creates a rule. @throws INVALID_REQUEST naming line and field; CONFLICT if the id already exists or a rule limit is
   * reached
   */
  create({ source, enabled = true }: RuleInput, by: Actor): Promise<{ id: string; rule: Rule }> {
    return this.#inTurn(by, async () => {
      const parsed = await this.#parseNew(source);
      const { document } = parsed;
      const id = canonicalUuid(document.id ?? '') ?? this.#parts.sources.newId();
      if (this.#now.rows.has(id))
        throw new ServiceError('CONFLICT', `rule ${id} already exists`, { field: 'source', rule_id: id });
      const row: RuleRow = {
        id,
        origin: 'api',
        line: 1,
        source,
        sha256: sha256(source),
        ...headOf(parsed, id),
        enabled,
        version: 1,
        changed_at: this.#time(),
      };
      await this.#put(row, by);
      return this.get(id);
    });
  }

  /**
   * Changes a rule. @throws NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST; CONFLICT if the text of a rule from a rule
   * folder would change, or if a rule limit is reached
   */
  update(
    id: string,
    { source, enabled }: RuleUpdateInput,
    by: Actor,
    version?: number,
  ): Promise<{ id: string; rule: Rule; unchanged: boolean }> {
    return this.#inTurn(by, async () => {
      const before = this.#row(id, version);
      const text = source ?? before.source;
      const after = { ...before, source: text, sha256: sha256(text), enabled: enabled ?? before.enabled };
      if (after.sha256 === before.sha256 && after.enabled === before.enabled)
        return { ...this.get(before.id), unchanged: true };
      if (after.sha256 === before.sha256) {
        await this.#put(this.#changed(after), by);
        return { ...this.get(before.id), unchanged: false };
      }
      if (before.origin !== 'api')
        throw new ServiceError(
          'CONFLICT',
          `rule ${before.id} is from the file ${before.file}: change that file and reload`,
          {
            field: 'source',
            reason: 'comes from a file',
          },
        );
      const parsed = await this.#parseNew(text);
      const own = canonicalUuid(parsed.document.id ?? '');
      if (own !== undefined && own !== before.id)
        throw invalidField('source', `has the id ${own}, but this rule is ${before.id}`);
      await this.#put(this.#changed({ ...after, ...headOf(parsed, before.id) }), by);
      return { ...this.get(before.id), unchanged: false };
    });
  }

  /** Removes a rule. @throws NOT_FOUND; VERSION_MISMATCH; CONFLICT for a rule from a folder */
  remove(id: string, by: Actor, version?: number): Promise<void> {
    return this.#inTurn(by, async () => {
      const row = this.#row(id, version);
      if (row.origin !== 'api')
        throw new ServiceError(
          'CONFLICT',
          `rule ${row.id} is from the file ${row.file}: it can be disabled, but not removed`,
        );
      const rows = new Map(this.#now.rows);
      rows.delete(row.id);
      await this.#apply(await this.#prepare(rows), by);
    });
  }

  /** Reads the folders again, and puts their rules into effect. */
  reload(by: Actor): Promise<RulesReloaded & { readonly unchanged: boolean }> {
    return this.#inTurn(by, async () => {
      const { rows, problems } = await this.#readFolders();
      const prepared = await this.#prepare(rows);
      const { added, removed, changed } = differenceOf(this.#now.rows, rows);
      await this.#apply(prepared, by);
      const broken = [...problems, ...[...this.#now.errors.values()].flat()];
      if (broken.length > 0)
        this.#parts.warn('some detection rules cannot be applied', {
          broken: broken.length,
          first: broken.slice(0, 20),
        });
      return {
        version: this.#now.version,
        added: added.length,
        removed: removed.length,
        changed: changed.length,
        broken: broken.slice(0, limits.maxSigmaProblems),
        unchanged: added.length + removed.length + changed.length === 0,
      };
    });
  }

  /** Returns the problems of documents when they are compiled together with the rules in effect. */
  async validate(source: string, options?: RunOptions): Promise<RuleValidation> {
    const texts = splitDocuments(source);
    if (texts.length === 0) throw invalidField('source', 'contains no document');
    const { tasks } = this.#parts;
    const parsed = await tasks.run(
      'parseRules',
      texts.map(({ text }) => text),
      options,
    );
    const at = (line: number, problems: readonly Problem[]) =>
      problems.map((problem) => ({ ...problem, line: problem.line + line - 1 }));
    const problems = parsed.flatMap((one, n) => at(texts[n]!.line, one.problems));
    const documents = parsed.flatMap(({ document }) => (document === undefined ? [] : [document]));
    const keys = new Set(documents.map(findingKey));
    const others = this.#documents().filter((one) => {
      const key = findingKey(one);
      return key === undefined || !keys.has(key);
    });
    const compiled = await tasks.run(
      'validateRules',
      { packed: this.#packed([...others, ...documents]), inEffect: others.length },
      options,
    );
    const lines = parsed.flatMap(({ document }, n) => (document === undefined ? [] : [texts[n]!.line]));
    for (const [place, refused] of compiled.refused)
      if (place >= others.length) problems.push(...at(lines[place - others.length]!, refused));
    return {
      valid: problems.length === 0,
      documents: documents.length,
      problems: problems.slice(0, limits.maxSigmaProblems),
    };
  }

  /** Tests rules on stored events. @throws INVALID_REQUEST naming line and field; CANCELLED */
  async test({ source, from, to }: RuleTestInput, options?: RunOptions): Promise<RuleTestResult> {
    const now = this.#parts.sources.now();
    const query = {
      source,
      documents: this.#now.documents,
      from: from === undefined ? 0 : Date.parse(from),
      to: to === undefined ? maxTime : Date.parse(to),
      now,
    };
    if (query.from >= query.to) throw invalidField('from', 'must be before to');
    const result = await this.#parts.tasks.run('testRules', query, options);
    if (!('lookedAt' in result)) throw broken(result.problems);
    return {
      looked_at: result.lookedAt,
      cut_short: result.cutShort !== undefined,
      ...(result.cutShort === undefined ? {} : { cut_short_by: result.cutShort }),
      answerable: result.answerable,
      not_stored: [...result.notStored],
      matched: result.matched,
      matches: result.matches.map((match) => {
        const { rule_id, title, severity, src_ip, src_port, dst_ip, dst_port, domain, description } = match;
        return {
          ...{ rule_id, title, severity },
          timestamp: new Date(match.timestamp).toISOString(),
          event_ids: [...match.event_ids],
          ...(src_ip === undefined ? {} : { src_ip }),
          ...(src_port === undefined ? {} : { src_port }),
          ...(dst_ip === undefined ? {} : { dst_ip }),
          ...(dst_port === undefined ? {} : { dst_port }),
          ...(domain === undefined ? {} : { domain }),
          ...(description === undefined ? {} : { description }),
        };
      }),
    };
  }

  /** Waits for the changes that were requested so far. */
  async close(): Promise<void> {
    await this.#queue.idle();
  }

  /** Runs changes one after another, and limits them per principal, so that no principal can fill the queue. */
  #inTurn<T>(by: Actor, work: () => Promise<T>): Promise<T> {
    const own = this.#changesOf.get(by.id) ?? 0;
    if (own >= limits.maxRuleChangesPerPrincipal && by.id !== system.id)
      return Promise.reject(
        new ServiceError('RATE_LIMITED', `${own} changes of the rules by this principal are already in progress`, {
          retry_after_s: 1,
        }),
      );
    if (this.#waiting >= limits.maxQueuedRuleChanges)
      return Promise.reject(new ServiceError('OVERLOADED', 'too many changes of the detection rules are waiting'));
    this.#waiting++;
    this.#changesOf.set(by.id, own + 1);
    return this.#queue.run(async () => {
      this.#waiting--;
      try {
        // If the store thread ended before acknowledging a change, the change may have been made.
        if (this.#parts.reader.rulesVersion() !== this.#now.version) await this.#takeKept();
        return await work();
      } finally {
        const left = this.#changesOf.get(by.id)! - 1;
        if (left === 0) this.#changesOf.delete(by.id);
        else this.#changesOf.set(by.id, left);
      }
    });
  }

  async #takeKept(): Promise<void> {
    const { version, rules, correlations } = this.#parts.reader.storedRules();
    const prepared = await this.#prepare(new Map(rules.map((row) => [row.id, row])));
    this.#now = { ...prepared, version, correlations: correlations ?? new Uint8Array(0) };
  }

  async #readFolders(): Promise<{ rows: Rows; problems: string[] }> {
    const { folders, tasks } = this.#parts;
    const before = this.#now.rows;
    const problems: string[] = [];
    const rows = new Map<string, RuleRow>();
    for (const row of before.values()) if (row.origin === 'api') rows.set(row.id, row);
    for (const { origin, path } of folders) {
      const content = await tasks.run('readRuleFolder', path);
      if (content === undefined) {
        const kept = [...before.values()].filter((row) => row.origin === origin);
        if (kept.length > 0) problems.push(`${path} is missing: keeping the rules last read from this folder`);
        for (const row of kept) rows.set(row.id, row);
        continue;
      }
      problems.push(...content.problems);
      const room = limits.maxRules - rows.size;
      if (content.documents.length > room)
        problems.push(
          `${path}: only the first ${Math.max(0, room)} rules are loaded, because the limit of all rules is ${limits.maxRules}`,
        );
      const documents = content.documents.slice(0, Math.max(0, room));
      const parsed = await this.#parse(documents.map(({ text }) => text));
      const ofText = (text: string) => parsed.get(sha256(text))!;
      const taken = new Set(rows.keys());
      for (const row of rowsOfFolder(origin, documents, ofText, before, taken, this.#time())) rows.set(row.id, row);
    }
    return { rows, problems };
  }

  /** Returns parsed rules by the SHA-256 of their texts. Texts of rules in effect are not parsed again. */
  async #parse(texts: readonly string[]): Promise<Map<string, ParsedRule>> {
    const found = new Map<string, ParsedRule>();
    const missing = new Map<string, string>();
    for (const text of texts) {
      const hash = sha256(text);
      const known = this.#now.parsed.get(hash);
      if (known === undefined) missing.set(hash, text);
      else found.set(hash, known);
    }
    for (const part of inParts([...missing])) {
      const parsed = await this.#parts.tasks.run(
        'parseRules',
        part.map(([, text]) => text),
      );
      part.forEach(([hash], n) => void found.set(hash, parsed[n]!));
    }
    return found;
  }

  /** Parses one document from a request. */
  async #parseNew(source: string): Promise<ParsedRule & { readonly document: SigmaDocument }> {
    const count = splitDocuments(source).length;
    if (count !== 1)
      throw invalidField(
        'source',
        count === 0 ? 'contains no document' : `contains ${count} documents: send each separately`,
      );
    const parsed = (await this.#parse([source])).get(sha256(source))!;
    const { document } = parsed;
    if (document === undefined) throw broken(parsed.problems);
    return { ...parsed, document };
  }

  /** Parses new texts of these rules, and compiles the enabled rules. */
  async #prepare(rows: Rows): Promise<Prepared> {
    const parsed = await this.#parse(Array.from(rows.values(), ({ source }) => source));
    const ordered = inOrder(rows.values());
    const applied = ordered.flatMap((row) => {
      const document = row.enabled ? parsed.get(row.sha256)?.document : undefined;
      return document === undefined ? [] : [{ row, document: documentOf(row, document) }];
    });
    const compiled = await this.#parts.tasks.run('compileRules', this.#packed(applied.map(({ document }) => document)));
    const over = new Set(compiled.tooCostly);
    // Only rules within the cost limit are packed, because other threads do not measure costs.
    const documents = this.#packed(applied.flatMap(({ document }, at) => (over.has(at) ? [] : [document])));
    const problems = new Map<string, readonly Problem[]>();
    for (const row of ordered) {
      const its = parsed.get(row.sha256)?.problems ?? [];
      if (its.length > 0) problems.set(row.id, its);
    }
    for (const [at, its] of compiled.refused) {
      const { row, document } = applied[at]!;
      // A refused rule always has a problem, so that its state shows an error.
      problems.set(row.id, its.length > 0 ? its : [problemOf(document, [], 'is refused')]);
    }
    const errors = new Map(
      Array.from(problems, ([id, its]) => [id, its.map((problem) => told(rows.get(id)!, problem))]),
    );
    const ofRows = <T>(given: readonly (readonly [at: number, of: T])[]) =>
      new Map(given.map(([at, of]) => [applied[at]!.row.id, of]));
    const [missing, costs] = [ofRows(compiled.missing), ofRows(compiled.costs)];
    const tooCostly = new Set(compiled.tooCostly.map((at) => applied[at]!.row.id));
    const { correlations } = compiled;
    return { rows, parsed, documents, errors, missing, costs, tooCostly, problems, correlations };
  }

  async #put(row: RuleRow, by: Actor): Promise<void> {
    const rows = new Map(this.#now.rows).set(row.id, row);
    const bytes = [...rows.values()].reduce((sum, { source }) => sum + source.length, 0);
    if (rows.size > limits.maxRules || bytes > limits.maxRulesBytes)
      throw new ServiceError(
        'CONFLICT',
        rows.size > limits.maxRules
          ? `rule limit reached (${limits.maxRules})`
          : `the texts of all rules must have at most ${limits.maxRulesBytes} bytes together`,
      );
    const prepared = await this.#prepare(rows);
    const problems = prepared.problems.get(row.id);
    // Broken rules are accepted only if they are disabled. An enabled rule is also refused if its cost would push
    // another rule over the cost limit.
    if (row.enabled && problems !== undefined && problems.length > 0) throw broken(problems);
    const [displaced] = [...prepared.tooCostly].filter((id) => !this.#now.tooCostly.has(id) && id !== row.id);
    if (row.enabled && displaced !== undefined) {
      const [problem] = prepared.problems.get(displaced)!;
      const reason = `costs ${prepared.costs.get(row.id)}, which leaves too little for rule ${displaced}: that rule ${problem!.reason}`;
      throw broken([{ line: 1, field: '', reason }]);
    }
    await this.#apply(prepared, by);
  }

  async #apply(prepared: Prepared, by: Actor): Promise<void> {
    const { writer, isUsed } = this.#parts;
    const before = this.#now;
    const diff = differenceOf(before.rows, prepared.rows);
    const isChanged = diff.added.length + diff.removed.length + diff.changed.length > 0;
    const moved = [...prepared.rows.values()].filter((row) => {
      const was = before.rows.get(row.id);
      return was === undefined || was.version !== row.version || was.line !== row.line || was.file !== row.file;
    });
    const isSame = Buffer.from(before.correlations).equals(prepared.correlations);
    if (!isChanged && isSame && moved.length === 0) {
      this.#now = { ...prepared, version: before.version };
      return;
    }
    const version = before.version + 1;
    const initial = before.version === 0 && !isUsed;
    const correlations = prepared.correlations.slice();
    await writer.changeRules(
      {
        version,
        put: moved,
        remove: diff.removed.map(({ id }) => id),
        correlations,
        ...(isChanged && !initial ? { event: detectionReloaded({ version, ...diff }, by.id) } : {}),
      },
      by,
    );
    this.#now = { ...prepared, version };
    this.#forgetHits();
    this.#slow = new Map();
  }

  /** Removes the hits of rules that were removed or disabled. */
  #forgetHits(): void {
    const keys = new Set(this.#documents().map(findingKey));
    for (const rule of this.#hits.keys()) if (!keys.has(rule)) this.#hits.delete(rule);
  }

  /** Returns the parsed documents of the enabled rules, including rules that cannot be applied. */
  #documents(): SigmaDocument[] {
    return inOrder(this.#now.rows.values()).flatMap(({ id, enabled, sha256 }) => {
      const document = enabled ? this.#now.parsed.get(sha256)?.document : undefined;
      return document === undefined ? [] : [documentOf({ id }, document)];
    });
  }

  #packed(documents: readonly SigmaDocument[]): SharedArrayBuffer {
    return packRules({ documents, placeholders: this.#parts.placeholders });
  }

  #shown(row: RuleRow): Rule {
    const { parsed, errors, missing, costs } = this.#now;
    const its = parsed.get(row.sha256) ?? { problems: [] };
    const key = findingKey(its.document === undefined ? undefined : documentOf(row, its.document));
    return ruleOf(row, its, {
      hits: (key === undefined ? undefined : this.#hits.get(key)) ?? 0,
      errors: errors.get(row.id) ?? [],
      missing: missing.get(row.id) ?? [],
      cost: costs.get(row.id),
    });
  }

  #row(id: string, version?: number): RuleRow {
    const row = this.#now.rows.get(id.toLowerCase());
    if (row === undefined) throw new ServiceError('NOT_FOUND', `there is no rule ${id}`);
    if (version !== undefined && version !== row.version)
      throw new ServiceError('VERSION_MISMATCH', `rule ${row.id} has version ${row.version}, not ${version}`, {
        version: row.version,
      });
    return row;
  }

  #changed(row: RuleRow): RuleRow {
    return { ...row, version: row.version + 1, changed_at: this.#time() };
  }

  #time(): string {
    return new Date(this.#parts.sources.now()).toISOString();
  }
}

/** Returns an error with the first problem of a text and the number of problems. */
function broken(problems: readonly Problem[]): ServiceError {
  const [first = { line: 1, field: '', reason: 'cannot be used' }] = problems;
  const { line, field, reason } = first;
  const where = `line ${line}: ${field === '' ? '' : `${field} `}${reason}`;
  return new ServiceError('INVALID_REQUEST', `source, ${where}`, {
    field: 'source',
    reason: where,
    line,
    ...(field === '' ? {} : { rule_field: field }),
    problems: problems.length,
  });
}
