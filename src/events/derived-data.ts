import type { Sighting } from '../inventory/model/sighting.ts';
import type { IngestBatch } from '../store/store.ts';
import type { CorrelationFact } from './correlation-fact.ts';
import type { Finding } from './finding.ts';
import { packValues, unpackValues } from './packed-values.ts';

/** Data that ingest derives from the records of a batch, for the store only. */
export interface DerivedData {
  /** Findings of sensors (at most one per record) and of rules (at most `limits.maxBodyFindings`). */
  readonly findings: readonly Finding[];
  /** Matches of rules, as input for correlations: at most `limits.maxBodyFacts`. */
  readonly facts: readonly CorrelationFact[];
  /** Facts about hosts from records that are not events: at most `limits.maxBodySightings`. */
  readonly sightings: readonly Sighting[];
  /** Hosts in records that are not events: at most `limits.maxBodySightings`. */
  readonly namedHosts: readonly NamedHost[];
}

/**
 * Packs the derived data of a batch into a buffer that can be moved to the store. Packs nothing if all lists are empty.
 */
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

/**
 * A host that a client named in a record that is not stored as an event: the server name of a TLS handshake, or
 * the host of an HTTP request. The host is compared with intelligence lists when the batch of the record is
 * committed. Plain data.
 */
export interface NamedHost {
  readonly part: 'server_name' | 'http_host';
  /** A name or an address, as the client wrote it. */
  readonly value: string;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  readonly src_ip: string;
  readonly dst_ip: string;
  readonly dst_port?: number;
  readonly transport: string;
  readonly direction: 'inbound' | 'outbound' | 'internal' | 'external';
  readonly answered: boolean;
  /** The principal that sent the record. */
  readonly sensor?: string;
}
