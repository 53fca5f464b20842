import type { CorrelationDocument, Problem, RuleDocument } from '../document.ts';
import { shortHash } from './correlation-input.ts';
import { type CorrelationLimits, correlationLimits } from './correlation-limits.ts';
import type { Feed, LinkedCorrelation, LinkedCorrelations, OuterFeed, Source } from './linked.ts';
import { keyOf, type Named, References } from './references.ts';
import { type Resolved, resolveCorrelations } from './resolve-correlations.ts';

/**
 * Binds correlations to the rules and correlations that they name, by id or name.
 *
 * - Without `generate`, the rules of a correlation raise no alerts themselves, unless another correlation that
 *   names them has `generate`. A refused correlation does not silence its rules, so broken rules do not stop
 *   other rules.
 * - If an alias has no field for a rule, the field with the name of the alias is used.
 * - A correlation may group by fields that an inner correlation does not group by (as in the specification's
 *   own example). These fields are read from the last input of the inner correlation.
 *
 * @param unavailable - rules that were refused or are disabled, and correlations that cannot run, each with the reason;
 *   correlations that name them are refused with this reason
 */
export function linkCorrelations(
  rules: readonly RuleDocument[],
  correlations: readonly CorrelationDocument[],
  unavailable: ReadonlyMap<Named, Problem> = new Map(),
  limits: CorrelationLimits = correlationLimits,
): LinkedCorrelations {
  const references = new References([...rules, ...correlations]);
  const { ordered, refused } = resolveCorrelations(correlations, references, unavailable, limits);
  const carried = carriedFields(ordered);
  const silent = silenced(ordered);
  const outer = outerFeeds(ordered, carried);
  return {
    correlations: ordered.map((one) => link(one, carried.get(one.document)!, outer.get(one.document) ?? [], silent)),
    refused: [...refused].map(([document, problems]) => ({ document, problems })),
    silent,
    feeds: ruleFeeds(ordered, carried),
  };
}

/** Returns the field of a rule to which a name in the correlation refers. */
function fieldOf({ aliases }: Resolved, name: string, rule: Named): string {
  return aliases.get(name)?.get(rule) ?? name;
}

type Carried = ReadonlyMap<CorrelationDocument, readonly string[]>;

/**
 * Returns the fields that each correlation carries for its outer correlations. The outermost correlations are evaluated
 * first.
 */
function carriedFields(ordered: readonly Resolved[]): Carried {
  const carried = new Map<CorrelationDocument, Set<string>>(ordered.map(({ document }) => [document, new Set()]));
  for (const outer of ordered.toReversed()) {
    const { groupBy, valueFields } = outer.document;
    const wanted = [...groupBy, ...valueFields, ...carried.get(outer.document)!];
    for (const inner of outer.rules) {
      if (inner.kind !== 'correlation') continue;
      for (const name of wanted) {
        const field = fieldOf(outer, name, inner);
        if (!inner.groupBy.includes(field)) carried.get(inner)!.add(field);
      }
    }
  }
  return new Map([...carried].map(([document, fields]) => [document, [...fields]]));
}

function silenced(ordered: readonly Resolved[]): ReadonlySet<Named> {
  const named = (generate: boolean) =>
    new Set(ordered.filter(({ document }) => document.generate === generate).flatMap(({ rules }) => rules));
  const loud = named(true);
  return new Set([...named(false)].filter((one) => !loud.has(one)));
}

function outerFeeds(ordered: readonly Resolved[], carried: Carried): Map<CorrelationDocument, OuterFeed[]> {
  const feeds = new Map<CorrelationDocument, OuterFeed[]>();
  for (const outer of ordered) {
    const { document } = outer;
    for (const inner of outer.rules) {
      if (inner.kind !== 'correlation') continue;
      const source = (name: string) => sourceOf(fieldOf(outer, name, inner), inner, carried);
      const feed = {
        correlation: keyOf(document),
        group: document.groupBy.map(source),
        value: document.valueFields.map(source),
        carried: carried.get(document)!.map(source),
        whileMet: document.type === 'temporal' || document.type === 'temporal_ordered',
      };
      feeds.set(inner, [...(feeds.get(inner) ?? []), feed]);
    }
  }
  return feeds;
}

function sourceOf(field: string, inner: CorrelationDocument, carried: Carried): Source {
  const index = inner.groupBy.indexOf(field);
  if (index >= 0) return { from: 'group', index };
  return { from: 'carried', index: carried.get(inner)!.indexOf(field) };
}

function ruleFeeds(ordered: readonly Resolved[], carried: Carried): Map<Named, Feed[]> {
  const feeds = new Map<Named, Feed[]>();
  for (const correlation of ordered) {
    const { document, rules } = correlation;
    for (const rule of rules) {
      if (rule.kind !== 'rule') continue;
      const field = (name: string) => fieldOf(correlation, name, rule);
      const feed = {
        correlation: keyOf(document),
        rule: keyOf(rule),
        group: document.groupBy.map(field),
        value: document.valueFields.map(field),
        carried: carried.get(document)!.map(field),
      };
      feeds.set(rule, [...(feeds.get(rule) ?? []), feed]);
    }
  }
  return feeds;
}

function link(
  { document, rules, alternatives }: Resolved,
  carried: readonly string[],
  outer: readonly OuterFeed[],
  silent: ReadonlySet<Named>,
): LinkedCorrelation {
  const keys = rules.map(keyOf);
  const { type, groupBy, timespanMs, threshold, valueFields, percentile, aliases } = document;
  const fields = [...aliases].map(([alias, byRule]) => [alias, ...byRule]);
  const counted = {
    type,
    keys,
    groupBy,
    timespanMs,
    threshold,
    valueFields,
    percentile,
    alternatives,
    fields,
    carried,
  };
  return {
    key: keyOf(document),
    document,
    rules: keys,
    alternatives,
    carried,
    outer,
    raises: !silent.has(document),
    hash: shortHash(JSON.stringify(counted)),
  };
}
