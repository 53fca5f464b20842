import { omitUndefined } from '../../database/omit-undefined.ts';
import type { InventoryEngine } from '../../projections/inventory-engine.ts';
import type { ScannedHost, ScanRecorded } from '../../store/store.ts';
import type { Assets } from './assets.ts';
import { rangeOf } from './known-service.ts';
import type { Scanned } from './services.ts';
import type { InventoryTables } from './tables.ts';

/**
 * Records scan results in the inventory, within a write transaction. Hosts are recorded first, so that services
 * have an asset. Hosts and services above the limits of the inventory are dropped and counted.
 */
export function recordScan(
  inventory: InventoryEngine<Assets>,
  tables: InventoryTables,
  scanId: string,
  hosts: readonly ScannedHost[],
): ScanRecorded {
  const { assets, services } = inventory;
  // Writes pending services first, because the known ports of an asset are read from the table.
  services.write();
  const created = new Set<string>();
  const updated = new Set<string>();
  const found: Scanned[] = [];
  for (const host of hosts) {
    const asset = assets.scanned({ ...host, certificate_names: certificateNames(host) }, scanId);
    if (asset === undefined) continue;
    (asset.created ? created : updated).add(asset.asset_id);
    for (const { port, transport, name, product, version } of host.services) {
      found.push({
        ...{ ip: host.ip, port, transport, state: 'open', at: host.at },
        ...omitUndefined({ name, product, version }),
      });
    }
    for (const port of refusedServices(tables, asset.asset_id, host))
      found.push({ ip: host.ip, port, transport: 'tcp', state: 'closed', at: host.at });
  }
  inventory.scanned(found);
  return {
    assets_created: created.size,
    assets_updated: [...updated].filter((id) => !created.has(id)).length,
    services_found: found.filter(({ state }) => state === 'open').length,
  };
}

/** Returns the refused ports that belong to known services. Most refused ports do not, and are not recorded. */
function refusedServices({ serviceKeys }: InventoryTables, assetId: string, { ip, closed }: ScannedHost): number[] {
  if (closed.length === 0) return [];
  const refused = new Set(closed);
  const ports: number[] = [];
  for (const [, transport, port, address] of serviceKeys.getKeys(rangeOf(assetId)))
    if (transport === 'tcp' && address === ip && refused.has(port)) ports.push(port);
  return ports;
}

function certificateNames({ services }: ScannedHost): string[] {
  return [...new Set(services.flatMap(({ certificate_names = [] }) => certificate_names))];
}
