import type { Table } from '../../events/records.ts';
import type { HostSeen, ServiceSeen } from './seen.ts';
import type { Sighting } from './sighting.ts';

/** Evidence of hosts and services in the stored events [from, to) of one table. */
export interface Pass {
  readonly table: Table;
  readonly from: number;
  readonly to: number;
  /** Hosts in the order in which they were first seen. */
  readonly hosts: readonly HostSeen[];
  readonly services: readonly ServiceSeen[];
  /** MAC addresses that forward for other hosts. */
  readonly gateways: readonly string[];
  /** Names of hosts in DNS events. */
  readonly names: readonly Sighting[];
}
