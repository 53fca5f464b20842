import type { Alert } from '../../contract/resources/alert.ts';
import { criticalities } from '../../contract/vocabulary.ts';
import { keyHash } from '../../database/key-hash.ts';
import { entryCount } from '../../database/rows.ts';
import { at as inAsset } from '../../inventory/store/asset-row.ts';
import type { InventoryTables } from '../../inventory/store/tables.ts';
import { type LimitName, limits } from '../../limits.ts';
import type { IsHome } from '../../net/home-networks.ts';
import { addressBytes } from '../../net/ip.ts';
import type { TriageState } from '../triage/local/describe.ts';
import { type Case, valuesOf } from '../triage/local/features.ts';
import { changedMaterially } from '../triage/local/figures.ts';
import { type Lesson, localModel, Model, modelVersion } from '../triage/local/model.ts';
import {
  counted,
  lessons,
  noOutcomes,
  noVerdicts,
  outcomeOf,
  type Tally,
  teaches,
  type ValidationOutcome,
  withOutcome,
} from '../triage/local/tally.ts';
import { verdictOf } from '../triage/local/verdict.ts';
import type { AlertRow, AlertTables } from './tables.ts';

/**
 * Keys of tallies: the hash of a rule, or of a rule with a source or target address. Rows of earlier versions
 * that count an address for all rules are no longer read, and are the first to be removed when there are too
 * many tallies.
 */
export type TallyKey = [of: 'rule' | 'source' | 'target', what: string];
/**
 * Number of verdicts that confirm a problem, number of harmless verdicts, number of false positives among the
 * harmless verdicts, and time of the last verdict in epoch milliseconds.
 */
export type TallyRow = readonly [wrong: number, harmless: number, mistaken: number, at: number];

/** The training step for an alert's verdict, stored with the alert so that the step can be undone. */
export interface TaughtRow {
  readonly lesson: Lesson;
  readonly outcome: ValidationOutcome;
}

const untaught: TriageState = {
  version: modelVersion,
  verdicts: 0,
  learned: [],
  outcomes: noOutcomes,
  updatedAt: 0,
};

/**
 * When there are too many tallies, a sixteenth of them is removed: the tallies with the oldest verdicts.
 */
const forgottenShare = 16;

type Row = Pick<AlertRow, 'alert' | 'folded'>;

/**
 * Triages alerts as they are saved, with the model of `src/alerts/triage/local`. Sets a verdict with its reasons
 * on each new alert, and again when an input of the model changes. Learns from the verdicts of analysts. An
 * unchanged alert keeps its verdict, even if the model learns later.
 *
 * All methods are called within transactions, and `reload` must be called after an aborted transaction. Triage
 * takes 7 µs, or 14 µs with 40,000 tallies; learning takes 60 µs, and a change that is irrelevant to triage
 * takes 0.1 µs.
 */
export class Triage {
  /**
   * State of the model. Only this class changes the state, which is read again after an aborted transaction.
   */
  #state: TriageState = untaught;
  #model = new Model();
  /** Whether there are tallies. Before the first verdict, lookups are unnecessary. */
  #anyTallies = false;
  /** Number of tallies removed since the start. */
  #forgotten = 0;
  readonly #tables: AlertTables & InventoryTables;
  readonly #isHome: IsHome;
  readonly #maxTallies: number;

  constructor(tables: AlertTables & InventoryTables, isHome: IsHome, maxTallies: number = limits.maxTriageTallies) {
    this.#tables = tables;
    this.#maxTallies = maxTallies;
    this.#isHome = isHome;
    this.reload();
  }

  reload(): void {
    const kept = this.#tables.triageState.get('model');
    this.#state = kept ?? untaught;
    this.#model = new Model(kept?.version === modelVersion ? kept.learned : []);
    this.#anyTallies = entryCount(this.#tables.triageTallies) > 0;
  }

  limitsReached(): Partial<Record<LimitName, number>> {
    return this.#forgotten > 0 ? { maxTriageTallies: this.#forgotten } : {};
  }

  /**
   * Returns the verdict of an alert that is new or changed in a relevant way. Returns an empty object for other
   * alerts, which keep their verdicts.
   */
  verdictFor(before: Row | undefined, after: Row, nowMs: number): Pick<Alert, 'ai_verdict'> {
    const known = after.alert.ai_verdict !== undefined && before !== undefined;
    if (known && !changedMaterially(before.alert, after.alert)) return {};
    const about = this.#caseOf(after);
    const verdict = verdictOf(this.#model.score(valuesOf(about)), about);
    const model = `${localModel} (${this.#state.verdicts} verdicts learned)`;
    return { ai_verdict: { ...verdict, model, at: new Date(nowMs).toISOString() } };
  }

  /**
   * Learns from the alert's verdict if the verdict changed, after undoing the training step of the previous verdict.
   */
  taughtBy(before: AlertRow | undefined, after: Row, nowMs: number): Pick<AlertRow, 'taught'> {
    const verdict = after.alert.verdict;
    const former = before?.taught;
    if (verdict === before?.alert.verdict) return former === undefined ? {} : { taught: former };
    if (former !== undefined) this.#takeBack(former, after.alert, nowMs);
    const taught = teaches(verdict) ? this.#teach(after, verdict) : undefined;
    if (taught !== undefined) this.#count(after.alert, taught, 1, nowMs);
    if (taught === undefined && former === undefined) return {};
    this.#state = {
      ...this.#state,
      version: modelVersion,
      learned: this.#model.learned(),
      updatedAt: nowMs,
    };
    this.#tables.triageState.putSync('model', this.#state);
    return taught === undefined ? {} : { taught };
  }

  /** Compares the verdict with the model's prediction before learning from it. */
  #teach(row: Row, verdict: Lesson['verdict']): TaughtRow {
    const about = this.#caseOf(row);
    const values = valuesOf(about);
    const said = verdictOf(this.#model.score(values), about).verdict;
    return { lesson: this.#model.learn(values, verdict), outcome: outcomeOf(said, verdict) };
  }

  #takeBack(taught: TaughtRow, alert: Alert, nowMs: number): void {
    this.#model.unlearn(taught.lesson);
    this.#count(alert, taught, -1, nowMs);
  }

  #count(alert: Alert, { lesson, outcome }: TaughtRow, sign: 1 | -1, nowMs: number): void {
    const { verdicts, outcomes } = this.#state;
    this.#state = {
      ...this.#state,
      verdicts: Math.max(0, verdicts + sign),
      outcomes: withOutcome(outcomes, outcome, sign),
    };
    for (const key of keysOf(alert)) {
      const known = this.#tables.triageTallies.get(key);
      const { wrong, harmless, mistaken } = counted(tallyOf(known), lesson.verdict, sign);
      if (known === undefined && sign > 0) this.#makeRoom();
      if (wrong + harmless > 0) this.#tables.triageTallies.putSync(key, [wrong, harmless, mistaken, nowMs]);
      else if (known !== undefined) this.#tables.triageTallies.removeSync(key);
    }
    this.#anyTallies = true;
  }

  #makeRoom(): void {
    const { triageTallies } = this.#tables;
    if (entryCount(triageTallies) < this.#maxTallies) return;
    const all = Array.from(triageTallies.getRange(), ({ key, value }) => ({ key, at: value[3] }));
    all.sort((a, b) => a.at - b.at);
    const oldest = all.slice(0, Math.ceil(all.length / forgottenShare));
    for (const { key } of oldest) triageTallies.removeSync(key);
    this.#forgotten += oldest.length;
  }

  #caseOf({ alert, folded }: Row): Case {
    const [rule, source, target] = this.#anyTallies ? this.#talliesOf(alert) : [];
    return {
      alert,
      srcHome: this.#isAtHome(alert.src_ip),
      dstHome: this.#isAtHome(alert.dst_ip),
      flood: folded !== undefined,
      criticality: this.#criticalityOf(alert),
      previous: this.#foundBefore(alert),
      rule: rule ?? noVerdicts,
      source: source ?? noVerdicts,
      target: target ?? noVerdicts,
    };
  }

  #talliesOf(alert: Alert): (Tally | undefined)[] {
    const found: Partial<Record<TallyKey[0], Tally>> = {};
    for (const key of keysOf(alert)) found[key[0]] = tallyOf(this.#tables.triageTallies.get(key));
    return [found.rule, found.source, found.target];
  }

  #isAtHome(ip: string | undefined): boolean | undefined {
    const bytes = ip === undefined ? undefined : addressBytes(ip);
    return bytes && this.#isHome(bytes);
  }

  /** Returns the highest stored criticality of the assets that currently have the alert's addresses. */
  #criticalityOf({ src_ip, dst_ip }: Alert): Case['criticality'] {
    const { assets, assetAddresses } = this.#tables;
    let highest = -1;
    for (const ip of [src_ip, dst_ip]) {
      const binding = ip === undefined ? undefined : assetAddresses.get(ip);
      const asset = binding === undefined || binding[3] !== 0 ? undefined : assets.get(binding[0]);
      if (asset !== undefined) highest = Math.max(highest, criticalities.indexOf(asset[inAsset.criticality]));
    }
    return criticalities[highest];
  }

  #foundBefore({ previous_alert_id: id }: Alert): number | undefined {
    const verdict = id === undefined ? undefined : this.#tables.alerts.get(id)?.alert.verdict;
    return teaches(verdict) ? lessons[verdict].wrong : undefined;
  }
}

function keysOf({ rule_source, rule_id, src_ip, dst_ip }: Alert): TallyKey[] {
  const rule = ['rule', rule_source, rule_id] as const;
  const keys: TallyKey[] = [['rule', keyHash(...rule)]];
  if (src_ip !== undefined) keys.push(['source', keyHash(...rule, src_ip)]);
  if (dst_ip !== undefined) keys.push(['target', keyHash(...rule, dst_ip)]);
  return keys;
}

function tallyOf(row: TallyRow | undefined): Tally {
  if (row === undefined) return noVerdicts;
  const [wrong, harmless, mistaken] = row;
  return { wrong, harmless, mistaken };
}
