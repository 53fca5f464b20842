import type { Sighting } from '../inventory/model/sighting.ts';
import type { IngestBatch } from '../store/store.ts';
import type { CorrelationFact } from './correlation-fact.ts';
import type { Finding } from './finding.ts';
import type { NamedHost } from './named-host.ts';
import { packValues, unpackValues } from './packed-values.ts';

/** Data that ingest derives from the records of a batch, and only the store reads. */
export interface DerivedData {
  /** Findings of sensors (at most one a record) and of rules (at most `limits.maxBodyFindings`). */
  readonly findings: readonly Finding[];
  /** Matches of rules, as input for correlations: at most `limits.maxBodyFacts`. */
  readonly facts: readonly CorrelationFact[];
  /** Facts about hosts from records that are not events: at most `limits.maxBodySightings`. */
  readonly sightings: readonly Sighting[];
  /** Hosts in records that are not events: at most `limits.maxBodySightings`. */
  readonly namedHosts: readonly NamedHost[];
}

/** Packs the derived data of a batch, so that it is moved to the store; packs nothing if all lists are empty. */
export function packDerived(data: Partial<DerivedData>): Pick<IngestBatch, 'derived'> {
  const { findings = [], facts = [], sightings = [], namedHosts = [] } = data;
  if (findings.length + facts.length + sightings.length + namedHosts.length === 0) return {};
  return { derived: packValues({ findings, facts, sightings, namedHosts } satisfies DerivedData) };
}

/** Returns the derived data of a batch. */
export function unpackDerived({ derived }: Pick<IngestBatch, 'derived'>): DerivedData {
  if (derived === undefined) return { findings: [], facts: [], sightings: [], namedHosts: [] };
  return unpackValues(derived) as DerivedData;
}
